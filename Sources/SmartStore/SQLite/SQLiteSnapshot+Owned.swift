import Database

extension SQLiteSnapshot {
  func cleanEntries(
    in name: String, where path: String, equals value: SQLValue, idPath: String, among candidates: [Int64]?
  ) throws -> [OwnedEntry] {
    let soup = try self.soup(name), id = soup.expression(idPath)
    let statement = try connection.statement(
      """
      SELECT id, \(id) FROM \(soup.table) WHERE \(candidates == nil ? "" : "id = ?2 AND ")\(soup.expression(path)) = ?1
      AND (\(soup.dirtyCondition)) IS NOT 1 AND typeof(\(id)) IN ('text', 'integer') ORDER BY id
      """)
    defer { statement.reset() }
    statement.bind(1, value)
    var found: [OwnedEntry] = []
    func read() throws {
      while try statement.step() { found.append(OwnedEntry(entryId: statement.int64(0), recordId: statement.string(1))) }
    }
    guard let candidates else {
      try read()
      return found
    }
    for candidate in candidates {
      statement.reset()
      statement.bind(2, candidate)
      try read()
    }
    return found
  }

  func otherOwners(of id: Int64, than owner: Int64, in name: String) throws -> [Int64] {
    let soup = try self.soup(name)
    return try ids(
      """
      SELECT owner FROM \(soup.table) WHERE id = ?1 AND owner IS NOT NULL AND owner <> ?3
      UNION SELECT owner FROM soup_members WHERE soup = ?2 AND entry = ?1 AND owner <> ?3 ORDER BY 1
      """, [.integer(id), .integer(soup.number), .integer(owner)])
  }
}
