import Dispatch
import JSON
import Logging
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Synchronization

/// The native core as one value: stores, syncs and the client of one org, for one script or one embedding tool.
///
/// Nothing is opened before it is needed: stores open without a network, and the org is reached with the first sync. Any
/// thread may call it; calls block while they open something.
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
  /// What programs and scripts add to the services of the model.
  public let plugins: Plugins
  private let program: ProgramSessions
  /// The sign-in that the script has begun.
  let logins = HostLogins()
  /// Where the C API's reports of pause and resume wait for one another: going on waits for syncs to end.
  let lifeReports = DispatchQueue(label: "tureen.host.life")

  /// - Parameter settings: The command line's or the embedding tool's choices; `tureen.configure` goes before them.
  public init(settings: HostSettings = HostSettings()) {
    state = Mutex(State(settings: settings))
    let events = HostEvents(targets)
    self.events = events
    let logger = Logger(label: "tureen.plugin")
    plugins = Plugins(isRestricted: settings.isRestricted) { logger.warning("\($0)") }
    for (name, handler) in settings.services {
      plugins.add(name, isSafe: settings.safeServices.contains(name), handler)
    }
    program = ProgramSessions { events.sessionNeeded($0) }
    events.userAgent.withLock { $0 = { [weak self] in self?.userAgent ?? "" } }
  }

  /// Reads and checks the configuration files, so that their mistakes come out before a script runs.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file, the line and the key;
  ///   ``SmartStore/StoreError`` `.encryptionUnavailable` when a key is set for the stores and this build has no use for it.
  public func prepare() throws {
    try state.withLock { state in
      if let directory = state.settings.configDirectory {
        state.folder = try ConfigurationFolder(
          HostSettings.absolute(directory), isRestricted: state.settings.isRestricted)
      }
      var settings = state.settings
      settings.fill(from: try .environment())
      if let inFolder = state.folder?.settings { settings.fill(from: inFolder) }
      try HostSettings.checkHome(HostSettings.resolvedHome(settings.home))
      _ = try settings.trustedCertificates()
      for connection in settings.connections(over: state.folder?.connections ?? []) {
        do {
          _ = try RestConnections.authorities(of: connection)
        } catch {
          throw HostError(.invalidConfiguration, "\(error)")
        }
      }
      guard settings.storeKey == nil || StoreKey.isSupported else { throw StoreKey.unavailable }
    }
  }

  /// What is running, built with the first call that needs it.
  func core() throws -> HostCore {
    try state.withLock { state in
      guard !state.isClosed else { throw HostError(.closed, "the host is closed") }
      if let core = state.core { return core }
      let core = try Host.build(&state, targets, events, program) { [weak self] in self?.userAgent ?? "tureen" }
      state.core = core
      return core
    }
  }

  /// - Parameter userAgent: Asked for each request to the org.
  private static func build(
    _ state: inout State, _ targets: ScriptTargets, _ events: HostEvents, _ program: ProgramSessions,
    userAgent: @escaping @Sendable () -> String
  ) throws -> HostCore {
    let (settings, home) = try settle(&state), folder = state.folder ?? ConfigurationFolder()
    let org = try Org.resolve(settings, home: home, program: program)
    let parts = try HostParts(
      home: home, settings: settings, folder: folder, targets: targets, events: events, userAgent: userAgent)
    try folder.check(.host(parts.connections))
    return HostCore(org: org, parts: parts)
  }

  /// Another host with the same settings, which is not in use yet.
  func likewise() -> Host { Host(settings: state.withLock { $0.settings }) }

  /// The settings with everything that fills them, and the home.
  private static func settle(_ state: inout State) throws -> (settings: HostSettings, home: String) {
    var settings = state.settings
    settings.fill(from: try .environment())
    if state.folder == nil, let directory = settings.configDirectory {
      state.folder = try ConfigurationFolder(HostSettings.absolute(directory), isRestricted: settings.isRestricted)
    }
    if let folder = state.folder { settings.fill(from: folder.settings) }
    let home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(home)
    return (settings, home)
  }

  /// The same, also before the first use of a store or of an org.
  func settledSettings() throws -> (settings: HostSettings, home: String) { try state.withLock { try Host.settle(&$0) } }

  /// What is running; nil before the first use and after the end.
  var runningCore: HostCore? { state.withLock { $0.core } }

  /// The script that hears of events; nil before it runs.
  var attachedScript: ScriptCalls? { targets.attached }

  /// Answers the event `sessionNeeded`: `{"accessToken", "instanceUrl", "identityUrl"?}`, or `{"error", "message"}` when the
  /// program has no session to give. Any thread; never blocks.
  ///
  /// - Returns: False when nothing waits for a session.
  /// - Throws: ``HostError`` `.invalidConfiguration` for anything else; the host then goes on waiting.
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
        folder = try ConfigurationFolder(HostSettings.absolute(directory), isRestricted: state.settings.isRestricted)
      }
      given.clock = state.settings.clock
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
      if isUsed { _ = state.features.insert(name) } else { _ = state.features.remove(name) }
    }
  }

  /// Whether restricted scripts may call a service.
  func isSafe(_ service: String) -> Bool { state.withLock { $0.settings.safeServices.contains(service) } }

  /// Whether scripts are kept from this machine's files.
  var isRestricted: Bool { state.withLock { $0.settings.isRestricted } }

  /// What the server reads about this program: name, version, and the features scripts have registered.
  var userAgent: String {
    let features = state.withLock { $0.features.sorted() }
    return "tureen/\(Tureen.version)" + (features.isEmpty ? "" : " ftr_" + features.joined(separator: "."))
  }

  /// Stops the syncs at their next page boundary, then closes stores and connections. Waits for all of it; safe twice.
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

  /// Asks every running sync to stop at its next page boundary; their last updates still come. A sign-in that waits for a person
  /// is given up. Any thread.
  public func stopSyncs() {
    runningCore?.user.stopSyncs()
    logins.interrupt()
  }
}

/// Facts about this build.
public enum Tureen {
  public static let version = "0.1.0"
  /// The version of the plug-in model that is mirrored.
  public static let modelVersion = "14.0.0"
}
