import JSON

/// What the server said about one record of an upload.
package struct UploadResult: Sendable, Equatable {
  package let isSuccess: Bool
  package let id: String?
  /// The first error object, as it came; of a request of its own all of them.
  package let error: JSONValue?
  /// HTTP status, where the record had a request of its own.
  package let status: Int?
  /// The time stamp that the record got, ms since 1970 UTC, where the answer says it.
  package var stamp: Int64?

  /// First-level members that the record has after it, as far as the answer says.
  package var record: JSONObject?
  /// Members of the entry that are not true any more, such as a date that the server did not tell anew.
  package var outdated: [String] = []
  /// The server has taken a create and says neither yes nor no: it is looked for in the next run.
  package var isPending = false

  /// A create that left something out, which an update right behind it brings: the entry stays dirty until then.
  package var isPartial = false

  /// Other soups may name the record by the id that it had here: which one the server gave is kept.
  package var keepsLocalId = false

  private let says: Says

  /// What an answer says about the record, beside whether it was accepted.
  package struct Says: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The server may not have the record any more.
    package static let recordMayBeGone = Says(rawValue: 1)
    /// A record that this one points to may be gone.
    package static let referenceIsBroken = Says(rawValue: 2)
    /// The server has a newer one than the request was for.
    package static let recordHasChanged = Says(rawValue: 4)

    /// What the status of a request of its own says.
    package init(status: Int?) {
      switch status {
      case 404: self = .recordMayBeGone
      case 412: self = .recordHasChanged
      default: self = []
      }
    }
  }

  /// - Parameter says: nil: what the status says.
  package init(isSuccess: Bool, id: String? = nil, error: JSONValue? = nil, status: Int? = nil, says: Says? = nil) {
    self.isSuccess = isSuccess
    self.id = id
    self.error = error
    self.status = status
    self.says = says ?? Says(status: status)
  }

  /// An error of ours, in the server's shape.
  package static func failure(_ statusCode: String, _ message: String) -> UploadResult {
    UploadResult(isSuccess: false, error: ["statusCode": .string(statusCode), "message": .string(message), "fields": []])
  }

  /// A create whose record was found after its answer was lost.
  static func found(_ id: String) -> UploadResult {
    var result = UploadResult(isSuccess: true, id: id)
    result.keepsLocalId = true
    return result
  }

  package var maySayRecordIsGone: Bool { says.contains(.recordMayBeGone) }
  package var saysReferenceIsBroken: Bool { says.contains(.referenceIsBroken) }
  package var saysRecordHasChanged: Bool { says.contains(.recordHasChanged) }

  /// What goes into `__last_error__`: JSON text.
  package var errorText: String {
    (error ?? ["statusCode": "UNKNOWN_EXCEPTION", "message": "the server refused the record without saying why"]).text
  }
}

/// Why a group was not sent: a look before it failed. None of its records can have reached the server.
package struct UploadNotSent: Error {
  package let cause: any Error
  package init(_ cause: any Error) { self.cause = cause }
}

/// Why a group was not sent to its end. What is known of its records is kept.
package struct UploadCutShort: Error {
  package let cause: any Error
  /// One for each record of the group, in its order; nil where nothing was sent, or nothing that does harm when it is sent again.
  package let results: [UploadResult?]

  package init(_ cause: any Error, results: [UploadResult?]) {
    self.cause = cause
    self.results = results
  }
}
