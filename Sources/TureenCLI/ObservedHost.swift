import LuaBridge
import Tureen

/// A host that shows each sync update on its way to the script.
final class ObservedHost: ForwardingHost {
  let wrapped: any BridgeHost
  private let display: SyncDisplay

  init(_ host: Host, display: SyncDisplay) {
    wrapped = host
    self.display = display
  }

  func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    let display = display, store = call.store
    return try wrapped.mobileSync(action, call) { update in
      if case .sync(let change) = update { display.show(change, store) }
      onUpdate(update)
    }
  }
}
