import Database

/// Echoes: entries as an upload left them. A page that was requested before the upload may show the
/// record in its old state.
extension SQLiteSnapshot {
  func echoes(in name: String, idPath: String) throws -> IdMap<Int64> {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT \(soup.expression(idPath)), id FROM \(soup.table)
      WHERE (id, version) IN (SELECT entry, version FROM uploaded WHERE soup = ?)
      """, [.integer(soup.number)])
  }

  func uploadSequence() throws -> Int64 {
    let found = try connection.firstValue("SELECT value FROM counters WHERE name = ?", [.text(Self.uploadCounter)])
    if case .integer(let mark)? = found { return mark } else { return 0 }
  }

  static let uploadCounter = "uploads"

  func uploads(in name: String, idPath: String, since mark: Int64) throws -> IdMap<Int64> {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT coalesce((SELECT \(soup.expression(idPath)) FROM \(soup.table) WHERE id = uploaded.entry), deletedId), entry
      FROM uploaded WHERE soup = ? AND sequence > ?
      """, [.integer(soup.number), .integer(mark)])
  }

  func uploaded(of entryIds: [Int64], in name: String) throws -> [Int64: UploadedRecord] {
    let number = try self.soup(name).number
    let statement = try connection.statement("SELECT stamp, sent FROM uploaded WHERE soup = ? AND entry = ?")
    defer { statement.reset() }
    var found: [Int64: UploadedRecord] = [:]
    for id in entryIds {
      statement.bind(1, number)
      statement.bind(2, id)
      if try statement.step() {
        found[id] = UploadedRecord(
          stamp: statement.isNull(0) ? nil : statement.int64(0), sent: statement.isNull(1) ? nil : Array(statement.bytes(1)))
      }
      statement.reset()
    }
    return found
  }

  private func idsByText(_ sql: String, _ values: [SQLValue]) throws -> IdMap<Int64> {
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var ids: IdMap<Int64> = [:]
    while try statement.step() { ids[statement.string(0)] = statement.int64(1) }
    return ids
  }
}

extension SQLiteTransaction {
  func expectEchoes(_ entryIds: [Int64], in name: String) throws {
    guard !entryIds.isEmpty else { return }
    let soup = try self.soup(name), mark = try advanceUploadSequence()
    let insert = try connection.statement(
      """
      INSERT OR REPLACE INTO uploaded (soup, entry, version, sequence, sent)
      SELECT ?1, id, CASE WHEN (\(soup.dirtyCondition)) IS 1 THEN 0 ELSE version END, ?3,
      (SELECT sent FROM uploads WHERE soup = ?1 AND entry = ?2) FROM \(soup.table) WHERE id = ?2
      """)
    for id in entryIds {
      insert.bind(1, soup.number)
      insert.bind(2, id)
      insert.bind(3, mark)
      try insert.run()
    }
  }

  func noteOwnStamp(_ stamp: Int64, of id: Int64, in name: String) throws {
    try connection.run(
      "UPDATE uploaded SET stamp = ? WHERE soup = ? AND entry = ?",
      [.integer(stamp), .integer(try self.soup(name).number), .integer(id)])
  }

  func removeUploaded(_ id: Int64, externalId: String?, from name: String) throws {
    let soup = try self.soup(name)
    let isShared = try connection.firstValue(
      """
      SELECT owner IS NOT NULL OR EXISTS (SELECT 1 FROM soup_creators WHERE soup = ?2 AND entry = ?1)
      FROM \(soup.table) WHERE id = ?1
      """, [.integer(id), .integer(soup.number)])
    try remove(CollectionOfOne(id), from: name)
    guard let externalId, isShared == .integer(1) else { return }
    try connection.run(
      "INSERT OR IGNORE INTO uploaded (soup, entry, version, sequence, deletedId) VALUES (?, ?, 0, ?, ?)",
      [.integer(soup.number), .integer(id), .integer(try advanceUploadSequence()), .text(externalId)])
  }

  private func advanceUploadSequence() throws -> Int64 {
    try connection.run(
      "INSERT INTO counters (name, value) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1",
      [.text(SQLiteSnapshot.uploadCounter)])
    return try uploadSequence()
  }

  func forgetStaleEchoes(in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      DELETE FROM uploaded WHERE soup = ? AND NOT EXISTS (
        SELECT 1 FROM \(soup.table) WHERE id = uploaded.entry
        AND (version = uploaded.version OR (stamp IS NOT NULL OR sent IS NOT NULL) AND (\(soup.dirtyCondition)) IS 1))
      """, [.integer(soup.number)])
  }
}
