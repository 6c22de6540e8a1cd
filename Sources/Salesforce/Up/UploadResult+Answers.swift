import JSON
import MobileSync
import RestClient

/// Parses Salesforce's response for one record.
extension UploadResult {
  /// Parses the response of a subrequest.
  init(status: Int, body: JSONValue) {
    let isSuccess = (200..<300).contains(status)
    let error = body.arrayValue?.first ?? (body["errorCode"] == nil ? nil : body)
    self.init(
      isSuccess: isSuccess, id: isSuccess ? body["id"]?.stringValue : nil, error: isSuccess ? nil : error, status: status,
      says: isSuccess ? [] : Says(error, status: status))
  }

  /// Parses the 2xx response of a request for one record. Status 300, for several matching records, becomes a failure.
  /// - Throws: `RestError` `.invalidBody` for a page of a gateway or a portal, which does not confirm the change.
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

  /// Converts the refusal of a request for one record.
  init(refusal error: RestError) {
    let shown =
      error.errors.isEmpty
      ? UploadResult.failure("HTTP_\(error.status ?? 0)", error.message).error : JSONValue.array(error.errors)
    self.init(isSuccess: false, error: shown, status: error.status, says: Says(error.errors.first, status: error.status))
    followsLostAttempt = error.followsLostAttempt
  }

  /// Parses one element of a collection's response; returns nil if it has another shape.
  init?(collectionItem json: JSONValue) {
    guard let success = json["success"]?.boolValue else { return nil }
    let error = json["errors"]?.arrayValue?.first
    self.init(
      isSuccess: success, id: json["id"]?.stringValue, error: error, says: success ? [] : Says(error, status: nil))
  }
}

extension UploadResult.Says {
  private static let goneCodes = ["INVALID_CROSS_REFERENCE_KEY", "ENTITY_IS_DELETED"]

  /// - Note: If an element has no status, an error that names fields concerns a value in the record, such as a reference to a
  ///   deleted record.
  init(_ error: JSONValue?, status: Int?) {
    self.init(status: status)
    guard let code = (error?["errorCode"] ?? error?["statusCode"])?.stringValue, Self.goneCodes.contains(code) else { return }
    if status != 404 { insert(.referenceIsBroken) }
    if status == nil, error?["statusCode"] != nil, (error?["fields"]?.arrayValue ?? []).isEmpty { insert(.recordMayBeGone) }
  }
}
