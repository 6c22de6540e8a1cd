import JSON
import RestClient

/// What the server said about one record of an upload.
struct UploadResult: Sendable, Equatable {
  let isSuccess: Bool
  let id: String?
  /// The first error object, as it came; of a request of its own all of them.
  let error: JSONValue?
  /// HTTP status, where the record had a request of its own.
  let status: Int?
  /// The time stamp that the record got, ms since 1970 UTC, where the answer says it.
  var stamp: Int64?

  init(isSuccess: Bool, id: String? = nil, error: JSONValue? = nil, status: Int? = nil) {
    self.isSuccess = isSuccess
    self.id = id
    self.error = error
    self.status = status
  }

  /// The answer to a request inside a composite one.
  init(status: Int, body: JSONValue) {
    let isSuccess = (200..<300).contains(status)
    let error = body.arrayValue?.first ?? (body["errorCode"] == nil ? nil : body)
    self.init(isSuccess: isSuccess, id: isSuccess ? body["id"]?.stringValue : nil, error: isSuccess ? nil : error, status: status)
  }

  /// The good answer to a request of its own; several choices (300) are no answer.
  /// - Throws: `RestError` `.invalidBody` for a page of a gateway or a portal: nothing says that the server has the change.
  init(_ response: RestResponse) throws(RestError) {
    let body = response.body.count == 0 ? JSONValue.null : try response.json()
    guard response.status == 204 || response.status == 300 || body["success"]?.boolValue == true else {
      throw response.invalidBody("expected no body with status 204, or 'success'")
    }
    guard response.status != 300 else {
      let failure = UploadResult.failure("MULTIPLE_CHOICES", "the external id belongs to several records: \(body.text)")
      self.init(isSuccess: false, error: failure.error, status: response.status)
      return
    }
    self.init(status: response.status, body: body)
  }

  /// A request of its own that the server refused.
  init(refusal error: RestError) {
    let shown =
      error.errors.isEmpty
      ? UploadResult.failure("HTTP_\(error.status ?? 0)", error.message).error : JSONValue.array(error.errors)
    self.init(isSuccess: false, error: shown, status: error.status)
  }

  /// One element of a collection's answer; nil when it is not shaped like one.
  init?(collectionItem json: JSONValue) {
    guard let success = json["success"]?.boolValue else { return nil }
    isSuccess = success
    id = json["id"]?.stringValue
    error = json["errors"]?.arrayValue?.first
    status = nil
  }

  /// An error of ours, in the server's shape.
  static func failure(_ statusCode: String, _ message: String) -> UploadResult {
    UploadResult(isSuccess: false, error: ["statusCode": .string(statusCode), "message": .string(message), "fields": []])
  }

  /// The server may not have the record any more.
  /// - Note: An error that names fields is about a value in the record, such as a lookup to something that is gone.
  var maySayRecordIsGone: Bool {
    if let status { return status == 404 }
    guard !isSuccess, let code = error?["statusCode"]?.stringValue else { return false }
    return ["INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"].contains(code)
      && (error?["fields"]?.arrayValue ?? []).isEmpty
  }

  /// A record that this one points to may be gone.
  var saysReferenceIsBroken: Bool {
    guard !isSuccess, status != 404, let code = (error?["errorCode"] ?? error?["statusCode"])?.stringValue else { return false }
    return ["ENTITY_IS_DELETED", "INVALID_CROSS_REFERENCE_KEY"].contains(code)
  }

  /// The server has a newer one than the request was for.
  var saysRecordHasChanged: Bool { status == 412 }

  /// What goes into `__last_error__`: JSON text.
  var errorText: String {
    (error ?? ["statusCode": "UNKNOWN_EXCEPTION", "message": "the server refused the record without saying why"]).text
  }
}
