import Database

/// An upload that is about to be sent, or was: written down before, so that no other run sends it and a lost answer is noticed.
package struct UploadRecord: Sendable, Equatable {
  package var entryId: Int64
  /// The row's version when its text was taken for sending.
  package var version: Int64
  package var syncId: Int64
  /// The fence of that sync's lease: with another one the run that sent this is over. 0 in rows of older builds.
  package var fence: Int64
  package var operation: Operation
  /// Ms since 1970 UTC by this machine's clock.
  package var sentAt: Int64
  /// How far the server's clock was ahead of this machine's then, ms; nil when no answer had told yet.
  package var clockOffset: Int64?
  /// A create without an answer is not sent again before, ms by the clock of `sentAt`; nil until it is known that the answer
  /// is lost.
  package var resendAt: Int64?
  /// Whether the server has it could not be found out.
  package var inDoubt: Bool
  /// What a create told the server, JSON text; nil for other uploads and in rows of older builds.
  package var sent: [UInt8]?

  package enum Operation: String, Sendable {
    case create, update, upsert, delete
    /// A create that cannot be looked for on the server.
    case customCreate
  }

  package init(
    entryId: Int64, version: Int64, syncId: Int64, fence: Int64 = 0, operation: Operation, sentAt: Int64,
    clockOffset: Int64? = nil, resendAt: Int64? = nil, inDoubt: Bool = false, sent: [UInt8]? = nil
  ) {
    self.entryId = entryId
    self.version = version
    self.syncId = syncId
    self.fence = fence
    self.operation = operation
    self.sentAt = sentAt
    self.clockOffset = clockOffset
    self.resendAt = resendAt
    self.inDoubt = inDoubt
    self.sent = sent
  }
}

extension StoreSnapshot {
  private static let uploadColumns =
    "entry, version, sync, fence, operation, sentAt, clockOffset, resendAt, inDoubt, sent"

  private func uploads(_ condition: String, _ values: [SQLValue]) throws -> [UploadRecord] {
    let statement = try connection.statement(
      "SELECT \(StoreSnapshot.uploadColumns) FROM outbox WHERE \(condition) ORDER BY entry")
    try statement.bind(values)
    defer { statement.reset() }
    var uploads: [UploadRecord] = []
    while try statement.step() {
      guard let operation = UploadRecord.Operation(rawValue: statement.string(4)) else { continue }
      uploads.append(
        UploadRecord(
          entryId: statement.int64(0), version: statement.int64(1), syncId: statement.int64(2), fence: statement.int64(3),
          operation: operation, sentAt: statement.int64(5),
          clockOffset: statement.isNull(6) ? nil : statement.int64(6),
          resendAt: statement.isNull(7) ? nil : statement.int64(7), inDoubt: statement.int64(8) != 0,
          sent: statement.isNull(9) ? nil : Array(statement.bytes(9))))
    }
    return uploads
  }

  /// Uploads that are under way, and those whose outcome is not known, by entry id.
  package func unsettledUploads(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ? AND operation <> 'echo'", [.integer(try self.soup(soup).number)])
  }

  /// Creates that are under way, and those whose outcome is not known, by entry id.
  package func unsettledCreates(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ? AND operation = 'create'", [.integer(try self.soup(soup).number)])
  }

  /// The upload of an entry that is under way or whose outcome is not known.
  package func unsettledUpload(of entryId: Int64, in soup: String) throws -> UploadRecord? {
    try uploads(
      "soup = ? AND entry = ? AND operation <> 'echo'", [.integer(try self.soup(soup).number), .integer(entryId)]
    ).first
  }
}

extension StoreTransaction {
  /// Writes uploads down; one entry has at most one, the latest.
  package func journal(_ uploads: [UploadRecord], in soup: String) throws {
    let number = try self.soup(soup).number
    for upload in uploads {
      try connection.run(
        """
        INSERT OR REPLACE INTO outbox
        (soup, entry, version, sync, fence, operation, sentAt, clockOffset, resendAt, inDoubt, sent)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .integer(number), .integer(upload.entryId), .integer(upload.version), .integer(upload.syncId),
          .integer(upload.fence), .text(upload.operation.rawValue), .integer(upload.sentAt),
          upload.clockOffset.map(SQLValue.integer) ?? .null, upload.resendAt.map(SQLValue.integer) ?? .null,
          .integer(upload.inDoubt ? 1 : 0), upload.sent.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null,
        ])
    }
  }

  /// The outcome of these uploads is known.
  /// - Parameter run: Only of this one.
  package func settle(
    _ entryIds: some Sequence<Int64>, in soup: String, sentBy run: (syncId: Int64, fence: Int64)? = nil
  ) throws {
    let number = try self.soup(soup).number
    let owned = run == nil ? "" : " AND sync = ?3 AND fence = ?4"
    let delete = try connection.statement(
      "DELETE FROM outbox WHERE soup = ?1 AND entry = ?2 AND operation <> 'echo'" + owned)
    for id in entryIds {
      delete.bind(1, number)
      delete.bind(2, id)
      if let run {
        delete.bind(3, run.syncId)
        delete.bind(4, run.fence)
      }
      try delete.run()
    }
  }

  /// The answers to these creates are lost: none is sent again before a time.
  /// - Parameter time: Ms since 1970 UTC by this machine's clock.
  package func keepWaiting(_ entryIds: some Sequence<Int64>, in soup: String, until time: Int64) throws {
    let number = try self.soup(soup).number
    for id in entryIds {
      try connection.run(
        "UPDATE outbox SET resendAt = ? WHERE soup = ? AND entry = ? AND operation = 'create'",
        [.integer(time), .integer(number), .integer(id)])
    }
  }
}
