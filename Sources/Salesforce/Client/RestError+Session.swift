import RestClient

extension RestError {
  /// True when a new session may help: 401, or the sign-in pages' 403. Two 401 texts say that it will not.
  ///
  /// - Note: Source: Salesforce REST API as other clients handle it; the two texts otherwise lead to refresh loops.
  var isSessionRefusal: Bool {
    if status == 403 { return body == "Bad_OAuth_Token" }
    guard status == 401 else { return false }
    let hopeless = ["This session is not valid for use with the REST API", "Connected app is not attached to Agent"]
    return !hopeless.contains { (body ?? "").containsASCII($0) }
  }
}
