import Database

extension StoreTransaction {
  /// Notes that a sync down added entries while creates of the soup were without an answer: each may be what one of them made.
  package func noteArrivals(_ entryIds: some Sequence<Int64>, in soup: String) throws {
    let number = try self.soup(soup).number
    for id in entryIds {
      try connection.run(
        "INSERT OR IGNORE INTO outbox_arrivals (soup, entry) VALUES (?, ?)", [.integer(number), .integer(id)])
    }
  }

  /// Forgets the arrivals of a soup that has no create without an answer.
  package func forgetArrivals(in soup: String) throws {
    try connection.run(
      """
      DELETE FROM outbox_arrivals WHERE soup = ?1
      AND NOT EXISTS (SELECT 1 FROM outbox WHERE soup = ?1 AND operation = 'create')
      """, [.integer(try self.soup(soup).number)])
  }
}

extension StoreSnapshot {
  /// Entries that a sync down added while creates of their soup were without an answer.
  package func arrivals(in soup: String) throws -> Set<Int64> {
    Set(try ids("SELECT entry FROM outbox_arrivals WHERE soup = ?", [.integer(try self.soup(soup).number)]))
  }
}
