import JSON
import LuaBridge
import MobileSync
import Salesforce
import Synchronization

/// Implements the actions of `com.salesforce.mobilesync`.
extension Host {
  public func mobileSync(
    _ action: MobileSyncAction, _ call: ActionCall, onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws -> [UInt8]? {
    let core = try core()
    try core.parts.capabilities.require("com.salesforce.mobilesync", for: call.store)
    if action == .setupSyncsFromDefaultConfig {
      return JSONValue.array(try core.user.setUpSyncs(isGlobal: call.store.isGlobal).map { .string($0) }).serialized()
    }
    if let answer = try look(action, call, core) { return answer.serialized() }
    switch action {
    case .planSync:
      try plan(call, core, onUpdate: onUpdate)
      return nil
    case .explainEntry:
      try explain(call, core, onUpdate: onUpdate)
      return nil
    default: break
    }
    let manager = try core.manager(call.store)
    switch action {
    case .applyPlan where call.value("allOrNothing")?.boolValue == true: try applyAll(manager, call, core.planServer, onUpdate)
    case .syncDown, .syncUp, .reSync, .ensureSync, .refresh, .more, .applyPlan:
      let state = try start(
        action, call, core, manager, { manager.tell($0, of: call.store, onUpdate) }, { onUpdate(.sync(SyncUpdate($0))) })
      call.cancellation?.onCancel { manager.cancel(state.id) }
    case .cleanResyncGhosts: try cleanGhosts(manager, call, onUpdate)
    case .verifySync: try verify(manager, call, onUpdate)
    case .restart: try restart(manager, call, onUpdate)
    case .fetchMetadata, .fetchLayout: try fetch(action, call, manager, onUpdate)
    default: return try answer(action, call, manager).serialized()
    }
    return nil
  }

  // MARK: Short actions

  private func answer(_ action: MobileSyncAction, _ call: ActionCall, _ manager: SyncManager) throws -> JSONValue {
    switch action {
    case .getSyncStatus: return try manager.getSyncStatus(try reference(call)).map { JSONValue.object($0.scriptJSON) } ?? [:]
    case .createSyncDown:
      let made = try manager.createSyncDown(
        target: call.object("target"), options: call.value("options")?.objectValue, soupName: call.string("soupName"),
        syncName: call.value("syncName")?.stringValue)
      return .object(made.scriptJSON)
    case .createSyncUp:
      let made = try manager.createSyncUp(
        target: call.object("target"), options: call.value("options")?.objectValue, soupName: call.string("soupName"),
        syncName: call.value("syncName")?.stringValue)
      return .object(made.scriptJSON)
    case .hasSyncWithName: return .bool(try manager.hasSyncWithName(call.string("syncName")))
    case .isStopping: return .bool(manager.isStopping)
    case .isStopped: return .bool(manager.isStopped)
    case .stop: manager.stop()
    case .resolveConflict: return try resolve(call, manager).map { .object($0) } ?? .null
    case .discardChanges:
      return .object(
        try manager.discardChanges(
          call.string("soupName"), entryIds: call.array("entryIds").compactMap(\.integerValue),
          fields: call.value("fields")?.arrayValue?.compactMap(\.stringValue), created: call.value("created")?.boolValue ?? false
        ).json)
    case .cancelSync: if let found = try manager.getSyncStatus(try reference(call)) { manager.cancel(found.id) }
    default: try manager.deleteSync(try reference(call))
    }
    return "OK"
  }

  /// Returns the sync's name if it is given, else its id. The bridge has checked that one of them is present.
  func reference(_ call: ActionCall) throws -> SyncReference {
    if let name = call.value("syncName")?.stringValue { return .name(name) }
    return .id(try call.integer("syncId"))
  }

  // MARK: Conflicts

  func conflicts(_ call: ActionCall, _ look: StoreLook) throws -> JSONValue {
    func has(_ key: String) -> Bool { !(call.value(key)?.isNull ?? true) }
    let soup = call.value("soupName")?.stringValue
    if has("entryId"), soup == nil { throw SyncError(.invalidArguments, "'entryId' needs 'soupName'") }
    let sync = has("syncId") || has("syncName") ? try reference(call) : nil
    let found: [SyncConflict]
    if let soup, has("entryId") {
      found = try look.conflict(inSoup: soup, entryId: call.integer("entryId")).map { [$0] } ?? []
    } else {
      found = try look.conflicts(inSoup: soup, sync: sync, run: call.value("run")?.integerValue)
    }
    return .array(found.map { .object($0.json) })
  }

  private func resolve(_ call: ActionCall, _ manager: SyncManager) throws -> JSONObject? {
    let resolution: ConflictResolution
    if let record = call.value("record")?.objectValue {
      resolution = .record(record)
    } else {
      switch call.value("resolution")?.stringValue {
      case "local": resolution = .local
      case "server": resolution = .server
      case let word:
        throw SyncError(
          .invalidArguments, "resolution must be \"local\" or \"server\", or give a record; got '\(word ?? "nothing")'")
      }
    }
    return try manager.resolveConflict(
      inSoup: call.string("soupName"), entryId: call.integer("entryId"), with: resolution)
  }

  // MARK: Long actions

  private func start(
    _ action: MobileSyncAction, _ call: ActionCall, _ core: HostCore, _ manager: SyncManager,
    _ onConflict: @escaping SyncManager.ConflictListener, _ report: @escaping SyncManager.Listener
  ) throws -> SyncState {
    switch action {
    case .reSync:
      return try manager.reSync(
        try reference(call), maxRequests: try maxRequests(call), onConflict: onConflict, onUpdate: report)
    case .ensureSync:
      var definition = JSONObject()
      for key in ["syncName", "syncType", "soupName", "target", "options"] { definition[key] = call.value(key) }
      return try manager.ensureSync(definition, onConflict: onConflict, onUpdate: report)
    case .applyPlan:
      return try manager.applyPlan(call.object("plan"), server: core.planServer, onConflict: onConflict, onUpdate: report)
    case .refresh: return try manager.refresh(try reference(call), onConflict: onConflict, onUpdate: report)
    case .more: return try manager.more(try reference(call), onConflict: onConflict, onUpdate: report)
    default: break
    }
    let target = try call.object("target"), options = call.value("options")?.objectValue
    let soup = try call.string("soupName"), name = call.value("syncName")?.stringValue
    return try action == .syncDown
      ? manager.syncDown(
        target: target, options: options, soupName: soup, syncName: name, onConflict: onConflict, onUpdate: report)
      : manager.syncUp(
        target: target, options: options, soupName: soup, syncName: name, onConflict: onConflict, onUpdate: report)
  }

  /// Applies a plan if the server lets all of it go, which the run's looks show.
  private func applyAll(
    _ manager: SyncManager, _ call: ActionCall, _ server: @escaping @Sendable (SyncState) throws -> JSONObject,
    _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let plan = try call.object("plan"), store = call.store, cancellation = call.cancellation
    manager.launch {
      do {
        try await manager.checkPlan(plan, server: server)
        let state = try manager.applyPlan(
          plan, allOrNothing: true, server: server, onConflict: { manager.tell($0, of: store, onUpdate) },
          onUpdate: { onUpdate(.sync(SyncUpdate($0))) })
        cancellation?.onCancel { manager.cancel(state.id) }
      } catch {
        onUpdate(.failed(SyncError(wrapping: error)))
      }
    }
  }

  private func cleanGhosts(
    _ manager: SyncManager, _ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let reference = try reference(call)
    let force = call.value("force")?.boolValue ?? false
    try manager.cleanResyncGhosts(
      reference, force: force, maxRequests: try maxRequests(call), onConflict: { manager.tell($0, of: call.store, onUpdate) }
    ) { result in
      switch result {
      case .success(let count): onUpdate(.finished(JSONValue.integer(Int64(count)).serialized()))
      case .failure(let error): onUpdate(.failed(error))
      }
    }
    if let cancellation = call.cancellation, let id = try manager.getSyncStatus(reference)?.id {
      cancellation.onCancel { manager.cancel(id) }
    }
  }

  /// Restarts the syncs. The call returns their final states, sorted by id, once they have all ended.
  private func restart(
    _ manager: SyncManager, _ call: ActionCall, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let ended = EndedSyncs()
    let started = try manager.restart(restartStopped: call.value("restartStopped")?.boolValue ?? false) { state in
      if state.status.isTerminal { ended.states.withLock { $0.append(state) } }
    }
    manager.whenEnded(started) {
      let states = ended.states.withLock { $0.sorted { $0.id < $1.id } }
      onUpdate(.finished(JSONValue.array(states.map { .object($0.scriptJSON) }).serialized()))
    }
  }

  private func fetch(
    _ action: MobileSyncAction, _ call: ActionCall, _ manager: SyncManager,
    _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) throws {
    let word = call.value("fetchMode")?.stringValue ?? FetchMode.cacheFirst.rawValue
    guard let mode = FetchMode(rawValue: word) else {
      throw SyncError(
        .invalidArguments, "fetchMode must be \(FetchMode.allCases.map(\.rawValue).joined(separator: ", ")), got '\(word)'")
    }
    let type = try call.string("sobjectType")
    @Sendable func finish(_ result: Result<JSONObject?, any Error>) {
      switch result {
      case .success(let record): onUpdate(.finished((record.map(JSONValue.object) ?? .null).serialized()))
      case .failure(let error): onUpdate(.failed(SyncError(wrapping: error)))
      }
    }
    if action == .fetchMetadata {
      try MetadataSyncManager(manager).fetchMetadata(forObject: type, mode: mode) { finish($0.map { $0?.rawData }) }
    } else {
      func part(_ key: String) -> String? { call.value(key)?.stringValue }
      let key = LayoutKey(
        type, formFactor: part("formFactor"), layoutType: part("layoutType"), mode: part("mode"),
        recordTypeId: part("recordTypeId"))
      try LayoutSyncManager(manager).fetchLayout(key, mode: mode) { finish($0.map { $0?.rawData }) }
    }
  }
}

extension SyncUpdate {
  init(_ state: SyncState) {
    self.init(
      syncId: state.id, isTerminal: state.status.isTerminal, state: JSONValue.object(state.scriptJSON).serialized(),
      error: state.status == .failed
        ? (state.failure ?? SyncError(.internalError, state.error)).bridgeError : nil)
  }
}

extension SyncManager {
  /// Sends a `syncConflict` event for each conflict. Its detail is read when the event is delivered, so only the soup and the
  /// entry id are held until then; a conflict that has been resolved in the meantime sends no event.
  fileprivate func tell(
    _ conflicts: [SyncConflict], of store: StoreReference, _ onUpdate: @escaping @Sendable (CallUpdate) -> Void
  ) {
    for (soup, entryId) in conflicts.map({ ($0.soupName, $0.entryId) }) {
      onUpdate(
        .event {
          guard var detail = (try? self.conflict(inSoup: soup, entryId: entryId))?.json else {
            return JSONValue.object([:]).serialized()
          }
          detail["isGlobalStore"] = .bool(store.isGlobal)
          detail["storeName"] = .string(store.name)
          return JSONValue.object(["event": "syncConflict", "detail": .object(detail)]).serialized()
        })
    }
  }
}

/// Collects the final states of several syncs.
private final class EndedSyncs: Sendable {
  let states = Mutex<[SyncState]>([])
}
