import JSON
import Logging
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
  /// How the user signed in, in a word of the credentials file, such as `jwt` or `browser`.
  public var flow: String?
  /// The app that signed in, and as whom.
  public var clientId: String?
  public var username: String?
  public var displayName: String?
  /// What the token may be used for, as the server said it: words between spaces.
  public var scope: String?
  /// The site that the user belongs to; nil for the org's own users.
  public var communityId: String?
  public var communityURL: String?
  /// Milliseconds since 1970 by our clock: when this token came.
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

  /// Where its token may go: the instance, and the login host for the identity page. Nowhere else, whatever URL a
  /// response or a script names.
  func mayAuthorize(_ url: String) -> Bool {
    guard let target = WebAddress(url) else { return false }
    return [dataURL, instanceURL, loginURL, identityURL].contains { WebAddress($0) == target }
  }

  /// Where data calls go: the site of a user who belongs to one, else the instance.
  public var dataURL: String { communityURL.flatMap { WebAddress($0) == nil ? nil : $0 } ?? instanceURL }

  /// The base of a data call: the site without its path where the call's own has it already, as a server's links may.
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
  /// For the file or key store that keeps it. Holds the tokens in clear.
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

  /// Members that are texts or missing, by their keys.
  private static var texts: [(key: String, value: WritableKeyPath<Session, String?>)] {
    [
      ("audience", \.audience), ("flow", \.flow), ("clientId", \.clientId), ("username", \.username),
      ("displayName", \.displayName), ("scope", \.scope), ("communityId", \.communityId), ("communityURL", \.communityURL),
    ]
  }

  /// What ``json`` may hold.
  static var keys: [String] {
    [
      "accessToken", "instanceURL", "userId", "orgId", "loginURL", "identityURL", "refreshToken", "issuedAt", "refreshedAt",
    ] + texts.map(\.key)
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
    for (key, value) in Self.texts { self[keyPath: value] = json[key]?.stringValue }
    refreshedAt = json["refreshedAt"]?.integerValue
  }
}

// MARK: Token answers

extension Session {
  /// With what the token resource does not say: how it was got, and what was known of the user before.
  func completed(_ credentials: Credentials, after known: Session?, now: Double) -> Session {
    var session = self
    session.refreshedAt = Int64(now * 1_000)
    session.clientId = credentials.clientId
    // A refresh token says nothing of how it was got.
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

  /// Ids of 18 characters are those of 15 with three more. A session without ids is of any org.
  func isOfSameOrg(as other: Session) -> Bool { Self.isSame(orgId, other.orgId) }
  func isOfSameUser(as other: Session) -> Bool { Self.isSame(userId, other.userId) }

  static func isSame(_ a: String, _ b: String) -> Bool { a.isEmpty || b.isEmpty || a.prefix(15) == b.prefix(15) }

  /// For the log: who signed in how and where, and no token.
  var logged: Logger.Metadata {
    [
      "flow": "\(flow ?? "")", "org": "\(orgId)", "user": "\(userId)", "host": "\(loginURL)", "instance": "\(instanceURL)",
    ]
  }

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
    scope = answer?["scope"]?.stringValue
    communityId = answer?["sfdc_community_id"]?.stringValue
    communityURL = (answer?["sfdc_community_url"]?.stringValue).map { WebAddress.withoutTrailingSlashes($0) }
  }
}
