import Database

/// Entries as an upload left them, and which were uploaded since a time: pages that were asked for before may show their records as
/// they were without it.
extension StoreSnapshot {
  /// Entries that were uploaded and not touched since, by their external id: what the server sends of them next may be no more
  /// than what it was sent.
  package func echoes(in name: String, idPath: String) throws -> [String: Int64] {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT \(soup.expression(idPath)), id FROM \(soup.table)
      WHERE (id, version) IN (SELECT entry, version FROM outbox WHERE soup = ? AND operation = 'echo')
      """, [.integer(soup.number)])
  }

  /// Rises with every upload that is written back, in whatever soup and process.
  package func uploadMark() throws -> Int64 {
    let found = try connection.firstValue("SELECT fence FROM leases WHERE name = ?", [.text(Self.uploadMarkName)])
    if case .integer(let mark)? = found { return mark } else { return 0 }
  }

  /// The counter stands among the leases, as the fence of one that nobody takes.
  fileprivate static let uploadMarkName = "uploads written back"

  /// Entries whose uploads were written back after a mark, by their external id; also those that were edited since, and those
  /// whose deletion was uploaded.
  package func uploads(in name: String, idPath: String, since mark: Int64) throws -> [String: Int64] {
    let soup = try self.soup(name)
    return try idsByText(
      """
      SELECT coalesce((SELECT \(soup.expression(idPath)) FROM \(soup.table) WHERE id = outbox.entry), sent), entry
      FROM outbox WHERE soup = ? AND operation = 'echo' AND fence > ?
      """, [.integer(soup.number), .integer(mark)])
  }

  private func idsByText(_ sql: String, _ values: [SQLValue]) throws -> [String: Int64] {
    let statement = try connection.statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    var ids: [String: Int64] = [:]
    while try statement.step() { ids[statement.string(0)] = statement.int64(1) }
    return ids
  }
}

extension StoreTransaction {
  /// Notes that the server has these entries as they stand here now; of those with local changes only that they were uploaded.
  /// Call when their claims are settled: what another run is sending stays noted as such.
  package func expectEchoes(_ entryIds: [Int64], in name: String) throws {
    guard !entryIds.isEmpty else { return }
    let soup = try self.soup(name), mark = try raiseUploadMark()
    for id in entryIds {
      try connection.run(
        """
        INSERT INTO outbox (soup, entry, version, sync, fence, operation, sentAt)
        SELECT ?1, id, CASE WHEN (\(soup.dirtyCondition)) IS 1 THEN 0 ELSE version END, 0, ?3, 'echo', lastModified
        FROM \(soup.table) WHERE id = ?2
        ON CONFLICT (soup, entry) DO UPDATE SET version = excluded.version, sync = excluded.sync, fence = excluded.fence,
        sentAt = excluded.sentAt, sent = NULL WHERE outbox.operation = 'echo'
        """, [.integer(soup.number), .integer(id), .integer(mark)])
    }
  }

  /// Notes that a deletion was uploaded: a page that was asked for before may still bring the record.
  /// - Parameter externalId: What the removed entry was found by.
  package func noteDeletion(of id: Int64, externalId: String, in name: String) throws {
    try connection.run(
      """
      INSERT OR IGNORE INTO outbox (soup, entry, version, sync, fence, operation, sentAt, sent)
      VALUES (?, ?, 0, 0, ?, 'echo', 0, ?)
      """, [.integer(try self.soup(name).number), .integer(id), .integer(try raiseUploadMark()), .text(externalId)])
  }

  private func raiseUploadMark() throws -> Int64 {
    try connection.run(
      """
      INSERT INTO leases (name, owner, fence, expiresAt) VALUES (?, '', 1, 0)
      ON CONFLICT (name) DO UPDATE SET fence = fence + 1
      """, [.text(StoreSnapshot.uploadMarkName)])
    return try uploadMark()
  }

  /// Forgets the notes about entries that were written, or removed, since.
  package func forgetStaleEchoes(in name: String) throws {
    let soup = try self.soup(name)
    try connection.run(
      """
      DELETE FROM outbox WHERE soup = ? AND operation = 'echo'
      AND NOT EXISTS (SELECT 1 FROM \(soup.table) AS t WHERE t.id = outbox.entry AND t.version = outbox.version)
      """, [.integer(soup.number)])
  }
}
