import JSON
import LuaBridge
import MobileSync
import SmartStore

/// Implements the actions of `com.salesforce.smartstore`.
extension Host {
  public func smartStore(_ action: SmartStoreAction, _ call: ActionCall) throws -> [UInt8] {
    let core = try core(), capabilities = core.parts.capabilities
    try capabilities.require("com.salesforce.smartstore", for: call.store)
    if [.getAllGlobalStores, .removeAllGlobalStores].contains(action) {
      try capabilities.require("com.salesforce.smartstore", for: "smartstore.\(action)")
    }
    try checkWrite(action, call, capabilities)
    switch action {
    case .getAllStores: return try storeList(core, isGlobal: false)
    case .getAllGlobalStores: return try storeList(core, isGlobal: true)
    case .removeAllStores: return try removeAll(core, isGlobal: false)
    case .removeAllGlobalStores: return try removeAll(core, isGlobal: true)
    case .setupStoreFromDefaultConfig:
      return JSONValue.array(try core.user.setUpStore(isGlobal: call.store.isGlobal).map { .string($0) }).serialized()
    case .removeStore:
      let user = core.user
      user.forget(call.store)
      try user.registry(isGlobal: call.store.isGlobal).remove(named: call.store.name, isGlobal: call.store.isGlobal)
      return Host.yes
    case .registerSoup, .soupExists, .getSoupIndexSpecs, .alterSoup, .reIndexSoup, .removeSoup, .clearSoup:
      return try soupAction(action, call, try core.store(call.store))
    case .upsertSoupEntries, .retrieveSoupEntries, .removeFromSoup:
      return try entryAction(action, call, try core.store(call.store))
    case .patchSoupEntries: return try patch(call, try core.store(call.store))
    case .mergeServerRecords: return try merge(call, try core.store(call.store))
    case .querySoup, .runSmartQuery, .moveCursorToPageIndex, .closeCursor:
      return try queryAction(action, call, try core.store(call.store))
    case .getQueryPlan:
      let plan = try core.store(call.store).queryPlan(QuerySpec(call.object("querySpec")))
      return JSONValue.object(plan.json).serialized()
    case .closeObserver:
      core.observers.close(try call.integer("observerId"))
      return Host.ok
    // The bridge routes this action to `observe`, because it returns more than one result.
    case .observe: throw BridgeError(domain: "bridge", code: "internal", message: "an observer was taken for a plain call")
    case .getDatabaseSize: return JSONValue.integer(try core.store(call.store).databaseSize()).serialized()
    }
  }

  /// Keeps a restricted script from rewriting what its syncs are allowed to call.
  private func checkWrite(_ action: SmartStoreAction, _ call: ActionCall, _ capabilities: Capabilities) throws(BridgeError) {
    guard capabilities.isRestricted,
      [.registerSoup, .alterSoup, .removeSoup, .clearSoup, .upsertSoupEntries, .removeFromSoup].contains(action),
      call.value("soupName")?.stringValue == RunningSyncs.soup
    else { return }
    throw BridgeError(
      domain: "bridge", code: BridgeError.Code.restricted.rawValue,
      message: "writing to the soup '\(RunningSyncs.soup)' is not available to a restricted script; use the functions of syncs")
  }

  private static let ok = JSONValue.string("OK").serialized()
  private static let yes = JSONValue.bool(true).serialized()

  private func storeList(_ core: HostCore, isGlobal: Bool) throws -> [UInt8] {
    let names = try core.user.registry(isGlobal: isGlobal).storeNames(isGlobal: isGlobal)
    return JSONValue.array(names.map { ["storeName": .string($0), "isGlobalStore": .bool(isGlobal)] }).serialized()
  }

  private func removeAll(_ core: HostCore, isGlobal: Bool) throws -> [UInt8] {
    let user = core.user
    user.forgetAll(isGlobal: isGlobal)
    try user.registry(isGlobal: isGlobal).removeAll(isGlobal: isGlobal)
    return Host.yes
  }

  private func soupAction(_ action: SmartStoreAction, _ call: ActionCall, _ store: Store) throws -> [UInt8] {
    let name = try call.string("soupName")
    switch action {
    case .registerSoup:
      try store.registerSoup(name, indexSpecs: IndexSpec.list(.array(call.array("indexes"))))
      return JSONValue.string(name).serialized()
    case .soupExists: return JSONValue.bool(try store.soupExists(name)).serialized()
    case .getSoupIndexSpecs: return JSONValue.array(try store.indexSpecs(ofSoup: name).map(\.json)).serialized()
    case .removeSoup: try store.removeSoup(name)
    case .clearSoup: try store.clearSoup(name)
    case .alterSoup:
      let specs = try IndexSpec.list(.array(call.array("indexes")))
      try store.alterSoup(name, indexSpecs: specs, reIndexData: call.value("reIndexData")?.boolValue ?? false)
      return JSONValue.string(name).serialized()
    default:
      try store.reIndexSoup(name, paths: call.array("paths").compactMap(\.stringValue))
      return JSONValue.string(name).serialized()
    }
    return Host.ok
  }

  private func entryAction(_ action: SmartStoreAction, _ call: ActionCall, _ store: Store) throws -> [UInt8] {
    let name = try call.string("soupName")
    switch action {
    case .upsertSoupEntries:
      let path = call.value("externalIdPath")?.stringValue ?? "_soupEntryId"
      return try store.upsert(call.entries(), into: name, externalIdPath: path)
    case .retrieveSoupEntries: return try store.retrieve(try ids(call), from: name)
    default:
      if call.value("entryIds") != nil {
        try store.remove(try ids(call), from: name)
      } else {
        try store.removeEntries(matching: QuerySpec(call.object("querySpec")), from: name, cancellation: Host.query(of: call))
      }
      return Host.ok
    }
  }

  private func ids(_ call: ActionCall) throws -> [Int64] {
    try call.array("entryIds").enumerated().map { i, value in
      guard let id = value.integerValue else {
        throw BridgeError(
          domain: "bridge", code: "invalidArguments",
          message: "argument 'entryIds[\(i + 1)]' must be an integer, got \(value.kindName)")
      }
      return id
    }
  }

  private func queryAction(_ action: SmartStoreAction, _ call: ActionCall, _ store: Store) throws -> [UInt8] {
    switch action {
    case .closeCursor:
      store.closeCursor(try call.integer("cursorId"))
      return Host.ok
    case .moveCursorToPageIndex:
      return try store.moveCursor(
        call.integer("cursorId"), toPageIndex: call.integer("index"), asRecords: call.wantsRecords,
        cancellation: Host.query(of: call))
    default:
      let spec = try QuerySpec(call.object("querySpec"))
      guard (action == .runSmartQuery) == (spec.kind == .smart) else {
        let message =
          spec.kind == .smart
          ? "Smart queries can only be run through runSmartQuery" : "runSmartQuery can only run smart queries"
        throw StoreError(.invalidQuerySpec, message)
      }
      return try store.openCursor(
        spec, soup: action == .querySoup ? call.string("soupName") : nil, asRecords: call.wantsRecords,
        cancellation: Host.query(of: call))
    }
  }

  /// Returns a cancellation that aborts the query when the script cancels the call or the host closes.
  static func query(of call: ActionCall) -> QueryCancellation {
    let query = QueryCancellation()
    call.cancellation?.onCancel { query.cancel() }
    call.cancellation?.onClosing { query.endSoon() }
    return query
  }
}
