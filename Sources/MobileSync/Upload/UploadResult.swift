import JSON

/// What the server said about one record of an upload.
struct UploadResult: Sendable, Equatable {
  let isSuccess: Bool
  let id: String?
  /// The first error object, as it came.
  let error: JSONValue?

  init(isSuccess: Bool, id: String? = nil, error: JSONValue? = nil) {
    self.isSuccess = isSuccess
    self.id = id
    self.error = error
  }

  /// One element of a collection's answer; nil when it is not shaped like one.
  init?(collectionItem json: JSONValue) {
    guard let success = json["success"]?.boolValue else { return nil }
    isSuccess = success
    id = json["id"]?.stringValue
    error = json["errors"]?.arrayValue?.first
  }

  /// An error of ours, in the server's shape.
  static func failure(_ statusCode: String, _ message: String) -> UploadResult {
    UploadResult(isSuccess: false, error: ["statusCode": .string(statusCode), "message": .string(message), "fields": []])
  }

  /// The server may not have the record any more.
  /// - Note: An error that names fields is about a value in the record, such as a lookup to something that is gone.
  var maySayRecordIsGone: Bool {
    guard !isSuccess, let code = error?["statusCode"]?.stringValue else { return false }
    return ["INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"].contains(code)
      && (error?["fields"]?.arrayValue ?? []).isEmpty
  }

  /// What goes into `__last_error__`: JSON text.
  var errorText: String {
    (error ?? ["statusCode": "UNKNOWN_EXCEPTION", "message": "the server refused the record without saying why"]).text
  }
}
