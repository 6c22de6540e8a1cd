import Dispatch
import JSON
import Logging
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Synchronization

/// The native core for one script or embedding program: the stores, the syncs and the client of one org.
///
/// Resources are opened on demand: stores open without a network, and the first sync or request contacts the org. Usable from
/// any thread; calls block while they open something.
public final class Host: BridgeHost {
  private struct State {
    var settings: HostSettings
    var folder: ConfigurationFolder?
    var core: HostCore?
    var features: Set<String> = []
    var isClosed = false
  }

  private let state: Mutex<State>
  private let targets = ScriptTargets()
  let events: HostEvents
  /// The services that programs and scripts add to those of the Mobile SDK.
  public let plugins: Plugins
  private let program: ProgramSessions
  /// The browser sign-in that the script has started.
  let logins = HostLogins()
  /// Serializes the C API's reports of pause and resume, because resuming waits for stopped syncs to end.
  let lifeReports = DispatchQueue(label: "tureen.host.life")

  /// - Parameter settings: The settings of the command line or the embedding program. `tureen.configure` takes precedence.
  public init(settings: HostSettings = HostSettings()) {
    state = Mutex(State(settings: settings))
    let events = HostEvents(targets)
    self.events = events
    let logger = Logger.tureen("plugin")
    plugins = Plugins(isRestricted: settings.isRestricted, allowed: settings.allowedServices) { logger.warning("\($0)") }
    for (name, handler) in settings.services { plugins.add(name, handler) }
    program = ProgramSessions { events.sessionNeeded($0) }
    events.userAgent.withLock { $0 = { [weak self] in self?.userAgent ?? "" } }
  }

  /// Reads and checks the configuration files, so that their errors are reported before a script runs.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key;
  ///   ``SmartStore/StoreError`` `.encryptionUnavailable` if the stores have a key and this build does not support encryption.
  public func prepare() throws {
    try state.withLock { state in
      if let directory = state.settings.configDirectory {
        state.folder = try ConfigurationFolder(directory, state.settings)
      }
      _ = try Capabilities(state.settings)
      var settings = state.settings
      settings.fill(from: try .environment())
      if let inFolder = state.folder?.settings { settings.fill(from: inFolder) }
      try settings.checkOwnHome(HostSettings.resolvedHome(settings.home))
      _ = try settings.trustedCertificates()
      for connection in settings.connections(over: state.folder?.connections ?? []) {
        do {
          _ = try RestConnections.authorities(of: connection)
        } catch {
          throw HostError(.invalidConfiguration, "\(error)")
        }
      }
      try settings.checkStores()
    }
  }

  /// Returns the running core. The first call creates it.
  func core() throws -> HostCore {
    try state.withLock { state in
      guard !state.isClosed else { throw HostError(.closed, "the host is closed") }
      if let core = state.core { return core }
      let core = try Host.build(&state, targets, events, program) { [weak self] in self?.userAgent ?? "tureen" }
      state.core = core
      return core
    }
  }

  /// - Parameter userAgent: Called for each request to the org.
  private static func build(
    _ state: inout State, _ targets: ScriptTargets, _ events: HostEvents, _ program: ProgramSessions,
    userAgent: @escaping @Sendable () -> String
  ) throws -> HostCore {
    let (settings, home) = try settle(&state), folder = state.folder ?? ConfigurationFolder()
    let org =
      try settings.looksOnly ? Org.lookedUp(settings, home: home) : Org.resolve(settings, home: home, program: program)
    let parts = try HostParts(
      home: home, settings: settings, folder: folder, targets: targets, events: events, userAgent: userAgent)
    try folder.check(.host(parts.connections))
    return HostCore(org: org, parts: parts)
  }

  /// Returns a new, unused host with the same settings.
  func unusedCopy() -> Host { Host(settings: state.withLock { $0.settings }) }

  /// Returns the settings, completed from the environment and the configuration files, and the home.
  private static func settle(_ state: inout State) throws -> (settings: HostSettings, home: String) {
    var settings = state.settings
    settings.fill(from: try .environment())
    if state.folder == nil, let directory = settings.configDirectory {
      state.folder = try ConfigurationFolder(directory, settings)
    }
    if let folder = state.folder { settings.fill(from: folder.settings) }
    let home = try HostSettings.resolvedHome(settings.home)
    try settings.checkOwnHome(home)
    return (settings, home)
  }

