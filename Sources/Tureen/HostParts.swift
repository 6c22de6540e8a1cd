import Dispatch
import Logging
import LuaBridge
import MobileSync
import RestClient
import RestCollections
import Salesforce
import SmartStore
import Support
import Synchronization

/// The parts of a host that do not depend on the current user.
struct HostParts: Sendable {
  let home: String
  /// The final settings.
  let settings: HostSettings
  let folder: ConfigurationFolder
  let targets: ScriptTargets
  /// What the script may use.
  let capabilities: Capabilities
  /// Sends the host's events to the script.
  let events: HostEvents
  /// The named connections.
  let connections: RestConnections
  /// The files that syncs of collections have downloaded.
  let assets: AssetFolder
  /// The global stores, which all users share.
  let globalStores: StoreRegistry
  /// Called for each request to the org.
  let userAgent: @Sendable () -> String
  let transport: TransportConfiguration
  let logger = Logger.tureen("host")
  private let cursorIds: CursorIds
  private let storeKey: HostStoreKey

  static let standardApiVersion = "v66.0"
  var apiVersion: String { settings.apiVersion ?? HostParts.standardApiVersion }
  /// The tokens of the session that scripts may see.
  var visibleTokens: Account.VisibleTokens {
    guard capabilities.allows("com.salesforce.oauth") else { return .none }
    return settings.allowsRefreshToken && !capabilities.isRestricted ? .all : .access
  }
  var clock: RetryEnvironment { settings.clock }
  var visibleAccounts: VisibleAccounts {
    guard capabilities.allows("com.salesforce.sfaccountmanager") else { return .one }
    return settings.accounts ?? settings.accountsByDefault ?? .one
  }

  init(
    home: String, settings: HostSettings, folder: ConfigurationFolder, targets: ScriptTargets, events: HostEvents,
    userAgent: @escaping @Sendable () -> String
  ) throws {
    self.home = home
    self.settings = settings
    self.folder = folder
    self.targets = targets
    self.events = events
    self.userAgent = userAgent
    assets = AssetFolder(home: home)
    if settings.isRestricted { Store.limitMemory() }
    let capabilities = try Capabilities(settings)
    self.capabilities = capabilities
    let authorities = try settings.trustedCertificates()
    var transport = TransportConfiguration()
    transport.authorities = authorities
    transport.proxies = settings.proxies
    transport.log = settings.requestLog?.log
    self.transport = transport
    connections = HostParts.connections(home, settings, folder, authorities, capabilities.hosts, userAgent)
    let cursorIds = CursorIds(), storeKey = HostStoreKey(settings.storeKey)
    (self.cursorIds, self.storeKey) = (cursorIds, storeKey)
    globalStores = HostParts.registry(HostParts.globalDirectory(home), ("", ""), home, settings, cursorIds, storeKey)
  }

  static func globalDirectory(_ home: String) -> String { "\(home)/global/stores" }

  private static func registry(
    _ userDirectory: String, _ owner: (org: String, user: String), _ home: String, _ settings: HostSettings,
    _ cursorIds: CursorIds, _ storeKey: HostStoreKey
  ) -> StoreRegistry {
    let logger = Logger.tureen("host"), level = settings.history ?? .all
    var actor = settings.actor ?? HistoryActor(.host, name: ProcessIdentity.current.command)
    actor.version = Tureen.version
    // A worker has started the script.
    if settings.job != nil { actor.kind = .job }
    return StoreRegistry(
      engines: engines(userDirectory, owner, home, settings, storeKey), cursorIds: cursorIds, looksOnly: settings.leavesStores
    ) { [actor] store in
      // The store keeps the closure, which must not keep the store.
      let name = store.name
      store.keepHistory(level, of: actor) { logger.error("the history of store '\(name)' cannot be written: \($0)") }
    }
  }

  /// Returns what opens the stores of one user and the global ones: the one place that knows where
  /// stores are kept.
  private static func engines(
    _ userDirectory: String, _ owner: (org: String, user: String), _ home: String, _ settings: HostSettings,
    _ storeKey: HostStoreKey
  ) -> any StoreEngines {
    if let store = settings.store {
      return store.engines(
        org: owner.org, user: owner.user, password: settings.storePassword, looksOnly: settings.leavesStores)
    }
    let logger = Logger.tureen("host")
    return SQLiteEngines(
      userDirectory: userDirectory, globalDirectory: globalDirectory(home),
      recovery: settings.recover == "moveAside" ? .moveAside { logger.warning("\($0)") } : .refuse,
      key: { try storeKey.read() })
  }

  /// Returns the budget of API calls that an org's hosts share; nil without the setting.
  /// - Parameter org: The name of the org's folder.
  func budget(org: String) -> OrgBudget? {
    guard let calls = settings.apiBudget, let store = settings.store else { return nil }
    return OrgBudget(calls, org: org, database: store.connector(settings.storePassword), now: clock.milliseconds)
  }

  private static func connections(
    _ home: String, _ settings: HostSettings, _ folder: ConfigurationFolder, _ authorities: TrustedCertificates?,
    _ hosts: ReachableHosts?, _ userAgent: @escaping @Sendable () -> String
  ) -> RestConnections {
    var environment = RestConnection.Environment(home: home, secrets: ConnectionSecrets.reading)
    environment.userAgent = userAgent
    environment.authorities = authorities
    environment.proxies = settings.proxies
    environment.log = settings.requestLog?.log
    environment.isOffline = settings.isOffline
    environment.reachableHosts = hosts
    environment.logger = Logger.tureen("host")
    environment.observer = SyncTrafficObserver()
    let connections = RestConnections(settings.connections(over: folder.connections), environment: environment)
    if settings.isOffline { connections.report(isOnline: false) }
    return connections
  }

  /// Returns the registry of one user's stores.
  /// - Parameters:
  ///   - org: The name of the org's folder.
  ///   - user: The name of the user's folder in it.
  func registry(org: String, user: String) -> StoreRegistry {
    HostParts.registry(userFolder(org, user) + "/stores", (org, user), home, settings, cursorIds, storeKey)
  }

  /// Closes connections and global stores. Call it after the user's own parts are closed. Blocks.
  func close() {
    Blocking.run { [connections] in await connections.shutdown() }
    globalStores.close()
    storeKey.forget()
  }
}

/// Reads the key of a host's stores once and caches it for all users. Usable from any thread; blocks while the key is read.
private final class HostStoreKey: Sendable {
  private let source: StoreKeySource?
  private let found = Mutex<StoreKey?>(nil)
  private let finding = DispatchQueue(label: "tureen.host.key")

  init(_ source: StoreKeySource?) { self.source = source }

  func read() throws -> StoreKey? {
    guard let source else { return nil }
    return try finding.sync {
      if let known = found.withLock({ $0 }) { return known }
      let key = try source.read()
      found.withLock { $0 = key }
      return key
    }
  }

  func forget() { found.withLock { $0 = nil } }
}
