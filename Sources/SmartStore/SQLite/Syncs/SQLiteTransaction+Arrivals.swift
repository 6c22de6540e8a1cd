import Database

extension SQLiteTransaction {
  func noteArrivals(_ entryIds: [Int64], in soup: String) throws {
    let number = try self.soup(soup).number
    for id in entryIds {
      try connection.run(
        "INSERT OR IGNORE INTO arrivals (soup, entry) VALUES (?, ?)", [.integer(number), .integer(id)])
    }
  }

  func forgetArrivals(in soup: String) throws {
    try connection.run(
      """
      DELETE FROM arrivals WHERE soup = ?1
      AND NOT EXISTS (SELECT 1 FROM uploads WHERE soup = ?1 AND \(SQLiteSnapshot.isUnknownCreate))
      """, [.integer(try self.soup(soup).number)])
  }
}

extension SQLiteSnapshot {
  func arrivals(in soup: String) throws -> Set<Int64> {
    Set(try ids("SELECT entry FROM arrivals WHERE soup = ?", [.integer(try self.soup(soup).number)]))
  }
}
