import JSON
import RestClient

/// The user and org that a session belongs to, as the org reports them.
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

  /// The name in folders and messages: the user name, or the user id if the org does not reveal the name.
  public var name: String { username ?? userId }

  /// Parses the response of the identity resource, `/id/ORG/USER`.
  init?(identity json: JSONValue) {
    guard let userId = json["user_id"]?.stringValue, let orgId = json["organization_id"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: json["username"]?.stringValue, displayName: json["display_name"]?.stringValue,
      email: json["email"]?.stringValue)
  }

  /// Parses the response of `userinfo`, which uses the names of OpenID Connect.
  init?(userinfo json: JSONValue) {
    guard let userId = json["user_id"]?.stringValue, let orgId = json["organization_id"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: json["preferred_username"]?.stringValue, displayName: json["name"]?.stringValue,
      email: json["email"]?.stringValue)
  }

  /// Parses a `User` record.
  init?(user json: JSONValue, orgId: String) {
    guard let userId = json["Id"]?.stringValue, let username = json["Username"]?.stringValue else { return nil }
    self.init(
      userId: userId, orgId: orgId, username: username, displayName: json["Name"]?.stringValue, email: json["Email"]?.stringValue)
  }
}

/// Asks an org for the identity of a session.
struct IdentityLookup {
  let apiVersion: String
  /// Sends an authorized GET request for a path of the instance.
  let get: (_ path: String) async throws(RestError) -> RestResponse

  /// Tries the path of the identity URL, then `userinfo`, then the `User` record. If the org refuses all of them, only the ids
  /// are known.
  ///
  /// - Throws: ``RestError`` if the org is unreachable; `.notAuthenticated` if not even the user id is known.
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

  /// Returns true if the org is a sandbox; nil if the user may not read this.
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

  /// Gets a JSON resource. If the instance refuses, returns nil and sets `refusal`.
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
  /// Returns the user and org of a session that is not stored yet. The session is not renewed.
  /// - Throws: ``RestError`` if the org is unreachable; `.notAuthenticated` if not even the user id is known.
  public func identity(of session: Session, apiVersion: String = "v66.0") async throws(RestError) -> UserIdentity {
    try await identityLookup(session, apiVersion).identity(of: session)
  }

  /// Returns true if the org is a sandbox; nil if the user may not read this.
  public func isSandbox(_ session: Session, apiVersion: String = "v66.0") async throws(RestError) -> Bool? {
    try await identityLookup(session, apiVersion).isSandbox()
  }

  private func identityLookup(_ session: Session, _ apiVersion: String) -> IdentityLookup {
    IdentityLookup(apiVersion: apiVersion) { path throws(RestError) in
      // For users of a site, only the identity resources are outside the site's path.
      let base = path.hasPrefix("/services/") ? session.dataURL : session.instanceURL
      let url = try WebAddress.url(path: path, query: [], base: base)
      do throws(RestError) {
        return try await sender.send(RestRequest(.GET, path), url: url, token: session.accessToken)
      } catch {
        // The error may quote the token.
        throw TokenRedaction([session.accessToken]).cleaned(error)
      }
    }
  }
}

extension SalesforceClient {
  /// Returns the user and org of the current session together with the session, which is renewed if it has expired.
  ///
  /// - Throws: ``RestError`` if there is no session or the org is unreachable.
  public func identity() async throws(RestError) -> (identity: UserIdentity, session: Session) {
    // The request may have renewed the session, so read it afterwards.
    let found = try await identityLookup.identity(of: session())
    return try await (found, session())
  }

  /// Returns true if the org is a sandbox; nil if the user may not read this.
  public func isSandbox() async throws(RestError) -> Bool? { try await identityLookup.isSandbox() }

  private var identityLookup: IdentityLookup {
    IdentityLookup(apiVersion: apiVersion) { path throws(RestError) in
      do {
        return try await self.send(RestRequest(.GET, path))
      } catch {
        throw RestError(keeping: error)
      }
    }
  }
}
