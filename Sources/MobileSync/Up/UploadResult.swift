import JSON

/// The server's answer about one record of an upload.
package struct UploadResult: Sendable, Equatable {
  package let isSuccess: Bool
  package let id: String?
  /// The first error object, unchanged; for a request with a single record, all of them.
  package let error: JSONValue?
  /// The HTTP status, if the record had its own request.
  package let status: Int?
  /// The record's new time stamp, ms since 1970 UTC, if the answer has it.
  package var stamp: Int64?

  /// First-level members of the record after the upload, as far as the answer has them.
  package var record: JSONObject?
  /// Members of the entry that are no longer valid, such as a date of which the server sent no new
  /// value.
  package var outdated: [String] = []
  /// Members that were sent as operations. The server's values include changes by others, so what an
  /// entry that was edited meanwhile has more must be counted from the values it had when it was sent.
  package var operated: IdSet = []
  /// Whether the server has accepted a create without a result: the next run looks it up.
  package var isPending = false

  /// Whether a create omitted something that a following update sends: the entry stays dirty until
  /// then.
  package var isPartial = false

  /// Whether the server cannot accept the key of a refused create any more, and the record does not
  /// exist: the next run takes another key.
  package var endsKey = false

  /// Whether to keep the assignment of the server id to the local id, because other soups may refer
  /// to the record.
  package var keepsLocalId = false

  /// Changed members that an update could not send: the entry keeps them and stays dirty.
  package var unsent: [String] = []
  /// Members that such an update removed from the record.
  package var removed: [String] = []
  /// Whether no request was made, because no list names a changed field.
  package var hasNothingToSend = false

  /// Whether it is the record of a create whose answer was lost.
  package private(set) var isFound = false

  /// Whether a create may have been made by a target that cannot look it up.
  package var isInDoubt = false

  /// Whether the record waits for another one that it refers to and that the server does not have yet.
  package var waitsForReference = false

  /// Whether an earlier attempt of the request may have been executed: the server may have what was
  /// sent although it refuses it now.
  package var followsLostAttempt = false

  private let says: Says

  /// The facts about the record in an answer, besides whether it was accepted.
  package struct Says: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The server may no longer have the record.
    package static let recordMayBeGone = Says(rawValue: 1)
    /// A record that this one refers to may be deleted.
    package static let referenceIsBroken = Says(rawValue: 2)
    /// The server has a newer version than the request was based on.
    package static let recordHasChanged = Says(rawValue: 4)

    /// Derives the meaning from the status of a request with a single record.
    package init(status: Int?) {
      switch status {
      case 404: self = .recordMayBeGone
      case 412: self = .recordHasChanged
      default: self = []
      }
    }
  }

  /// - Parameter says: nil derives it from the status.
  package init(isSuccess: Bool, id: String? = nil, error: JSONValue? = nil, status: Int? = nil, says: Says? = nil) {
    self.isSuccess = isSuccess
    self.id = id
    self.error = error
    self.status = status
    self.says = says ?? Says(status: status)
  }

  /// Creates an error of our own, in the server's format.
  package static func failure(_ statusCode: String, _ message: String) -> UploadResult {
    UploadResult(isSuccess: false, error: ["statusCode": .string(statusCode), "message": .string(message), "fields": []])
  }

  /// Returns the result of a create whose record was found after its answer was lost.
  static func found(_ id: String, _ record: JSONObject) -> UploadResult {
    var result = UploadResult(isSuccess: true, id: id)
    result.keepsLocalId = true
    result.isFound = true
    if !record.isEmpty { result.record = record }
    return result
  }

  /// Whether the server may have what was sent although it refused this attempt. Only updates leave values behind that are
  /// compared later.
  func leavesDoubt(of action: UploadAction) -> Bool { action == .update && !isSuccess && followsLostAttempt }

  package var maySayRecordIsGone: Bool { says.contains(.recordMayBeGone) }
  package var saysReferenceIsBroken: Bool { says.contains(.referenceIsBroken) }
  package var saysRecordHasChanged: Bool { says.contains(.recordHasChanged) }

  /// The JSON text for `__last_error__`.
  package var errorText: String {
    (error ?? ["statusCode": "UNKNOWN_EXCEPTION", "message": "the server refused the record without saying why"]).text
  }
}

/// Why a group was not sent: a check before it failed. None of its records can have reached the
/// server.
package struct UploadNotSent: Error {
  package let cause: any Error
  package init(_ cause: any Error) { self.cause = cause }
}

/// Why a group was not sent completely. The known results of its records are kept.
package struct UploadCutShort: Error {
  package let cause: any Error
  /// One result for each record of the group, in order; nil for those that were not sent, or that
  /// can be sent again without harm.
  package let results: [UploadResult?]

  package init(_ cause: any Error, results: [UploadResult?]) {
    self.cause = cause
    self.results = results
  }
}
