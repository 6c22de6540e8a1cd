import JSON
import LuaBridge
import RestClient
import Salesforce

/// The actions of `com.salesforce.oauth` and `com.salesforce.sfaccountmanager`, on the one account the host has.
extension Host {
  public func oauth(
    _ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let core = try core(), agent = userAgent
    if action == .logoutCurrentUser { try refuseWhenRestricted("oauth.logoutCurrentUser") }
    Host.answer(call, onUpdate) {
      switch action {
      case .getAppHomeUrl: return ""
      case .logoutCurrentUser:
        try await core.signOut()
        return "OK"
      case .authenticate:
        let client = try await core.client.account()
        return Account(try await client.signIn(), of: client, core).credentials(agent)
      case .getAuthCredentials:
        guard let account = try await Account.current(core) else {
          throw RestError(code: .notAuthenticated, message: "Not authenticated", outcome: .notSent)
        }
        return account.credentials(agent)
      }
    }
  }

  public func account(
    _ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let core = try core()
    if action == .logout { try refuseWhenRestricted("sfaccountmanager.logout") }
    let userId = call.value("userId")?.stringValue, orgId = call.value("orgId")?.stringValue
    Host.answer(call, onUpdate) {
      let account = try await Account.current(core)
      let isMeant = account.map { $0.session.userId == userId && $0.session.orgId == orgId } ?? false
      switch action {
      case .getUsers: return .array(account.map { [$0.json] } ?? [])
      case .getCurrentUser: return account?.json ?? .null
      case .logout:
        if userId == nil || isMeant { try await core.signOut() }
        return "OK"
      case .switchToUser:
        guard isMeant else {
          throw HostError(.unsupported, "this host has one account; another org or user is another host")
        }
        return "OK"
      }
    }
  }

  /// - Throws: `restricted` when the script is kept from what would outlast it.
  func refuseWhenRestricted(_ what: String) throws {
    guard isRestricted else { return }
    throw BridgeError(
      domain: "bridge", code: BridgeError.Code.restricted.rawValue,
      message: "\(what) is not available to a restricted script (--restricted)")
  }

  /// Answers a call once with what `body` gives, from a task of its own.
  private static func answer(
    _ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void,
    with body: @escaping @Sendable () async throws -> JSONValue
  ) {
    let task = Task {
      do {
        onUpdate(.finished(try await body().serialized()))
      } catch {
        onUpdate(.failed(error))
      }
    }
    call.cancellation?.onCancel { task.cancel() }
  }
}

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

  init(_ session: Session, of client: SalesforceClient, _ core: HostCore) {
    self.init(
      session: session, clientId: client.clientId ?? "", username: client.username ?? "",
      shownTokens: core.shownTokens)
  }

  init(session: Session, clientId: String, username: String, shownTokens: ShownTokens) {
    self.session = session
    self.clientId = clientId
    self.username = username
    self.shownTokens = shownTokens
  }

  /// Nil without a signed-in user.
  static func current(_ core: HostCore) async throws -> Account? {
    let client = try await core.client.account()
    guard let session = await client.knownSession() else { return nil }
    return Account(session, of: client, core)
  }

  /// What `getAuthCredentials` answers.
  func credentials(_ userAgent: String) -> JSONValue {
    withRefreshToken([
      "accessToken": accessToken, "userId": .string(session.userId), "orgId": .string(session.orgId),
      "loginUrl": .string(session.loginURL), "instanceUrl": .string(session.instanceURL),
      "identityUrl": .string(session.identityURL), "clientId": .string(clientId), "userAgent": .string(userAgent),
      "communityId": .null, "communityUrl": .null,
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

  private var accessToken: JSONValue { shownTokens == .none ? .null : .string(session.accessToken) }

  private func withRefreshToken(_ object: JSONObject) -> JSONValue {
    guard shownTokens == .all else { return .object(object) }
    var object = object
    object["refreshToken"] = session.refreshToken.map { .string($0) } ?? .null
    return .object(object)
  }
}
