import Database

extension SQLiteTransaction {
  func claim(
    _ uploads: [UploadRecord], in soup: String, isLive: (UploadRecord) throws -> Bool
  ) throws -> [ClaimOutcome] {
    let found = try self.soup(soup)
    try forgetArrivals(in: soup)
    let insert = try connection.statement(
      """
      INSERT OR IGNORE INTO uploads
      (soup, entry, version, operation, state, sync, fence, sentAt, clockOffset, sent, earlier, entryText)
      SELECT ?1, id, version, ?4, 'sent', ?5, ?6, ?7, ?8, ?9, ?10, ?11 FROM \(found.table) WHERE id = ?2 AND version = ?3
      """)
    return try uploads.map { upload in
      if try insert.claim(upload, number: found.number, connection) { return .claimed }
      guard let other = try unsettledUpload(of: upload.entryId, in: soup) else { return .changed }
      if try isLive(other) { return .held }
      if other.isUnknownCreate { return .unsettled }
      guard try versions(of: [upload.entryId], in: soup)[upload.entryId] == upload.version else { return .changed }
      try endAttempts(CollectionOfOne(other.entryId), in: soup)
      return try insert.claim(upload.following(other), number: found.number, connection) ? .claimed : .changed
    }
  }
}

extension Statement {
  /// Runs the statement of a claim; returns whether it succeeded.
  fileprivate func claim(_ upload: UploadRecord, number: Int64, _ connection: Connection) throws -> Bool {
    bind(1, number)
    bind(2, upload.entryId)
    bind(3, upload.version)
    bind(4, upload.operation.rawValue)
    bind(5, upload.syncId)
    bind(6, upload.fence)
    bind(7, upload.sentAt)
    if let offset = upload.clockOffset { bind(8, offset) } else { bindNull(8) }
    for (i, text) in [upload.sent, upload.earlier, upload.entryText].enumerated() {
      if let text { bind(Int32(9 + i), textCopy: text) } else { bindNull(Int32(9 + i)) }
    }
    try run()
    return connection.changes == 1
  }
}
