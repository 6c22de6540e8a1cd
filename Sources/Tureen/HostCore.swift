import Dispatch
import Glibc
import JSON
import Logging
import LuaBridge
import MobileSync
import RestClient
import RestCollections
import Salesforce
import SmartStore
import Support
import Synchronization

/// A host in use: the parts of ``Host`` once its settings are final.
final class HostCore: Sendable {
  private struct State {
    var managers: [StoreReference: SyncManager] = [:]
    /// Stores whose soups from the configuration files are registered.
    var prepared: Set<StoreReference> = []
    /// What ``pauseSyncs()`` ended, to be run again.
    var paused: [PausedSyncs] = []
    var isClosed = false
  }

  /// Syncs of one store that were ended to be run again.
  private struct PausedSyncs {
    let store: StoreReference
    let manager: SyncManager
    let ids: [Int64]
  }

  let home: String
  let registry: StoreRegistry
  let observers = Observers()
  let client: DeferredClient
  /// The named servers.
  let connections: RestConnections
  /// The files that syncs of collections fetched.
  let assets: AssetFolder
  /// What scripts get of the session.
  let shownTokens: Account.ShownTokens
  /// Tells the script of what happens to the host.
  let events: HostEvents
  private let folder: ConfigurationFolder
  private let targets: ScriptTargets
  private let state = Mutex(State())
  /// Managers are made one after the other: two lanes may ask at the same time.
  private let opening = DispatchQueue(label: "tureen.host.opening")
  /// So are the soups of the configuration files.
  private let preparing = DispatchQueue(label: "tureen.host.preparing")

  init(
    home: String, org: Org, settings: HostSettings, authorities: TrustedCertificates?, folder: ConfigurationFolder,
    targets: ScriptTargets, events: HostEvents, userAgent: @escaping @Sendable () -> String
  ) {
    self.home = home
    assets = AssetFolder(home: home)
    let shownTokens = Account.ShownTokens(settings)
    self.shownTokens = shownTokens
    self.targets = targets
    self.folder = folder
    self.events = events
    let userDirectory = "\(home)/orgs/\(org.folder)/\(org.userFolder)"
    let logger = Logger(label: "tureen.host")
    registry = StoreRegistry(
      userDirectory: userDirectory + "/stores", globalDirectory: "\(home)/global/stores",
      recovery: settings.recover == "moveAside" ? .moveAside { logger.warning("\($0)") } : .refuse,
      key: { [source = settings.storeKey] in try source?.read() })
    let version = settings.apiVersion ?? "v66.0"
    var transport = TransportConfiguration()
    transport.authorities = authorities
    let log = settings.requestLog?.log
    transport.log = log
    var environment = RestConnection.Environment(home: home, secrets: ConnectionSecrets.reading)
    environment.userAgent = userAgent
    environment.authorities = authorities
    environment.log = log
    environment.isOffline = settings.isOffline
    environment.logger = logger
    environment.observer = SyncTrafficObserver()
    connections = RestConnections(settings.connections(over: folder.connections), environment: environment)
    if settings.isOffline { connections.report(isOnline: false) }
    let connection = OrgConnection(
      org: org, store: org.sessionStore(settings, in: userDirectory), apiVersion: version,
      transport: transport, events: events, shownTokens: shownTokens, userAgent: userAgent)
    client = DeferredClient(apiVersion: version) { try connection.open() }
  }

  /// A store, with what the configuration files say it has from the start.
  func store(_ reference: StoreReference) throws -> Store {
    let store = try registry.store(named: reference.name, isGlobal: reference.isGlobal)
    guard reference.name == StoreReference.defaultName else { return store }
    try prepare(reference, store)
    return store
  }

  /// Registers the soups of the configuration files. When that fails, say because another process writes, the next call tries
  /// again.
  private func prepare(_ reference: StoreReference, _ store: Store) throws {
    guard !state.withLock({ $0.prepared.contains(reference) }) else { return }
    try preparing.sync {
      guard !state.withLock({ $0.prepared.contains(reference) }) else { return }
      try (reference.isGlobal ? folder.globalStore : folder.userStore)?.apply(to: store)
      state.withLock { _ = $0.prepared.insert(reference) }
    }
  }

