import JSON
import LuaBridge
import RestClient

/// Implements the actions of `tureen.accounts`.
extension Host {
  public func accounts(
    _ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    switch action {
    case .getUsage:
      let usage = try core().user.usage.latest()
      onUpdate(.finished((usage.map { JSONValue.object($0.json) } ?? .null).serialized()))
    case .getIdentity:
      let user = try core().user
      Host.answer(call, as: user, onUpdate) { .object(try await user.client.account().identity().identity.json) }
    case .getOrgs:
      try capabilities().require("tureen.accounts", for: "accounts.getOrgs")
      let core = try core(), parts = core.parts, user = core.user
      Host.answer(call, as: user, onUpdate) {
        let all = try await HomeAccounts(parts.settings, home: parts.home).accounts()
        return .array(all.filter { parts.visibleAccounts == .home || $0.isUser(user.org) }.map { .object($0.json) })
      }
    case .startLogin: try startLogin(call, onUpdate)
    case .finishLogin: try finishLogin(call, onUpdate)
    case .cancelLogin: try cancelLogin(call, onUpdate)
    }
  }
}
