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
  func sdkInfo() throws -> JSONObject { try host.sdkInfo() }
  func service(_ name: String, _ action: String, _ arguments: JSONObject) throws -> [UInt8]? {
    try host.service(name, action, arguments)
  }
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
