import Dispatch
import JSON
import LuaBridge
import MobileSync
import RestClient
import Salesforce
import SmartStore
import Synchronization

/// The current user of a host: the client with the session, the user's stores, and the syncs that run as this user, including
/// those of global stores.
final class ActiveUser: Sendable {
  private struct State {
    var managers: [StoreReference: SyncManager] = [:]
    /// The stores for which the soups of the configuration files are registered.
    var prepared: Set<StoreReference> = []
    /// The syncs that ``pauseSyncs()`` stopped and ``resumeSyncs()`` restarts.
    var paused: [PausedSyncs] = []
    var hasEnded = false
  }

  let org: Org
  let client: DeferredClient
  /// The user's own stores; the global ones belong to the host.
  let stores: StoreRegistry
  /// The script's pending calls on behalf of this user.
  let calls = CallsInFlight()
  let usage: OrgUsage
  private let budget: OrgBudget?
  let parts: HostParts
  private let state = Mutex(State())
  /// Serializes the creation of managers, which two queues may request at the same time.
  private let opening = DispatchQueue(label: "tureen.host.opening")
  /// Serializes the registration of the soups of the configuration files.
  private let preparing = DispatchQueue(label: "tureen.host.preparing")

  /// Does not open stores or connections.
  /// - Parameter session: The user's previous session if it is not stored in the home.
  init(_ org: Org, parts: HostParts, session: Session? = nil) {
    self.org = org
    self.parts = parts
    stores = parts.registry(org: org.folder, user: org.userFolder)
    let budget = parts.budget(org: org.folder)
    self.budget = budget
    let usage = OrgUsage(
      folder: parts.orgFolder(org.folder), reserve: parts.settings.apiReserve ?? .calls(0), now: parts.clock.milliseconds,
      onUse: { budget?.note($0) })
    self.usage = usage
    let connection = OrgConnection(
      org: org, store: org.keepsSession ? parts.sessionStore(org: org.folder, user: org.userFolder) : nil,
      session: session, apiVersion: parts.apiVersion, transport: parts.transport, events: parts.events, usage: usage,
      budget: budget,
      visibleTokens: parts.visibleTokens, reachableHosts: parts.capabilities.hosts, isSandboxOnly: parts.settings.isSandboxOnly,
      noteSandbox: { isSandbox in parts.note(isSandbox: isSandbox, org: org.folder) }, clock: parts.clock,
      userAgent: parts.userAgent)
    client = DeferredClient(apiVersion: parts.apiVersion) { try connection.open() }
  }

  // MARK: Stores

  func registry(isGlobal: Bool) -> StoreRegistry { isGlobal ? parts.globalStores : stores }

  /// Opens a store. The default store gets the soups of the configuration files first.
  func store(_ reference: StoreReference) throws -> Store {
    let store = try registry(isGlobal: reference.isGlobal).store(named: reference.name, isGlobal: reference.isGlobal)
    guard reference.name == StoreReference.defaultName, !parts.settings.leavesStores else { return store }
    try prepare(reference, store)
    return store
  }

  /// Registers the soups of the configuration files once. If that fails, for example because another process is writing, the
  /// next call tries again.
  private func prepare(_ reference: StoreReference, _ store: Store) throws {
    guard !state.withLock({ $0.prepared.contains(reference) }) else { return }
    try preparing.sync {
      guard !state.withLock({ $0.prepared.contains(reference) }) else { return }
      try (reference.isGlobal ? parts.folder.globalStore : parts.folder.userStore)?.apply(to: store)
      state.withLock { _ = $0.prepared.insert(reference) }
    }
  }

  /// Registers the soups of `userstore.json` or `globalstore.json` that the default store does not have yet.
  /// - Returns: The names of the soups in the file; empty without a file.
  func setUpStore(isGlobal: Bool) throws -> [String] {
    guard let definition = isGlobal ? parts.folder.globalStore : parts.folder.userStore else { return [] }
    try definition.apply(to: try store(StoreReference(name: StoreReference.defaultName, isGlobal: isGlobal)))
    return definition.soups.map(\.name)
  }

  // MARK: Syncs

  /// Returns the sync manager of a store. For the default store it has the named syncs of the configuration files.
  func manager(_ reference: StoreReference) throws -> SyncManager {
    try opening.sync {
      let (known, hasEnded) = state.withLock { ($0.managers[reference], $0.hasEnded) }
      guard !hasEnded else { throw HostError(.closed, "the host is closed, or works for another user now") }
      guard !parts.settings.leavesStores else { throw StoreError(.notReadOnly, "this host only looks into its stores") }
      if let known { return known }
      let manager = try SyncManager.instance(
        for: try store(reference), client: client, targets: .host(parts.connections, assets: parts.assets),
        configuration: configuration(isGlobal: reference.isGlobal))
      if reference.name == StoreReference.defaultName, let file = syncs(isGlobal: reference.isGlobal) {
        // The manager logs each problem and sets up the valid entries.
        _ = manager.setupSyncs(from: file.value, fileName: file.name)
      }
      state.withLock { $0.managers[reference] = manager }
      return manager
    }
  }

