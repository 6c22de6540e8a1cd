import JSON
import LuaBridge

/// The actions of `tureen.accounts`.
extension Host {
  public func accounts(
    _ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let user = try core().user
    switch action {
    case .getUsage: onUpdate(.finished((user.usage.latest().map { JSONValue.object($0.json) } ?? .null).serialized()))
    }
  }
}
