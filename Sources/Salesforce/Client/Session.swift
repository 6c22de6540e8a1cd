import JSON
import Logging
import RestClient
import Support

/// A signed-in user's session. Its tokens allow acting as the user, so it is stored with mode 0600 and never printed, not even
/// by `print`, `dump` or a debugger's summary.
public struct Session: Sendable, Equatable {
  public var accessToken: String
  /// nil after a sign-in by password or client credentials.
  public var refreshToken: String?
  /// The base URL of the org's instance, such as `https://example.my.salesforce.com`.
  public var instanceURL: String
  public var userId: String
  public var orgId: String
  /// The login host, which also refreshes the session.
  public var loginURL: String
  public var identityURL: String
  /// Milliseconds since 1970; nil if the server did not say.
  public var issuedAt: Int64?
  /// The audience of the assertion that the login host accepted; nil after other flows.
  public var audience: String?
  /// How the user signed in, in the terms of a credentials file, such as `jwt` or `browser`.
  public var flow: String?
  /// The client id of the app, and the user name.
  public var clientId: String?
  public var username: String?
  public var displayName: String?
  /// The scopes of the token as the server returned them, separated by spaces.
  public var scope: String?
  /// The id of the Experience Cloud site that the user belongs to; nil for internal users.
  public var communityId: String?
  public var communityURL: String?
  /// When this token arrived, in milliseconds since 1970 by the local clock.
  public var refreshedAt: Int64?

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

  /// Returns true if a request to this URL may carry the token: only the instance, the site and the login host may get it,
  /// even if a response or a script names another URL.
  func mayAuthorize(_ url: String) -> Bool {
    guard let target = WebAddress(url) else { return false }
    return [dataURL, instanceURL, loginURL, identityURL].contains { WebAddress($0) == target }
  }

  /// The base URL of data requests: the user's site if there is one, else the instance.
  public var dataURL: String { communityURL.flatMap { WebAddress($0) == nil ? nil : $0 } ?? instanceURL }

  /// Returns the base URL for a path. If the path already starts with the site's path, as links in responses may, the base
  /// omits it.
  func base(ofPath path: String) -> String {
    let url = dataURL
    guard let scheme = url.firstRange(ofASCII: "://"), let slash = url[scheme.upperBound...].firstIndex(of: "/"),
      path.hasPrefix(url[slash...] + "/")
    else { return url }
    return String(url[..<slash])
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
  /// The stored form. Contains the tokens in clear text.
  public var json: JSONValue {
    var object: JSONObject = [
      "accessToken": .string(accessToken), "instanceURL": .string(instanceURL), "userId": .string(userId),
      "orgId": .string(orgId), "loginURL": .string(loginURL), "identityURL": .string(identityURL),
    ]
    object["refreshToken"] = refreshToken.map { .string($0) }
    object["issuedAt"] = issuedAt.map { .integer($0) }
    for (key, value) in Self.texts { object[key] = self[keyPath: value].map { .string($0) } }
    object["refreshedAt"] = refreshedAt.map { .integer($0) }
    return .object(object)
  }

  /// The optional text members with their keys.
  private static var texts: [(key: String, value: WritableKeyPath<Session, String?>)] {
    [
      ("audience", \.audience), ("flow", \.flow), ("clientId", \.clientId), ("username", \.username),
      ("displayName", \.displayName), ("scope", \.scope), ("communityId", \.communityId), ("communityURL", \.communityURL),
    ]
  }

  /// All keys that ``json`` may contain.
  static var keys: [String] {
    [
      "accessToken", "instanceURL", "userId", "orgId", "loginURL", "identityURL", "refreshToken", "issuedAt", "refreshedAt",
    ] + texts.map(\.key)
  }

  /// Returns nil for a number that is not a time before the year 10000, in ms since 1970 UTC.
  private static func time(_ number: Int64?) -> Int64? {
    number.flatMap { (0...253_402_300_799_999).contains($0) ? $0 : nil }
  }

  /// Returns nil if the token or one of the URLs is missing.
  public init?(json: JSONValue) {
    guard let accessToken = json["accessToken"]?.stringValue, let instanceURL = json["instanceURL"]?.stringValue,
      let loginURL = json["loginURL"]?.stringValue
    else { return nil }
    self.init(
      accessToken: accessToken, refreshToken: json["refreshToken"]?.stringValue, instanceURL: instanceURL,
      userId: json["userId"]?.stringValue ?? "", orgId: json["orgId"]?.stringValue ?? "", loginURL: loginURL,
      identityURL: json["identityURL"]?.stringValue ?? "", issuedAt: Self.time(json["issuedAt"]?.integerValue))
    for (key, value) in Self.texts { self[keyPath: value] = json[key]?.stringValue }
    refreshedAt = Self.time(json["refreshedAt"]?.integerValue)
  }
}

// MARK: Token answers

extension Session {
  /// Adds what the token response does not contain: the sign-in method, and what the previous session knew of the user.
  func completed(_ credentials: Credentials, after known: Session?, now: Double) -> Session {
    var session = self
    session.refreshedAt = Int64(saturating: now * 1_000)
    session.clientId = credentials.clientId
    // A refresh keeps the method of the original sign-in.
    session.flow = (credentials.grant == .refreshToken ? known?.flow : nil) ?? credentials.flow
    session.username = credentials.username ?? known?.username
    guard let known else { return session }
    if session.userId.isEmpty { session.userId = known.userId }
    if session.orgId.isEmpty { session.orgId = known.orgId }
    if session.identityURL.isEmpty { session.identityURL = known.identityURL }
    session.displayName = known.displayName
    session.scope = session.scope ?? known.scope
    session.communityId = session.communityId ?? known.communityId
    session.communityURL = session.communityURL ?? known.communityURL
    return session
  }

  /// Compares the first 15 characters, which are the same in both forms of an id. A session without an id matches any org.
  func isOfSameOrg(as other: Session) -> Bool { Self.isSame(orgId, other.orgId) }
  func isOfSameUser(as other: Session) -> Bool { Self.isSame(userId, other.userId) }

  static func isSame(_ a: String, _ b: String) -> Bool { a.isEmpty || b.isEmpty || a.prefix(15) == b.prefix(15) }

  /// Log metadata: who signed in, how and where, without tokens.
  var logged: Logger.Metadata {
    [
      "flow": "\(flow ?? "")", "org": "\(orgId)", "user": "\(userId)", "host": "\(loginURL)", "instance": "\(instanceURL)",
    ]
  }

  /// Parses the response of the token endpoint.
  ///
  /// - Parameter refreshToken: Used if the response has none: a refresh returns a new one only with rotating tokens.
  /// - Throws: ``RestError`` `.invalidBody` if the token or the instance is missing. The error does not quote the body, which
  ///   may contain the token.
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
      issuedAt: Self.time(answer?["issued_at"]?.stringValue.flatMap { Int64($0) }))
    scope = answer?["scope"]?.stringValue
    communityId = answer?["sfdc_community_id"]?.stringValue
    communityURL = (answer?["sfdc_community_url"]?.stringValue).map { WebAddress.withoutTrailingSlashes($0) }
  }
}
