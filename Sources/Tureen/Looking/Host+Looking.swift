import JSON
import LuaBridge
import MobileSync
import SmartStore

/// Implements the actions that only look: they change nothing and ask no org.
extension Host {
  /// Returns the answer of an action that only looks; nil for the others.
  ///
  /// - Note: `getConflicts` prepares the store as before, unless the host is for looking only.
  func look(_ action: MobileSyncAction, _ call: ActionCall, _ core: HostCore) throws -> JSONValue? {
    switch action {
    case .getOverview: return try overview(call, core)
    case .getDirtyEntries: return try dirtyEntries(call, try core.look(call.store))
    case .getRuns: return .object(try runs(call, try core.look(call.store)))
    case .getConflicts:
      let look = core.parts.settings.leavesStores ? try core.look(call.store) : try core.manager(call.store).look
      return try conflicts(call, look)
    default: return nil
    }
  }

  private func dirtyEntries(_ call: ActionCall, _ look: StoreLook) throws -> JSONValue {
    var states: Set<DirtyEntry.State>?
    if let word = call.value("state")?.stringValue {
      guard let state = DirtyEntry.State(rawValue: word) else {
        let known = DirtyEntry.State.allCases.map(\.rawValue).joined(separator: ", ")
        throw SyncError(.invalidArguments, "state must be one of \(known), got '\(word)'")
      }
      states = [state]
    }
    let found = try look.dirtyEntries(
      inSoup: call.value("soupName")?.stringValue, states: states, run: call.value("run")?.integerValue)
    let withValues = call.value("withValues")?.boolValue ?? false
    return .array(found.map { .object(withValues ? $0.jsonWithValues : $0.json) })
  }

  // MARK: The overview

  private func overview(_ call: ActionCall, _ core: HostCore) throws -> JSONValue {
    try core.parts.capabilities.require("com.salesforce.mobilesync", for: "mobilesync.getOverview")
    var object = try summary().json
    object["apiUsage"] = core.user.usage.latest().map { .object($0.json) } ?? .null
    object["stores"] = .array(try stores(call, core).map { .object(try storeOverview($0, core).json) })
    return .object(object)
  }

  /// Returns the store that the call names, else all existing ones.
  private func stores(_ call: ActionCall, _ core: HostCore) throws -> [StoreReference] {
    let given = try JSONValue(parsing: call.rawArguments).objectValue ?? [:]
    if given["storeName"]?.isNull == false || given["isGlobalStore"]?.isNull == false { return [call.store] }
    return try [false, true].flatMap { isGlobal in
      try core.user.registry(isGlobal: isGlobal).storeNames(isGlobal: isGlobal).map {
        StoreReference(name: $0, isGlobal: isGlobal)
      }
    }
  }

  /// Returns the overview of a store; the default store also has the syncs of the configuration files that no run has saved yet.
  private func storeOverview(_ reference: StoreReference, _ core: HostCore) throws -> StoreOverview {
    let user = core.user, soups = user.configuredSoups(in: reference), syncs = try user.configuredSyncs(in: reference)
    let isMissing =
      try core.parts.settings.leavesStores && !(soups.isEmpty && syncs.isEmpty)
      && !user.registry(isGlobal: reference.isGlobal).storeNames(isGlobal: reference.isGlobal)
        .contains { $0.hasSameBytes(as: reference.name) }
    var overview =
      try isMissing
      ? StoreOverview(
        missing: reference.name, isGlobal: reference.isGlobal,
        engine: core.parts.settings.store == nil ? "sqlite" : "postgres", history: core.parts.settings.history ?? .all)
      : core.look(reference).overview()
    overview.add(soups: soups.map { ($0.name, $0.indexSpecs) })
    overview.add(syncs)
    return overview
  }
}

extension HostCore {
  /// Looks into a store. In a host for looking only a missing store is an error; in others the call creates it, as the others do.
  func look(_ reference: StoreReference) throws -> StoreLook {
    // The fields of a target count, and no connection is needed for them.
    StoreLook(try store(reference), targets: .host(nil, assets: parts.assets), now: parts.clock.milliseconds)
  }
}

extension ActiveUser {
  /// Returns the soups of the configuration files for a store.
  func configuredSoups(in reference: StoreReference) -> [StoreConfiguration.SoupDefinition] {
    guard reference.name == StoreReference.defaultName else { return [] }
    return (reference.isGlobal ? parts.folder.globalStore : parts.folder.userStore)?.soups ?? []
  }

  /// Returns the syncs of the configuration files for a store.
  func configuredSyncs(in reference: StoreReference) throws -> [SyncDefinition] {
    guard reference.name == StoreReference.defaultName,
      let file = reference.isGlobal ? parts.folder.globalSyncs : parts.folder.userSyncs
    else { return [] }
    let targets = TargetRegistry.host(nil, assets: parts.assets)
    return try (file.value["syncs"]?.arrayValue ?? []).map { try SyncDefinition($0, targets: targets) }
  }
}
