import JSON
import RestClient

/// Who a session belongs to, as the org says.
public struct UserIdentity: Sendable, Equatable {
  public var userId: String
  public var orgId: String
  public var username: String?
  public var displayName: String?
  public var email: String?

  public init(userId: String, orgId: String, username: String? = nil, displayName: String? = nil, email: String? = nil) {
    self.userId = userId
    self.orgId = orgId
    self.username = username
    self.displayName = displayName
    self.email = email
  }

  /// The name in folders and messages: the user id where the org keeps the name to itself.
  public var name: String { username ?? userId }

  /// The answer of the identity resource, `/id/ORG/USER`.
  init?(identity json: JSONValue) {
    guard let userId = json["user_id"]?.stringValue, let orgId = json["organization_id"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: json["username"]?.stringValue, displayName: json["display_name"]?.stringValue,
      email: json["email"]?.stringValue)
  }

  /// The answer of `userinfo`, which calls the same by OpenID's names.
  init?(userinfo json: JSONValue) {
    guard let userId = json["user_id"]?.stringValue, let orgId = json["organization_id"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: json["preferred_username"]?.stringValue, displayName: json["name"]?.stringValue,
      email: json["email"]?.stringValue)
  }

  /// A record of `User`.
  init?(user json: JSONValue, orgId: String) {
    guard let userId = json["Id"]?.stringValue, let username = json["Username"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: username, displayName: json["Name"]?.stringValue, email: json["Email"]?.stringValue)
  }
}

/// Asks an org whose session one is.
struct IdentityQuestion {
  let apiVersion: String
  /// Sends a request for a path of the instance with the session.
  let get: (_ path: String) async throws(RestError) -> RestResponse

  /// Asks at the path of the identity URL, then `userinfo`, then the record of `User`. An org that refuses all of them leaves the
  /// ids.
  ///
  /// - Throws: ``RestError`` when the org is away; `.notAuthenticated` when it does not even say which user it is.
  /// - Note: Source: Mobile SDK for Android, which asks the instance, not the login host that the identity URL may name.
  func identity(of session: Session) async throws(RestError) -> UserIdentity {
    var refusal: RestError?
    if !session.identityURL.isEmpty {
      let page = try await answer(at: URLReference(session.identityURL).path, &refusal)
      if let found = page.flatMap({ UserIdentity(identity: $0) }) { return found }
    }
    let info = try await answer(at: "/services/oauth2/userinfo", &refusal)
    if let found = info.flatMap({ UserIdentity(userinfo: $0) }) { return found }
    guard !session.userId.isEmpty else { throw Self.unknownUser(session, refusal) }
    let path = "/services/data/\(apiVersion)/sobjects/User/\(session.userId)?fields=Id,Username,Name,Email"
    let record = try await answer(at: path, &refusal)
    return record.flatMap { UserIdentity(user: $0, orgId: session.orgId) }
      ?? UserIdentity(userId: session.userId, orgId: session.orgId)
  }

  /// Whether the org is a sandbox; nil where the user may not read it.
  func isSandbox() async throws(RestError) -> Bool? {
    var refusal: RestError?
    let path = "/services/data/\(apiVersion)/query?q=SELECT+IsSandbox+FROM+Organization"
    return try await answer(at: path, &refusal)?["records"]?.arrayValue?.first?["IsSandbox"]?.boolValue
  }

  private static func unknownUser(_ session: Session, _ refusal: RestError?) -> RestError {
    let said = refusal.map { ": \($0.message)" } ?? ""
    return RestError(
      code: .notAuthenticated,
      message:
        "\(session.instanceURL) does not say whose session this is\(said); check the token, and give its app the scope 'id' or "
        + "'openid'")
  }

  /// What the instance has at a path; nil, and the refusal, when it does not give it.
  private func answer(at path: String, _ refusal: inout RestError?) async throws(RestError) -> JSONValue? {
    do throws(RestError) {
      let response = try await get(path)
      return try? response.json()
    } catch {
      guard error.code == .httpStatus, !error.isRetryable else { throw error }
      refusal = error
      return nil
    }
  }
}

extension OAuthClient {
  /// Who a session belongs to: asked with it as it is, before it is kept.
  /// - Throws: as `IdentityQuestion` does.
  public func identity(of session: Session, apiVersion: String = "v66.0") async throws(RestError) -> UserIdentity {
    try await question(session, apiVersion).identity(of: session)
  }

  /// Whether the org is a sandbox; nil where the user may not read it.
  public func isSandbox(_ session: Session, apiVersion: String = "v66.0") async throws(RestError) -> Bool? {
    try await question(session, apiVersion).isSandbox()
  }

  private func question(_ session: Session, _ apiVersion: String) -> IdentityQuestion {
    IdentityQuestion(apiVersion: apiVersion) { path throws(RestError) in
      // A site's users have everything but the identity pages under the site.
      let base = path.hasPrefix("/services/") ? session.dataURL : session.instanceURL
      let url = try WebAddress.url(path: path, query: [], base: base)
      do throws(RestError) {
        return try await sender.send(RestRequest(.GET, path), url: url, token: session.accessToken)
      } catch {
        // It may quote what was sent.
        throw TokenRedaction([session.accessToken]).cleaned(error)
      }
    }
  }
}

extension SalesforceClient {
  /// Who the session in use belongs to, and that session. One that has ended is renewed first.
  ///
  /// - Throws: ``RestError`` when there is no session, or the org is away.
  public func identity() async throws(RestError) -> (identity: UserIdentity, session: Session) {
    // The first answer may need another session than the one before.
    let found = try await question.identity(of: session())
    return try await (found, session())
  }

  /// Whether the org is a sandbox; nil where the user may not read it.
  public func isSandbox() async throws(RestError) -> Bool? { try await question.isSandbox() }

  private var question: IdentityQuestion {
    IdentityQuestion(apiVersion: apiVersion) { path throws(RestError) in
      do {
        return try await self.send(RestRequest(.GET, path))
      } catch {
        throw RestError(keeping: error)
      }
    }
  }
}
