import JSON
import LuaBridge
import RestClient

/// The actions of `tureen.accounts`.
extension Host {
  public func accounts(
    _ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let core = try core(), user = core.user
    switch action {
    case .getUsage: onUpdate(.finished((user.usage.latest().map { JSONValue.object($0.json) } ?? .null).serialized()))
    case .getIdentity:
      Host.answer(call, as: user, onUpdate) { .object(try await user.client.account().identity().identity.json) }
    case .getOrgs:
      try refuseWhenRestricted("accounts.getOrgs")
      let parts = core.parts
      Host.answer(call, as: user, onUpdate) {
        let all = try await HomeAccounts(parts.settings, home: parts.home).accounts()
        return .array(all.filter { parts.visibleAccounts == .home || $0.isUser(user.org) }.map { .object($0.json) })
      }
    }
  }
}