  /// Returns the completed settings and the home. Also works before the first use of a store or an org.
  func settledSettings() throws -> (settings: HostSettings, home: String) { try state.withLock { try Host.settle(&$0) } }

  /// The running core; nil before the first use and after ``shutdown()``.
  var runningCore: HostCore? { state.withLock { $0.core } }

  /// The script that receives events; nil before it runs.
  var attachedScript: ScriptCalls? { targets.attached }

  /// Answers the event `sessionNeeded` with `{"accessToken", "instanceUrl", "identityUrl"?}`, or with `{"error", "message"}` if
  /// the program has no session. Callable from any thread; never blocks.
  ///
  /// - Returns: False if no request is waiting for a session.
  /// - Throws: ``HostError`` `.invalidConfiguration` for any other JSON; the host then continues to wait.
  @discardableResult
  public func giveSession(_ json: JSONValue) throws -> Bool { program.give(try GivenSession(json)) }

  // MARK: BridgeHost

  public func attach(_ script: ScriptCalls) { targets.attach(script) }

  public func configure(_ options: JSONObject) throws {
    try state.withLock { state in
      guard state.core == nil else {
        throw HostError(.alreadyInUse, "tureen.configure comes before the first use of a store or a sync")
      }
      var given = HostSettings()
      try given.take(options) { HostError(.invalidConfiguration, "configure: '\($0)' \($1)") }
      var folder = state.folder
      if let directory = given.configDirectory {
        folder = try ConfigurationFolder(directory, state.settings)
      }
      given.clock = state.settings.clock
      (given.looksOnly, given.asksOnly) = (state.settings.looksOnly, state.settings.asksOnly)
      given.fill(from: state.settings)
      state.settings = given
      state.folder = folder
    }
  }

  public func sdkInfo() throws -> JSONObject {
    let boot = state.withLock { $0.folder?.bootConfig ?? [:] }
    var config: JSONObject = [
      "remoteAccessConsumerKey": "", "oauthRedirectURI": "", "oauthScopes": [], "isLocal": true, "startPage": "index.html",
      "errorPage": "error.html", "shouldAuthenticate": true, "attemptOfflineLoad": true,
    ]
    for (key, value) in boot { config[key] = value }
    return [
      "sdkVersion": .string(Tureen.modelVersion), "appName": boot["appName"] ?? "tureen",
      "appVersion": boot["appVersion"] ?? .string(Tureen.version), "bootConfig": .object(config),
    ]
  }

  public func setFeature(_ name: String, isUsed: Bool) {
    state.withLock { state in
      if !isUsed {
        state.features.remove(name)
      } else if state.features.count < Self.mostFeatures {
        state.features.insert(name)
      }
    }
  }

  /// Features that are sent; more would make the header too large for servers.
  private static let mostFeatures = 100

  /// Returns what the script may use.
  /// - Throws: ``HostError`` `.invalidConfiguration` for an unknown name among the allowed ones.
  func capabilities() throws -> Capabilities {
    try runningCore?.parts.capabilities ?? Capabilities(state.withLock { $0.settings })
  }

  /// True if scripts must not access the files of this machine.
  var isRestricted: Bool { state.withLock { $0.settings.isRestricted } }

  /// The `User-Agent` header: name, version, and the features that scripts have registered.
  var userAgent: String {
    let features = state.withLock { $0.features.sorted() }
    return "tureen/\(Tureen.version)" + (features.isEmpty ? "" : " ftr_" + features.joined(separator: "."))
  }

  /// Stops the syncs at their next page boundary, then closes the stores and connections. Blocks until all is closed; may be
  /// called twice.
  public func shutdown() {
    let core = state.withLock { state in
      state.isClosed = true
      defer { state.core = nil }
      return state.core
    }
    program.close()
    logins.close()
    core?.close()
  }

  /// Asks every running sync to stop at its next page boundary; their final updates are still delivered. Abandons a sign-in that
  /// waits for a person. Callable from any thread.
  public func stopSyncs() {
    runningCore?.user.stopSyncs()
    logins.interrupt()
  }
}

/// Facts about this build.
public enum Tureen {
  public static let version = "0.2.0"
  /// The version of the Mobile SDK whose plug-ins are mirrored.
  public static let modelVersion = "14.0.0"
}
