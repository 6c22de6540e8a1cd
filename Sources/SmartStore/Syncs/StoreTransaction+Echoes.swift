import Database

extension StoreSnapshot {
  /// Entries that were uploaded and not touched since, by their external id: what the server sends of them next may be no more
  /// than what it was sent.
  package func echoes(in name: String, idPath: String) throws -> [String: Int64] {
    let soup = try self.soup(name)
    let statement = try connection.statement(
      """
      SELECT \(soup.expression(idPath)), id FROM \(soup.table)
      WHERE (id, version) IN (SELECT entry, version FROM outbox WHERE soup = ? AND operation = 'echo')
      """)
    statement.bind(1, soup.number)
    defer { statement.reset() }
    var echoes: [String: Int64] = [:]
    while try statement.step() { echoes[statement.string(0)] = statement.int64(1) }
    return echoes
  }
}

extension StoreTransaction {
  /// Notes that the server has these entries as they stand here now. Entries with local changes are passed over.
  package func expectEchoes(_ entryIds: some Sequence<Int64>, in name: String) throws {
    let soup = try self.soup(name)
    for id in entryIds {
      try connection.run(
        """
        INSERT OR REPLACE INTO outbox (soup, entry, version, sync, operation, sentAt)
        SELECT ?, id, version, 0, 'echo', lastModified FROM \(soup.table) WHERE id = ? AND (\(soup.dirtyCondition)) IS NOT 1
        """, [.integer(soup.number), .integer(id)])
    }
  }

  /// Forgets the notes about entries that were written since.
  package func forgetStaleEchoes(in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      DELETE FROM outbox WHERE soup = ? AND operation = 'echo'
      AND NOT EXISTS (SELECT 1 FROM \(soup.table) AS t WHERE t.id = outbox.entry AND t.version = outbox.version)
      """, [.integer(soup.number)])
  }
}
