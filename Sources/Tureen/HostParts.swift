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

/// What a host is made of, for any of its users.
struct HostParts: Sendable {
  let home: String
  /// Final.
  let settings: HostSettings
  let folder: ConfigurationFolder
  let targets: ScriptTargets
  /// Tells the script of what happens to the host.
  let events: HostEvents
  /// The named servers.
  let connections: RestConnections
  /// The files that syncs of collections fetched.
  let assets: AssetFolder
  /// The stores that belong to no user.
  let globalStores: StoreRegistry
  /// Asked for each request to the org.
  let userAgent: @Sendable () -> String
  let transport: TransportConfiguration
  let logger = Logger(label: "tureen.host")
  private let cursorIds: CursorIds
  private let storeKey: HostStoreKey

  static let standardApiVersion = "v66.0"
  var apiVersion: String { settings.apiVersion ?? HostParts.standardApiVersion }
  /// What scripts get of the session.
  var shownTokens: Account.ShownTokens { Account.ShownTokens(settings) }
  var clock: RetryEnvironment { settings.clock }
  var visibleAccounts: VisibleAccounts { settings.isRestricted ? .one : settings.accounts ?? settings.accountsByDefault ?? .one }

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
    let authorities = try settings.trustedCertificates()
    var transport = TransportConfiguration()
    transport.authorities = authorities
    transport.log = settings.requestLog?.log
    self.transport = transport
    connections = HostParts.connections(home, settings, folder, authorities, userAgent)
    let cursorIds = CursorIds(), storeKey = HostStoreKey(settings.storeKey)
    (self.cursorIds, self.storeKey) = (cursorIds, storeKey)
    globalStores = HostParts.registry(HostParts.globalDirectory(home), home, settings, cursorIds, storeKey)
  }

  private static func globalDirectory(_ home: String) -> String { "\(home)/global/stores" }

  private static func registry(
    _ userDirectory: String, _ home: String, _ settings: HostSettings, _ cursorIds: CursorIds, _ storeKey: HostStoreKey
  ) -> StoreRegistry {
    let logger = Logger(label: "tureen.host")
    return StoreRegistry(
      userDirectory: userDirectory, globalDirectory: globalDirectory(home),
      recovery: settings.recover == "moveAside" ? .moveAside { logger.warning("\($0)") } : .refuse, cursorIds: cursorIds,
      key: { try storeKey.read() })
  }

  private static func connections(
    _ home: String, _ settings: HostSettings, _ folder: ConfigurationFolder, _ authorities: TrustedCertificates?,
    _ userAgent: @escaping @Sendable () -> String
  ) -> RestConnections {
    var environment = RestConnection.Environment(home: home, secrets: ConnectionSecrets.reading)
    environment.userAgent = userAgent
    environment.authorities = authorities
    environment.log = settings.requestLog?.log
    environment.isOffline = settings.isOffline
    environment.logger = Logger(label: "tureen.host")
    environment.observer = SyncTrafficObserver()
    let connections = RestConnections(settings.connections(over: folder.connections), environment: environment)
    if settings.isOffline { connections.report(isOnline: false) }
    return connections
  }

  /// The stores of one user.
  func registry(userDirectory: String) -> StoreRegistry {
    HostParts.registry(userDirectory, home, settings, cursorIds, storeKey)
  }

  /// After the users' own parts are closed. Blocks.
  func close() {
    Blocking.run { [connections] in await connections.shutdown() }
    globalStores.close()
    storeKey.forget()
  }
}

/// The key of a host's stores, which is asked for once for all users. Any thread; blocks while it is found.
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
