import Database

/// Echoes: entries as an upload left them. A page that was requested before the upload may show the
/// record in its old state.
extension SQLiteSnapshot {
  func echoes(in name: String, idPath: String) throws -> IdMap<Int64> {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT \(soup.expression(idPath)), id FROM \(soup.table)
      WHERE (id, version) IN (SELECT entry, version FROM outbox WHERE soup = ? AND operation = 'echo')
      """, [.integer(soup.number)])
  }

  func uploadSequence() throws -> Int64 {
    let found = try connection.firstValue("SELECT fence FROM leases WHERE name = ?", [.text(Self.uploadSequenceName)])
    if case .integer(let mark)? = found { return mark } else { return 0 }
  }

  /// The counter is stored in the lease table, as the fence of a lease that is never acquired.
  static let uploadSequenceName = "uploads written back"

  func uploads(in name: String, idPath: String, since mark: Int64) throws -> IdMap<Int64> {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT coalesce((SELECT \(soup.expression(idPath)) FROM \(soup.table) WHERE id = outbox.entry), sent), entry
      FROM outbox WHERE soup = ? AND operation = 'echo' AND fence > ?
      """, [.integer(soup.number), .integer(mark)])
  }

  func ownStamps(of entryIds: [Int64], in name: String) throws -> [Int64: Int64] {
    let number = try self.soup(name).number
    let statement = try connection.statement(
      "SELECT resendAt FROM outbox WHERE soup = ? AND entry = ? AND operation = 'echo' AND resendAt IS NOT NULL")
    defer { statement.reset() }
    var stamps: [Int64: Int64] = [:]
    for id in entryIds {
      statement.bind(1, number)
      statement.bind(2, id)
      if try statement.step() { stamps[id] = statement.int64(0) }
      statement.reset()
    }
    return stamps
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
    for id in entryIds {
      try connection.run(
        """
        INSERT INTO outbox (soup, entry, version, sync, fence, operation, sentAt)
        SELECT ?1, id, CASE WHEN (\(soup.dirtyCondition)) IS 1 THEN 0 ELSE version END, 0, ?3, 'echo', lastModified
        FROM \(soup.table) WHERE id = ?2
        ON CONFLICT (soup, entry) DO UPDATE SET version = excluded.version, sync = excluded.sync, fence = excluded.fence,
        sentAt = excluded.sentAt, resendAt = NULL, sent = NULL WHERE outbox.operation = 'echo'
        """, [.integer(soup.number), .integer(id), .integer(mark)])
    }
  }

  func noteOwnStamp(_ stamp: Int64, of id: Int64, in name: String) throws {
    try connection.run(
      "UPDATE outbox SET resendAt = ? WHERE soup = ? AND entry = ? AND operation = 'echo'",
      [.integer(stamp), .integer(try self.soup(name).number), .integer(id)])
  }

  func removeUploaded(_ id: Int64, externalId: String?, from name: String) throws {
    let soup = try self.soup(name)
    let isShared = try connection.firstValue(
      """
      SELECT owner IS NOT NULL OR EXISTS (SELECT 1 FROM soup_members WHERE soup = ?2 AND entry = ?1 AND owner < 0)
      FROM \(soup.table) WHERE id = ?1
      """, [.integer(id), .integer(soup.number)])
    try remove(CollectionOfOne(id), from: name)
    guard let externalId, isShared == .integer(1) else { return }
    try connection.run(
      """
      INSERT OR IGNORE INTO outbox (soup, entry, version, sync, fence, operation, sentAt, sent)
      VALUES (?, ?, 0, 0, ?, 'echo', 0, ?)
      """, [.integer(soup.number), .integer(id), .integer(try advanceUploadSequence()), .text(externalId)])
  }

  private func advanceUploadSequence() throws -> Int64 {
    try connection.run(
      """
      INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, '', 1, 0)
      ON CONFLICT (name) DO UPDATE SET fence = fence + 1
      """, [.text(SQLiteSnapshot.uploadSequenceName)])
    return try uploadSequence()
  }

  func forgetStaleEchoes(in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      DELETE FROM outbox WHERE soup = ? AND operation = 'echo' AND NOT EXISTS (
        SELECT 1 FROM \(soup.table) WHERE id = outbox.entry
        AND (version = outbox.version OR outbox.resendAt IS NOT NULL AND (\(soup.dirtyCondition)) IS 1))
      """, [.integer(soup.number)])
  }
}
