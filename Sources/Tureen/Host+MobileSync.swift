import JSON
import LuaBridge
import MobileSync

/// The actions of `com.salesforce.mobilesync` on real syncs.
extension Host {
  public func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    let manager = try core().manager(call.store)
    let report: @Sendable (SyncState) -> Void = { onUpdate(.sync(SyncUpdate($0))) }
    switch action {
    case .syncDown:
      _ = try manager.syncDown(
        target: call.object("target"), options: call.value("options")?.objectValue, soupName: call.string("soupName"),
        syncName: call.value("syncName")?.stringValue, onUpdate: report)
    case .syncUp:
      _ = try manager.syncUp(
        target: call.object("target"), options: call.value("options")?.objectValue, soupName: call.string("soupName"),
        syncName: call.value("syncName")?.stringValue, onUpdate: report)
    case .reSync: _ = try manager.reSync(try reference(call), onUpdate: report)
    case .cleanResyncGhosts: try cleanGhosts(manager, reference(call), onUpdate)
    case .getSyncStatus:
      return try manager.getSyncStatus(try reference(call)).map { JSONValue.object($0.json).serialized() }
        ?? JSONValue.null.serialized()
    case .deleteSync:
      try manager.deleteSync(try reference(call))
      return JSONValue.string("OK").serialized()
    }
    return nil
  }

  /// A name when there is one, else an id; the bridge has checked that one of the two is there.
  private func reference(_ call: ActionCall) throws -> SyncReference {
    if let name = call.value("syncName")?.stringValue { return .name(name) }
    return .id(try call.integer("syncId"))
  }

  private func cleanGhosts(
    _ manager: SyncManager, _ reference: SyncReference, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    try manager.cleanResyncGhosts(reference) { result in
      switch result {
      case .success(let count): onUpdate(.finished(JSONValue.integer(Int64(count)).serialized()))
      case .failure(let error): onUpdate(.failed(error))
      }
    }
  }
}

extension SyncUpdate {
  init(_ state: SyncState) {
    self.init(
      syncId: state.id, isTerminal: state.status.isTerminal, state: JSONValue.object(state.json).serialized(),
      error: state.status == .failed
        ? (state.failure ?? SyncError(.internalError, state.error)).bridgeError : nil)
  }
}
