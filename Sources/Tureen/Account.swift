import JSON
import Salesforce

/// A signed-in user, with the JSON forms that the plug-ins of the Mobile SDK return.
struct Account: Sendable {
  let session: Session
  let clientId: String
  let username: String
  let visibleTokens: VisibleTokens

  /// The session's tokens that a script may see.
  enum VisibleTokens: Sendable {
    case none, access, all
  }

  init(_ session: Session, of client: SalesforceClient, _ user: ActiveUser) {
    self.init(
      session: session, clientId: client.clientId ?? session.clientId ?? "", username: client.username ?? session.username ?? "",
      visibleTokens: user.parts.visibleTokens)
  }

  init(session: Session, clientId: String, username: String, visibleTokens: VisibleTokens) {
    self.session = session
    self.clientId = clientId
    self.username = username
    self.visibleTokens = visibleTokens
  }

  /// Creates an account that is not the current one. Scripts do not get its tokens.
  init(_ other: HomeAccount) {
    self.init(
      session: other.session, clientId: other.session.clientId ?? "", username: other.username, visibleTokens: .none)
  }

  /// Returns the account of the current user; nil if no user is signed in.
  static func current(_ user: ActiveUser) async throws -> Account? {
    let client = try await user.client.account()
    guard let session = await client.knownSession() else { return nil }
    return Account(session, of: client, user)
  }

  func isUser(_ userId: String?, _ orgId: String?) -> Bool { session.userId == userId && session.orgId == orgId }

  /// Returns the result of `getAuthCredentials`.
  func credentials(_ userAgent: String) -> JSONValue {
    withRefreshToken([
      "accessToken": accessToken, "userId": .string(session.userId), "orgId": .string(session.orgId),
      "loginUrl": .string(session.loginURL), "instanceUrl": .string(session.instanceURL),
      "identityUrl": .string(session.identityURL), "clientId": .string(clientId), "userAgent": .string(userAgent),
      "communityId": session.communityId.map { .string($0) } ?? .null,
      "communityUrl": session.communityURL.map { .string($0) } ?? .null,
    ])
  }

  /// An element of the result of `getUsers`.
  var json: JSONValue {
    withRefreshToken([
      "authToken": accessToken, "loginServer": .string(session.loginURL),
      "idUrl": .string(session.identityURL), "instanceServer": .string(session.instanceURL),
      "orgId": .string(session.orgId), "userId": .string(session.userId), "username": .string(username),
      "clientId": .string(clientId),
    ])
  }

  /// The value of `from` or `to` in the event `userSwitched`.
  var name: JSONValue {
    ["userId": .string(session.userId), "orgId": .string(session.orgId), "username": .string(username)]
  }

  private var accessToken: JSONValue { visibleTokens == .none ? .null : .string(session.accessToken) }

  private func withRefreshToken(_ object: JSONObject) -> JSONValue {
    guard visibleTokens == .all else { return .object(object) }
    var object = object
    object["refreshToken"] = session.refreshToken.map { .string($0) } ?? .null
    return .object(object)
  }
}