  private func configuration(isGlobal: Bool) -> SyncConfiguration {
    var configuration = SyncConfiguration()
    configuration.customTargets = parts.targets
    configuration.resolvers = parts.targets
    configuration.definesOnlyRegisteredCode = parts.settings.isRestricted
    configuration.job = parts.settings.job
    if let seconds = parts.settings.leaseSeconds { configuration.leaseMs = seconds * 1_000 }
    configuration.restraint = { [usage] in usage.refusal(isNew: $0) }
    if isGlobal {
      configuration.findOrg = { [client] in
        let session = try await client.account().session()
        // A given session may lack the org id, but always has a URL.
        return session.orgId.isEmpty ? WebAddress(session.instanceURL)?.host ?? session.instanceURL : session.orgId
      }
    }
    return configuration
  }

  private func syncs(isGlobal: Bool) -> JSONFile? { isGlobal ? parts.folder.globalSyncs : parts.folder.userSyncs }

  /// Saves the syncs of `usersyncs.json` or `globalsyncs.json` that are missing in the default store or differ there.
  /// - Returns: The names of the syncs in the file; empty without a file.
  /// - Throws: ``HostError`` `.invalidConfiguration` listing every invalid entry; the valid ones are set up.
  func setUpSyncs(isGlobal: Bool) throws -> [String] {
    guard let file = syncs(isGlobal: isGlobal) else { return [] }
    let manager = try manager(StoreReference(name: StoreReference.defaultName, isGlobal: isGlobal))
    let problems = manager.setupSyncs(from: file.value, fileName: file.name)
    guard problems.isEmpty else { throw HostError(.invalidConfiguration, problems.joined(separator: "; ")) }
    return (file.value["syncs"]?.arrayValue ?? []).compactMap { $0["syncName"]?.stringValue }
  }

  func forget(_ reference: StoreReference) {
    let manager = state.withLock { state in
      state.prepared.remove(reference)
      return state.managers.removeValue(forKey: reference)
    }
    if let manager { Blocking.run { await manager.shutdown() } }
  }

  func forgetAll(isGlobal: Bool) {
    for reference in state.withLock({ Array($0.managers.keys) + Array($0.prepared) }) where reference.isGlobal == isGlobal {
      forget(reference)
    }
  }
}

// MARK: - The session

extension ActiveUser {
  /// Removes the session from memory and from its file, and revokes it at the login host if that is reachable. Keeps the
  /// stores.
  func signOut() async throws {
    try await client.account().signOut()
  }
}

/// The syncs of one store that were stopped by a pause.
private struct PausedSyncs {
  let store: StoreReference
  let manager: SyncManager
  let ids: [Int64]
}

// MARK: - Pause and end

extension ActiveUser {
  func stopSyncs() {
    for manager in state.withLock({ Array($0.managers.values) }) { manager.stop() }
  }

  /// Stops the running syncs and refuses new ones until ``resumeSyncs()``. Managers that were already stopped are not resumed.
  func pauseSyncs() {
    for (store, manager) in state.withLock({ $0.managers }) where !manager.isStopping && !manager.isStopped {
      let ids = manager.runningSyncs
      manager.stop()
      state.withLock { $0.paused.append(PausedSyncs(store: store, manager: manager, ids: ids)) }
    }
  }

  /// Accepts syncs again and restarts those that ``pauseSyncs()`` stopped; `sync` events report their progress. Waits until the
  /// stopped runs have ended.
  func resumeSyncs() {
    let paused = state.withLock { state in
      defer { state.paused = [] }
      return state.paused
    }
    for entry in paused {
      Blocking.run { await entry.manager.waitUntilIdle() }
      // Another caller may have restarted the manager.
      guard entry.manager.isStopped, (try? entry.manager.restart(restartStopped: false, onUpdate: { _ in })) != nil else {
        continue
      }
      for id in entry.ids { runAgain(id, entry.manager, entry.store) }
    }
  }

  private func runAgain(_ id: Int64, _ manager: SyncManager, _ store: StoreReference) {
    do {
      guard let state = try manager.getSyncStatus(.id(id)), state.status == .stopped else { return }
      try manager.reSync(.id(id)) { [events = parts.events] in events.syncChanged($0, in: store) }
    } catch {
      parts.logger.warning("sync \(id) was not resumed: \(error)")
    }
  }

  /// Cancels everything that runs as this user and closes the user's stores. Blocks; may be called twice.
  func close() {
    let managers = takeManagers()
    Blocking.run { [client] in
      for manager in managers { await manager.shutdown() }
      await client.shutdown()
    }
    closeFiles()
  }

  /// Ends the user's work before a switch to another user: waits for pending calls and stops the syncs at their next page, or
  /// at once when `limit` expires. Blocks.
  func end(_ limit: WaitLimit) {
    let managers = takeManagers()
    for manager in managers { manager.stop() }
    Blocking.run { [calls, client, clock = parts.clock] in
      let ending = Task {
        await limit.wait(seconds: Tuning.switchSeconds, clock)
        for manager in managers { await manager.shutdown() }
      }
      for manager in managers { await manager.waitUntilIdle() }
      await calls.waitForAnswers()
      limit.end()
      await ending.value
      await client.shutdown()
    }
  }

  private func takeManagers() -> [SyncManager] {
    opening.sync {
      state.withLock { state in
        state.hasEnded = true
        // A later resume must not restart them.
        state.paused = []
        defer { state.managers = [:] }
        return Array(state.managers.values)
      }
    }
  }

  /// Closes the stores. Call it after ``end(_:)``, once the observers of the stores have been closed.
  func closeFiles() {
    usage.close()
    budget?.close()
    stores.close()
  }
}
