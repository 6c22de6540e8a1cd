import Database

extension SQLiteTransaction {
  func claim(
    _ uploads: [UploadRecord], in soup: String, isLive: (UploadRecord) throws -> Bool
  ) throws -> [ClaimOutcome] {
    let found = try self.soup(soup)
    try forgetArrivals(in: soup)
    let insert = try connection.statement(
      """
      INSERT INTO outbox (soup, entry, version, sync, fence, operation, sentAt, clockOffset, sent)
      SELECT ?1, id, version, ?4, ?5, ?6, ?7, ?8, ?9 FROM \(found.table) WHERE id = ?2 AND version = ?3
      ON CONFLICT (soup, entry) DO UPDATE SET version = excluded.version, sync = excluded.sync, fence = excluded.fence,
      operation = excluded.operation, sentAt = excluded.sentAt, clockOffset = excluded.clockOffset, resendAt = NULL,
      inDoubt = 0, sent = excluded.sent WHERE outbox.operation = 'echo'
      """)
    return try uploads.map { upload in
      if try insert.take(upload, number: found.number, connection) { return .claimed }
      if let other = try unsettledUpload(of: upload.entryId, in: soup) {
        if try isLive(other) { return .held }
        if other.operation == .create { return .unsettled }
        try settle(CollectionOfOne(other.entryId), in: soup)
      }
      return try insert.take(upload, number: found.number, connection) ? .claimed : .changed
    }
  }
}

extension Statement {
  /// Runs the statement of a claim; returns whether it succeeded.
  fileprivate func take(_ upload: UploadRecord, number: Int64, _ connection: Connection) throws -> Bool {
    bind(1, number)
    bind(2, upload.entryId)
    bind(3, upload.version)
    bind(4, upload.syncId)
    bind(5, upload.fence)
    bind(6, upload.operation.rawValue)
    bind(7, upload.sentAt)
    if let offset = upload.clockOffset { bind(8, offset) } else { bindNull(8) }
    if let sent = upload.sent { bind(9, String(decoding: sent, as: UTF8.self)) } else { bindNull(9) }
    try run()
    return connection.changes == 1
  }
}
