import JSON
import Salesforce

/// Who is signed in, in the model's words.
struct Account: Sendable {
  let session: Session
  let clientId: String
  let username: String
  let shownTokens: ShownTokens

  /// Which of the session's tokens a script gets.
  enum ShownTokens: Sendable {
    case none, access, all

    init(_ settings: HostSettings) { self = settings.isRestricted ? .none : settings.allowsRefreshToken ? .all : .access }
  }

  init(_ session: Session, of client: SalesforceClient, _ user: ActiveUser) {
    self.init(
      session: session, clientId: client.clientId ?? session.clientId ?? "", username: client.username ?? session.username ?? "",
      shownTokens: user.parts.shownTokens)
  }

  init(session: Session, clientId: String, username: String, shownTokens: ShownTokens) {
    self.session = session
    self.clientId = clientId
    self.username = username
    self.shownTokens = shownTokens
  }

  /// One that is not current: its tokens are not for scripts.
  init(_ other: HomeAccount) {
    self.init(
      session: other.session, clientId: other.session.clientId ?? "", username: other.username, shownTokens: .none)
  }

  /// Nil without a signed-in user.
  static func current(_ user: ActiveUser) async throws -> Account? {
    let client = try await user.client.account()
    guard let session = await client.knownSession() else { return nil }
    return Account(session, of: client, user)
  }

  func isUser(_ userId: String?, _ orgId: String?) -> Bool { session.userId == userId && session.orgId == orgId }

  /// What `getAuthCredentials` answers.
  func credentials(_ userAgent: String) -> JSONValue {
    withRefreshToken([
      "accessToken": accessToken, "userId": .string(session.userId), "orgId": .string(session.orgId),
      "loginUrl": .string(session.loginURL), "instanceUrl": .string(session.instanceURL),
      "identityUrl": .string(session.identityURL), "clientId": .string(clientId), "userAgent": .string(userAgent),
      "communityId": session.communityId.map { .string($0) } ?? .null,
      "communityUrl": session.communityURL.map { .string($0) } ?? .null,
    ])
  }

  /// An element of `getUsers`.
  var json: JSONValue {
    withRefreshToken([
      "authToken": accessToken, "loginServer": .string(session.loginURL),
      "idUrl": .string(session.identityURL), "instanceServer": .string(session.instanceURL),
      "orgId": .string(session.orgId), "userId": .string(session.userId), "username": .string(username),
      "clientId": .string(clientId),
    ])
  }

  /// One side of the event `userSwitched`.
  var name: JSONValue {
    ["userId": .string(session.userId), "orgId": .string(session.orgId), "username": .string(username)]
  }

  private var accessToken: JSONValue { shownTokens == .none ? .null : .string(session.accessToken) }

  private func withRefreshToken(_ object: JSONObject) -> JSONValue {
    guard shownTokens == .all else { return .object(object) }
    var object = object
    object["refreshToken"] = session.refreshToken.map { .string($0) } ?? .null
    return .object(object)
  }
}
