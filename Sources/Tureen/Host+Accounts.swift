import JSON
import LuaBridge
import RestClient
import Salesforce

/// Implements the actions of `com.salesforce.oauth` and `com.salesforce.sfaccountmanager` on the accounts of the home.
extension Host {
  public func oauth(
    _ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let user = try core().user, agent = userAgent
    if action == .logoutCurrentUser {
      try capabilities().require("com.salesforce.oauth", for: "oauth.logoutCurrentUser")
    }
    Host.answer(call, as: user, onUpdate) {
      switch action {
      case .getAppHomeUrl: return ""
      case .logoutCurrentUser:
        try await user.signOut()
        return "OK"
      case .authenticate:
        let client = try await user.client.account()
        return Account(try await client.signIn(), of: client, user).credentials(agent)
      case .getAuthCredentials:
        guard let account = try await Account.current(user) else {
          throw RestError(code: .notAuthenticated, message: "Not authenticated", outcome: .notSent)
        }
        return account.credentials(agent)
      }
    }
  }

  public func account(
    _ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    if action == .switchToUser {
      try switchUser(call)
      return onUpdate(.finished(JSONValue.string("OK").serialized()))
    }
    let core = try core(), user = core.user
    if action == .logout {
      try capabilities().require("com.salesforce.sfaccountmanager", for: "sfaccountmanager.logout")
    }
    let userId = call.value("userId")?.stringValue, orgId = call.value("orgId")?.stringValue
    Host.answer(call, as: user, onUpdate) {
      let account = try await Account.current(user)
      if action == .getCurrentUser { return account?.json ?? .null }
      let isMeant = userId == nil || account?.isUser(userId, orgId) == true
      if action == .logout, isMeant {
        try await user.signOut()
        return "OK"
      }
      let others = try await core.others(than: account == nil ? nil : user)
      if action == .getUsers { return .array(((account.map { [$0] } ?? []) + others.map { Account($0) }).map(\.json)) }
      if let other = others.first(where: { Account($0).isUser(userId, orgId) }) { try await core.signOut(other) }
      return "OK"
    }
  }

  /// Answers a call with the result of `body`, which runs in its own task. A switch of users waits for it.
  static func answer(
    _ call: ActionCall, as user: ActiveUser, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void,
    with body: @escaping @Sendable () async throws -> JSONValue
  ) {
    user.calls.begin()
    answer(call, onUpdate) {
      defer { user.calls.end() }
      return try await body()
    }
  }

  /// Answers a call with the result of `body`, which runs in its own task and does not depend on the current user.
  static func answer(
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
