import JSON
import RestClient

/// A signed-in user's session. Whoever holds it can act as the user: it is stored with mode 0600 and never printed,
/// not even by `print`, `dump` or a debugger's summary.
public struct Session: Sendable, Equatable {
  public var accessToken: String
  /// Absent after a sign-in by password or client credentials.
  public var refreshToken: String?
  /// Where data calls go, such as `https://example.my.salesforce.com`.
  public var instanceURL: String
  public var userId: String
  public var orgId: String
  /// Where the user signed in, and where a refresh goes.
  public var loginURL: String
  public var identityURL: String
  /// Milliseconds since 1970; nil when the server did not say.
  public var issuedAt: Int64?
  /// Whom the assertion was for that the login host accepted; nil after other flows.
  public var audience: String?

  public init(
    accessToken: String, refreshToken: String? = nil, instanceURL: String, userId: String = "", orgId: String = "",
    loginURL: String, identityURL: String = "", issuedAt: Int64? = nil
  ) {
    self.accessToken = accessToken
    self.refreshToken = refreshToken
    self.instanceURL = instanceURL
    self.userId = userId
    self.orgId = orgId
    self.loginURL = loginURL
    self.identityURL = identityURL
    self.issuedAt = issuedAt
  }

  /// Where its token may go: the instance, and the login host for the identity page. Nowhere else, whatever URL a
  /// response or a script names.
  func mayAuthorize(_ url: String) -> Bool {
    guard let target = WebAddress(url) else { return false }
    return [instanceURL, loginURL, identityURL].contains { WebAddress($0) == target }
  }
}

extension Session: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "Session(user \(userId), org \(orgId), \(instanceURL))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror {
    Mirror(self, children: ["userId": userId, "orgId": orgId, "instanceURL": instanceURL])
  }
}

// MARK: Storage

extension Session {
  /// For the file or key store that keeps it. Holds the tokens in clear.
  public var json: JSONValue {
    var object: JSONObject = [
      "accessToken": .string(accessToken), "instanceURL": .string(instanceURL), "userId": .string(userId),
      "orgId": .string(orgId), "loginURL": .string(loginURL), "identityURL": .string(identityURL),
    ]
    object["refreshToken"] = refreshToken.map { .string($0) }
    object["issuedAt"] = issuedAt.map { .integer($0) }
    object["audience"] = audience.map { .string($0) }
    return .object(object)
  }

  /// nil when a token or an address is missing: such a session is as good as none.
  public init?(json: JSONValue) {
    guard let accessToken = json["accessToken"]?.stringValue, let instanceURL = json["instanceURL"]?.stringValue,
      let loginURL = json["loginURL"]?.stringValue
    else { return nil }
    self.init(
      accessToken: accessToken, refreshToken: json["refreshToken"]?.stringValue, instanceURL: instanceURL,
      userId: json["userId"]?.stringValue ?? "", orgId: json["orgId"]?.stringValue ?? "", loginURL: loginURL,
      identityURL: json["identityURL"]?.stringValue ?? "", issuedAt: json["issuedAt"]?.integerValue)
    audience = json["audience"]?.stringValue
  }
}

// MARK: Token answers

extension Session {
  /// Reads the answer of the token endpoint.
  ///
  /// - Parameter refreshToken: Kept when the answer brings none: a refresh repeats it only where tokens rotate.
  /// - Throws: ``RestError`` `.invalidBody` without a token or an instance. The body stays out of that error, because
  ///   it may hold the token.
  init(tokenResponse response: RestResponse, loginURL: String, refreshToken: String?) throws(RestError) {
    let answer = try? response.body.json()
    guard let accessToken = answer?["access_token"]?.stringValue,
      let instanceURL = answer?["instance_url"]?.stringValue
    else {
      throw RestError(
        code: .invalidBody,
        message: "the sign-in answer of \(loginURL) has no access_token or no instance_url",
        status: response.status, headers: response.headers)
    }
    let identityURL = answer?["id"]?.stringValue ?? ""
    let path = identityURL.split(separator: "/")
    let hasIds = path.count >= 2
    self.init(
      accessToken: accessToken, refreshToken: answer?["refresh_token"]?.stringValue ?? refreshToken,
      instanceURL: WebAddress.withoutTrailingSlashes(instanceURL), userId: hasIds ? String(path[path.count - 1]) : "",
      orgId: hasIds ? String(path[path.count - 2]) : "", loginURL: loginURL, identityURL: identityURL,
      issuedAt: answer?["issued_at"]?.stringValue.flatMap { Int64($0) })
  }
}
