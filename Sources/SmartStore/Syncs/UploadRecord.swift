/// A row of the outbox: an upload that is about to be sent or was sent. It is written beforehand,
/// so that no other run sends it and a lost answer is noticed.
package struct UploadRecord: Sendable, Equatable {
  package var entryId: Int64
  /// The version of the row whose text is sent.
  package var version: Int64
  package var syncId: Int64
  /// The fence of that sync's lease; if the lease has another one by now, the run has ended. 0 in
  /// rows of older builds.
  package var fence: Int64
  package var operation: Operation
  /// Ms since 1970 UTC by this machine's clock.
  package var sentAt: Int64
  /// How far the server's clock was ahead of this machine's, in ms; nil if no answer had shown it
  /// yet.
  package var clockOffset: Int64?
  /// When a create without an answer may be sent again, in ms by the clock of `sentAt`; nil until
  /// the answer is known to be lost.
  package var resendAt: Int64?
  /// Whether it could not be determined if the server has the record.
  package var inDoubt: Bool
  /// The JSON text of a create; nil for other uploads and in rows of older builds.
  package var sent: [UInt8]?

  package enum Operation: String, Sendable {
    case create, update, upsert, delete
    /// A create that cannot be looked up on the server.
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

/// Whether a run may send an entry.
package enum ClaimOutcome: Sendable, Equatable {
  case claimed
  /// The row has another version than the one that was read, or no longer exists.
  case changed
  /// Another live run is sending it.
  case held
  /// An ended run sent it as a create, and the outcome is not known yet.
  case unsettled
}
