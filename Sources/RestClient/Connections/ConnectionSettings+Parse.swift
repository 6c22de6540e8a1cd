import JSON

/// Connections of the kind `parse`, whose keys are sent as headers with every request.
extension ConnectionSettings {
  static let parseSessionHeader = "X-Parse-Session-Token"

  /// Maps keys to headers; all but the first and the last are secrets.
  private static let parseHeaders = [
    (key: "applicationId", header: "X-Parse-Application-Id"), (key: "restAPIKey", header: "X-Parse-REST-API-Key"),
    (key: "clientKey", header: "X-Parse-Client-Key"), (key: "sessionToken", header: parseSessionHeader),
    (key: "masterKey", header: "X-Parse-Master-Key"), (key: "installationId", header: "X-Parse-Installation-Id"),
  ]
  private static let parseTexts: Set = ["applicationId", "installationId"]

  static let parseServerKeys =
    ["kind", "serverURL"] + parseHeaders.map(\.key) + ["useMasterKey"]
    + keys.filter { !["kind", "baseURL", "auth", "errors"].contains($0) }

  /// Returns the key that messages use for a header's secret.
  func key(ofHeader name: String) -> String {
    let own = kind == .parse ? ConnectionSettings.parseHeaders.first { $0.header == name }?.key : nil
    return own ?? "headers.\(name)"
  }

  /// Whether requests act as a user.
  package var hasParseSession: Bool { headers.contains { $0.name == ConnectionSettings.parseSessionHeader } }
  /// Whether requests bypass all permissions.
  package var hasParseMasterKey: Bool { headers.contains { $0.name == "X-Parse-Master-Key" } }

  mutating func takeParseKeys(_ reader: MemberReader, _ origin: Origin) throws(ConnectionProblem) {
    let usesMasterKey = try reader.bool("useMasterKey") ?? false
    guard reader.value("applicationId") != nil else { throw ConnectionProblem(reader.keys, "lacks 'applicationId'") }
    for (key, header) in ConnectionSettings.parseHeaders {
      guard reader.value(key) != nil else { continue }
      if let other = headers.first(where: { $0.name.equalsIgnoringCase(header) }) {
        throw reader.problem(key, "and 'headers.\(other.name)' are the same header; remove one of them")
      }
      if key == "masterKey", !usesMasterKey {
        throw reader.problem(
          key, "lets every request bypass all permissions; use 'restAPIKey' or 'clientKey', or add \"useMasterKey\": true")
      }
      if ConnectionSettings.parseTexts.contains(key) {
        headers.append(Header(header, .text(try reader.headerText(key) ?? "")))
      } else if let secret = try reader.secret(key, origin) {
        headers.append(Header(header, .secret(secret)))
      }
    }
    if usesMasterKey, reader.value("masterKey") == nil {
      throw reader.problem("useMasterKey", "is true, but 'masterKey' is missing")
    }
  }

  // MARK: Refusals

  /// Tells whether a response says that the connection's secrets are wrong or no longer valid.
  func refusesSecrets(_ response: RestResponse) -> Bool {
    response.status == 401 || parseRefusal(response) != nil
  }

  /// Returns the error that a response stands for, without the secrets that the server repeats. They are removed first, because
  /// its message may show a part of the body.
  func error(_ response: RestResponse, hiding secrets: [String]) -> RestError {
    let response = TokenRedaction(secrets).cleaned(response)
    let refusal = parseRefusal(response)
    let error = ConnectionErrors.error(
      response, of: name, paths: errors, code: response.status == 401 ? .notAuthenticated : .httpStatus)
    return refusal.map { error.recoded(.notAuthenticated, "\(error.message); \($0)") } ?? error
  }

  /// Returns advice for a refused credential; nil if the response does not refuse one.
  ///
  /// - Note: Parse Server answers an ended session with HTTP 400 and code 209, and wrong keys with
  ///   403 without a code.
  private func parseRefusal(_ response: RestResponse) -> String? {
    guard kind == .parse, response.status == 400 || response.status == 403,
      let body = (try? response.body.json())?.objectValue
    else { return nil }
    if response.status == 403 {
      guard body["code"] == nil, body["error"] == "unauthorized" else { return nil }
      return "check 'applicationId' and the keys of the connection"
    }
    guard body["code"]?.integerValue == 209 else { return nil }
    return "the session has expired: sign in again and renew 'sessionToken'; no local changes are lost"
  }
}
