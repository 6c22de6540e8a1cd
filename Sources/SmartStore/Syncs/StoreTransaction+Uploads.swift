import Database

/// An upload that was sent, or is about to be: written down before, so that a lost answer or a dead process is noticed.
package struct UploadRecord: Sendable, Equatable {
  package var entryId: Int64
  /// The row's version when its text was taken for sending.
  package var version: Int64
  package var syncId: Int64
  /// `create`, `update`, `upsert` or `delete`.
  package var operation: String
  /// Ms since 1970 UTC.
  package var sentAt: Int64
  /// Whether the server has it could not be found out.
  package var inDoubt: Bool

  package init(entryId: Int64, version: Int64, syncId: Int64, operation: String, sentAt: Int64, inDoubt: Bool = false) {
    self.entryId = entryId
    self.version = version
    self.syncId = syncId
    self.operation = operation
    self.sentAt = sentAt
    self.inDoubt = inDoubt
  }
}

extension StoreSnapshot {
  /// Uploads whose outcome is not known, by entry id.
  package func unsettledUploads(in soup: String) throws -> [UploadRecord] {
    let statement = try connection.statement(
      """
      SELECT entry, version, sync, operation, sentAt, inDoubt FROM outbox
      WHERE soup = ? AND operation <> 'echo' ORDER BY entry
      """)
    statement.bind(1, try self.soup(soup).number)
    defer { statement.reset() }
    var uploads: [UploadRecord] = []
    while try statement.step() {
      uploads.append(
        UploadRecord(
          entryId: statement.int64(0), version: statement.int64(1), syncId: statement.int64(2),
          operation: statement.string(3), sentAt: statement.int64(4), inDoubt: statement.int64(5) != 0))
    }
    return uploads
  }
}

// MARK: - Echoes

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

extension StoreTransaction {
  /// Writes uploads down; one entry has at most one, the latest.
  package func journal(_ uploads: [UploadRecord], in soup: String) throws {
    let number = try self.soup(soup).number
    for upload in uploads {
      try connection.run(
        "INSERT OR REPLACE INTO outbox (soup, entry, version, sync, operation, sentAt, inDoubt) VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
          .integer(number), .integer(upload.entryId), .integer(upload.version), .integer(upload.syncId),
          .text(upload.operation), .integer(upload.sentAt), .integer(upload.inDoubt ? 1 : 0),
        ])
    }
  }

  /// The outcome of these uploads is known.
  package func settle(_ entryIds: some Sequence<Int64>, in soup: String) throws {
    let number = try self.soup(soup).number
    for id in entryIds {
      try connection.run("DELETE FROM outbox WHERE soup = ? AND entry = ?", [.integer(number), .integer(id)])
    }
  }
}
