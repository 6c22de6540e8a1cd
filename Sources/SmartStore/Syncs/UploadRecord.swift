import JSON

/// An attempt to upload an entry, written before it is sent, so that no other run sends the entry and
/// a lost answer is noticed. An entry has at most one; the values of those before it without an
/// answer are in `earlier`.
package struct UploadRecord: Sendable, Equatable {
  package var entryId: Int64
  /// The version of the row whose text is sent; 0 if another text is sent than that of any row.
  package var version: Int64
  package var syncId: Int64
  /// The fence of that sync's lease; if the lease has another one by now, the run has ended. 0 in
  /// rows of older builds, and ``noRun`` if no run waits for an answer any more.
  package var fence: Int64
  package var operation: Operation
  package var state: State
  /// Ms since 1970 UTC by this machine's clock.
  package var sentAt: Int64
  /// How far the server's clock was ahead of this machine's, in ms; nil if no answer had shown it
  /// yet.
  package var clockOffset: Int64?
  /// When a create without an answer may be sent again, in ms by the clock of `sentAt`; nil until
  /// the answer is known to be lost.
  package var resendAt: Int64?
  /// The JSON text of an object whose member `fields` has the values that were sent. That of a
  /// create also says how its record is found. nil if unknown, as in rows of older builds.
  package var sent: [UInt8]?
  /// The JSON text of a list with the texts of earlier updates without an answer, latest first; nil
  /// if there are none. An update or a deletion has it.
  package var earlier: [UInt8]?
  /// The JSON text of the whole entry as it was sent, for creates that are repeated with a key.
  package var entryText: [UInt8]?

  package enum Operation: String, Sendable {
    case create, update, upsert, delete
    /// A create that cannot be looked up on the server.
    case customCreate
  }

  package enum State: String, Sendable {
    /// In flight, or without an answer.
    case sent
    /// A search could not determine if the server has the record.
    case inDoubt
    /// A create without an answer that may be repeated with its key.
    case repeatable
    /// A repeated create that the server refused; its key stays.
    case refused
  }

  /// Whether it could not be determined if the server has the record.
  package var inDoubt: Bool { state == .inDoubt }

  /// Whether it is a create that must be looked up on the server before the entry is sent again.
  package var isUnknownCreate: Bool { operation == .create && (state == .sent || state == .inDoubt) }

  package init(
    entryId: Int64, version: Int64, syncId: Int64, fence: Int64 = 0, operation: Operation, state: State = .sent, sentAt: Int64,
    clockOffset: Int64? = nil, resendAt: Int64? = nil, sent: [UInt8]? = nil, earlier: [UInt8]? = nil,
    entryText: [UInt8]? = nil
  ) {
    self.entryId = entryId
    self.version = version
    self.syncId = syncId
    self.fence = fence
    self.operation = operation
    self.state = state
    self.sentAt = sentAt
    self.clockOffset = clockOffset
    self.resendAt = resendAt
    self.sent = sent
    self.earlier = earlier
    self.entryText = entryText
  }

  /// The fence of an attempt that no run waits for.
  package static let noRun: Int64 = -1

  /// How many earlier updates are kept.
  private static let mostEarlier = 8

  /// Returns this attempt as the successor of one whose answer is unknown: the server may have what
  /// that one sent.
  package func following(_ former: UploadRecord) -> UploadRecord {
    guard operation == .update || operation == .delete else { return self }
    var next = self
    let known = former.earlier.flatMap { try? JSONValue(parsing: $0) }?.arrayValue ?? []
    let latest = former.operation == .update ? former.sent.flatMap { try? JSONValue(parsing: $0) } : nil
    let all = ([latest].compactMap { $0 } + known).prefix(UploadRecord.mostEarlier)
    next.earlier = all.isEmpty ? nil : Array(JSONValue.array(Array(all)).text.utf8)
    return next
  }

  /// Returns the attempt that stays if the server did not accept this one: the latest update before
  /// it without an answer; nil if there is none.
  package var former: UploadRecord? {
    guard let earlier, var list = (try? JSONValue(parsing: earlier))?.arrayValue, !list.isEmpty else { return nil }
    var former = self
    former.operation = .update
    former.fence = UploadRecord.noRun
    former.sent = Array(list.removeFirst().text.utf8)
    former.earlier = list.isEmpty ? nil : Array(JSONValue.array(list).text.utf8)
    former.state = .sent
    return former
  }
}

/// The server's version of an entry after our own upload.
package struct UploadedRecord: Sendable, Equatable {
  /// The time stamp that the server gave the record, in ms since 1970 UTC; nil if unknown.
  package var stamp: Int64?
  /// As ``UploadRecord/sent``.
  package var sent: [UInt8]?

  package init(stamp: Int64? = nil, sent: [UInt8]? = nil) {
    self.stamp = stamp
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