  /// The sync manager of a store; named syncs of the configuration files are there.
  func manager(_ reference: StoreReference) throws -> SyncManager {
    try opening.sync {
      let (known, isClosed) = state.withLock { ($0.managers[reference], $0.isClosed) }
      guard !isClosed else { throw HostError(.closed, "the host is closed") }
      if let known { return known }
      var configuration = SyncConfiguration()
      configuration.customTargets = targets
      configuration.resolvers = targets
      let manager = try SyncManager.instance(
        for: try store(reference), client: client, targets: .host(connections, assets: assets),
        configuration: configuration)
      if reference.name == StoreReference.defaultName, let file = reference.isGlobal ? folder.globalSyncs : folder.userSyncs {
        // Each problem is logged by the manager itself; entries without one are set up.
        _ = manager.setupSyncs(from: file.value, fileName: file.name)
      }
      state.withLock { $0.managers[reference] = manager }
      return manager
    }
  }

  /// Registers the soups of `userstore.json` or `globalstore.json` that are missing in the default store.
  /// - Returns: The soups that the file names; nothing without one.
  func setUpStore(isGlobal: Bool) throws -> [String] {
    guard let definition = isGlobal ? folder.globalStore : folder.userStore else { return [] }
    try definition.apply(to: try store(StoreReference(name: StoreReference.defaultName, isGlobal: isGlobal)))
    return definition.soups.map(\.name)
  }

  /// Saves the syncs of `usersyncs.json` or `globalsyncs.json` that are missing in the default store or defined otherwise there.
  /// - Returns: The syncs that the file names; nothing without one.
  /// - Throws: ``HostError`` `.invalidConfiguration` with every entry that was refused; the others are set up.
  func setUpSyncs(isGlobal: Bool) throws -> [String] {
    guard let file = isGlobal ? folder.globalSyncs : folder.userSyncs else { return [] }
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

  /// Ends the session, here, in the file it was kept in, and, if it can be reached, at the login host. Stores stay.
  func signOut() async throws {
    try await client.account().signOut()
  }

  func stopSyncs() {
    for manager in state.withLock({ Array($0.managers.values) }) { manager.stop() }
  }

  /// Ends what runs and refuses what is new, until ``resumeSyncs()``. Managers that were stopped already stay so.
  func pauseSyncs() {
    for (store, manager) in state.withLock({ $0.managers }) where !manager.isStopping && !manager.isStopped {
      let ids = manager.runningSyncs
      manager.stop()
      state.withLock { $0.paused.append(PausedSyncs(store: store, manager: manager, ids: ids)) }
    }
  }

  /// Accepts syncs again, and runs again those that ``pauseSyncs()`` ended; their news are `sync` events. Waits until the old
  /// runs have ended.
  func resumeSyncs() {
    let paused = state.withLock { state in
      defer { state.paused = [] }
      return state.paused
    }
    for entry in paused {
      Blocking.run { await entry.manager.waitUntilIdle() }
      // Another caller may have restarted them.
      guard entry.manager.isStopped, (try? entry.manager.restart(restartStopped: false, onUpdate: { _ in })) != nil else {
        continue
      }
      for id in entry.ids { runAgain(id, entry.manager, entry.store) }
    }
  }

  private func runAgain(_ id: Int64, _ manager: SyncManager, _ store: StoreReference) {
    do {
      guard let state = try manager.getSyncStatus(.id(id)), state.status == .stopped else { return }
      try manager.reSync(.id(id)) { [events] in events.syncChanged($0, in: store) }
    } catch {
      Logger(label: "tureen.host").warning("sync \(id) was not resumed: \(error)")
    }
  }

  /// One order: no new managers, syncs end, connections end, stores close.
  func close() {
    let managers = state.withLock { state in
      state.isClosed = true
      defer { state.managers.removeAll() }
      return Array(state.managers.values)
    }
    Blocking.run { [client, connections] in
      for manager in managers { await manager.shutdown() }
      await connections.shutdown()
      await client.shutdown()
    }
    registry.close()
  }
}
