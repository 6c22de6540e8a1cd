import Database

extension SQLiteSnapshot {
  private static let conflictColumns = "entry, sync, state, server, idField, dateField, detectedAt"

  private func conflicts(_ condition: String, _ values: [SQLValue]) throws -> [ConflictRecord] {
    let statement = try connection.statement(
      "SELECT \(Self.conflictColumns) FROM soup_conflicts WHERE \(condition) ORDER BY entry")
    try statement.bind(values)
    defer { statement.reset() }
    var found: [ConflictRecord] = []
    while try statement.step() {
      let server: ConflictRecord.Server =
        switch statement.string(2) {
        case "record": .record(Array(statement.bytes(3)))
        case "deleted": .deleted
        default: .unknown
        }
      found.append(
        ConflictRecord(
          entryId: statement.int64(0), syncId: statement.int64(1), server: server, idField: statement.string(4),
          dateField: statement.string(5), detectedAt: statement.int64(6)))
    }
    return found
  }

  func conflicts(in soup: String) throws -> [ConflictRecord] {
    try conflicts("soup = ?", [.integer(try self.soup(soup).number)])
  }

  func conflicts(of ids: [Int64], in soup: String) throws -> [ConflictRecord] {
    let number = try self.soup(soup).number
    return try ids.flatMap { try conflicts("soup = ? AND entry = ?", [.integer(number), .integer($0)]) }
  }

  func soupsInConflict() throws -> [String] {
    let statement = try connection.statement(
      "SELECT soupName FROM soup_attrs WHERE id IN (SELECT soup FROM soup_conflicts) ORDER BY soupName")
    defer { statement.reset() }
    var names: [String] = []
    while try statement.step() { names.append(statement.string(0)) }
    return names
  }
}

extension SQLiteTransaction {
  func noteConflict(_ conflict: ConflictRecord, in soup: String) throws {
    let state: String, server: SQLValue
    switch conflict.server {
    case .record(let text): (state, server) = ("record", .text(String(decoding: text, as: UTF8.self)))
    case .deleted: (state, server) = ("deleted", .null)
    case .unknown: (state, server) = ("unknown", .null)
    }
    try connection.run(
      """
      INSERT OR REPLACE INTO soup_conflicts (soup, entry, sync, state, server, idField, dateField, detectedAt)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?)
      """,
      [
        .integer(try self.soup(soup).number), .integer(conflict.entryId), .integer(conflict.syncId), .text(state), server,
        .text(conflict.idField), .text(conflict.dateField), .integer(conflict.detectedAt),
      ])
  }

  func forgetConflict(of id: Int64, in soup: String) throws {
    try connection.run(
      "DELETE FROM soup_conflicts WHERE soup = ? AND entry = ?", [.integer(try self.soup(soup).number), .integer(id)])
  }

  func setBase(of id: Int64, in soup: String, to text: [UInt8]) throws {
    try connection.run(
      "INSERT OR REPLACE INTO soup_bases (soup, entry, base) VALUES (?, ?, ?)",
      [.integer(try self.soup(soup).number), .integer(id), .text(String(decoding: text, as: UTF8.self))])
  }

  func forgetBase(of id: Int64, in soup: String) throws {
    try connection.run(
      "DELETE FROM soup_bases WHERE soup = ? AND entry = ?", [.integer(try self.soup(soup).number), .integer(id)])
  }

  func join(_ id: Int64, in name: String, owner: Int64) throws {
    let soup = try self.soup(name)
    try connection.run("UPDATE \(soup.table) SET owner = ? WHERE id = ? AND owner IS NULL", [.integer(owner), .integer(id)])
    let found = try connection.firstValue("SELECT owner FROM \(soup.table) WHERE id = ?", [.integer(id)])
    if found != .integer(owner) { try writer(name).join(id, owner) }
  }

  func absorb(_ other: Int64, into id: Int64, in name: String) throws {
    let soup = try self.soup(name)
    let owners = try ids(
      """
      SELECT owner FROM \(soup.table) WHERE id = ?1 AND owner IS NOT NULL
      UNION SELECT owner FROM soup_members WHERE soup = ?2 AND entry = ?1
      """, [.integer(other), .integer(soup.number)])
    for owner in owners { try join(id, in: name, owner: owner) }
    try remove(CollectionOfOne(other), from: name)
  }
}
