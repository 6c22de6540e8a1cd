import JSON
import LuaBridge
import Tureen

/// A host whose sync updates are shown as they pass.
final class ObservedHost: BridgeHost {
  private let host: Host
  private let display: SyncDisplay

  init(_ host: Host, display: SyncDisplay) {
    self.host = host
    self.display = display
  }

  func configure(_ options: JSONObject) throws { try host.configure(options) }
  func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] { try host.smartStore(action, call) }
  func keyValue(_ action: KeyValueAction, _ call: ActionCall) throws -> [UInt8] { try host.keyValue(action, call) }
  func observe(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.observe(call, onUpdate: onUpdate)
  }
  func network(_ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.network(call, onUpdate: onUpdate)
  }
  func oauth(_ action: OAuthAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.oauth(action, call, onUpdate: onUpdate)
  }
  func account(_ action: AccountAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.account(action, call, onUpdate: onUpdate)
  }
  func accounts(_ action: AccountsAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.accounts(action, call, onUpdate: onUpdate)
  }
  func asset(_ action: AssetAction, _ call: ActionCall) throws -> [UInt8] { try host.asset(action, call) }
  func parse(_ action: ParseAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void) throws {
    try host.parse(action, call, onUpdate: onUpdate)
  }
  func setFeature(_ name: String, isUsed: Bool) { host.setFeature(name, isUsed: isUsed) }
  func attach(_ script: ScriptCalls) { host.attach(script) }
  func sdkInfo() throws -> JSONObject { try host.sdkInfo() }
  var plugins: Plugins { host.plugins }
  func shutdown() { host.shutdown() }

  func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    let display = display, store = call.store
    return try host.mobileSync(action, call) { update in
      if case .sync(let change) = update { display.show(change, store) }
      onUpdate(update)
    }
  }
}
