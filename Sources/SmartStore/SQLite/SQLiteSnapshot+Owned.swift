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

  func recordRows(
    _ selection: RecordRow.Selection, in name: String, idPath: String, stampPath: String
  ) throws -> [RecordRow] {
    let soup = try self.soup(name)
    let columns = [idPath, stampPath, SoupField.syncId].map(soup.expression).joined(separator: ", ")
    let selected = "SELECT id, version, \(columns), (\(soup.dirtyCondition)) IS 1 FROM \(soup.table)"
    var found: [RecordRow] = []
    func read(_ statement: Statement) throws {
      while try statement.step() {
        func text(_ column: Int32) -> String? { statement.isNull(column) ? nil : statement.string(column) }
        found.append(
          RecordRow(
            entryId: statement.int64(0), version: statement.int64(1), recordId: text(2), stamp: text(3),
            owner: statement.isNull(4) ? nil : statement.int64(4), isDirty: statement.int64(5) == 1))
      }
    }
    switch selection {
    case .after(let last, let limit):
      let statement = try connection.statement(selected + " WHERE id > ?1 ORDER BY id LIMIT ?2")
      defer { statement.reset() }
      statement.bind(1, last)
      statement.bind(2, Int64(limit))
      try read(statement)
    case .entries(let ids):
      let statement = try connection.statement(selected + " WHERE id = ?1")
      defer { statement.reset() }
      for id in ids {
        statement.reset()
        statement.bind(1, id)
        try read(statement)
      }
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
