import Glibc
import JSON
import LuaBridge
import RestClient
import Salesforce
import SmartStore
import Support

/// The settings of a host. A value that is nil is taken from the next source, in this order: `tureen.configure`, the command
/// line, the environment, `bootconfig.json`, the default.
public struct HostSettings: Sendable {
  /// The folder of stores, sessions and the sandbox org.
  public var home: String?
  /// The org: `sandbox`, `sf:ALIAS`, an address, or a name that the home knows.
  public var org: String?
  /// The user of the org; nil for the one who signed in last.
  public var user: String?
  /// True for a program that only looks into stores: they are read without being created, migrated or recovered, no secret of
  /// a sign-in is read, and everything that would write fails. Scripts and files cannot set it.
  package var looksOnly = false
  /// True for a program that asks servers and only looks into stores. It signs in as others do. Scripts and files cannot set it.
  package var asksOnly = false
  /// Whether stores are only looked at.
  var leavesStores: Bool { looksOnly || asksOnly }
  /// True to refuse orgs that are not sandboxes before any data request is sent. Scripts and files cannot set it.
  public var isSandboxOnly = false
  /// A JSON file with credentials; `SignInKeys` lists its keys.
  public var credentialsFile: String?
  /// True if `bootconfig.json` names that file. The file then must not name programs to run.
  var credentialsFileIsOfScript = false
  /// True if `bootconfig.json` names the home. The credentials files in it then must not name programs either.
  var homeIsOfScript = false
  /// True if the embedding program signs in (`"signIn": "program"`). The event `sessionNeeded` asks it for a session, and it
  /// answers with `tureen_give_session` or ``Host/giveSession(_:)``. Scripts and files cannot set it.
  public var asksProgram = false
  /// The variant for Swift programs: called instead of sending the event. It must return within 120 s.
  public var askForSession: (@Sendable (SessionRequest) async throws -> Session)?
  /// The API version, such as `v66.0`.
  public var apiVersion: String?
  /// A PEM file of certificates to trust in addition to the system's.
  public var caFile: String?
  /// The proxy for other machines, in place of the environment's. Its exceptions, in `NO_PROXY`, still hold.
  public var proxy: ProxySetting?
  /// What `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY` say; nil if the environment was not read.
  var environmentProxies: Proxies?
  /// The folder of `bootconfig.json`, `userstore.json`, `usersyncs.json` and their global counterparts.
  public var configDirectory: String?
  /// Folders whose configuration files are used completely although other users could have written them, in addition to those
  /// in `TUREEN_TRUST`. Absolute paths. Scripts and files cannot set it.
  public var trustedFolders: [String] = []
  /// How to handle a damaged store file: `refuse` (the default) or `moveAside`.
  public var recover: String?
  /// The source of the stores' key; nil for unencrypted files. Needs a build with the trait `Encryption`.
  public var storeKey: StoreKeySource?

  /// The database of the stores; nil for SQLite files in the home.
  public var store: StoreDatabase?

  /// The source of the database's password; nil for that of the address, or libpq's own sources.
  public var storePassword: StoreKeySource?
  /// A program, with its arguments, that stores sessions instead of `session.json`. Cannot be set in `bootconfig.json`, because
  /// a script's folder must not name a program that gets tokens.
  public var sessionCommand: [String]?
  /// Starts or finds the embedded sandbox org of a home; nil if this program cannot embed one. Blocks.
  public var embeddedSandbox: (@Sendable (_ home: String) throws -> Credentials)?

  /// Additional services, each with a single blocking function, by name. A handler gets the action and its arguments, and
  /// returns nil for an unknown action. It runs on a queue of the bridge, one call per store at a time, and may block.
  /// ``Host/register(_:)`` adds plug-ins that answer asynchronously, report progress and support cancellation.
  public var services: [String: Plugins.BlockingHandler] = [:]

  /// The names of the services and plug-ins that a restricted script may use completely. Without its name here, a service of
  /// Tureen offers it only the org's data in the current user's stores, and other services fail with `bridge` `restricted`.
  /// Unknown names are errors. Scripts and files cannot set it.
  public var allowedServices: Set<String> = []

  /// The hosts that a restricted script may reach besides those of the org, directly or through ``connections``, such as
  /// `api.example.com` or `localhost:8080`. Wildcards are errors. Requests to others fail with `network` `restricted`. Scripts
  /// and files cannot set it.
  public var allowedHosts: Set<String> = []

  /// True if `getAuthCredentials` and `getUsers` return the refresh token, too. Scripts and files cannot set it.
  public var allowsRefreshToken = false

  /// True if scripts must not access the files of this machine: `sendRequest` then refuses `fileParams`. Scripts and files
  /// cannot set it. See `ScriptLimits.isRestricted` for the rest.
  public var isRestricted = false

  /// True to answer requests to connections from their caches only; uncached requests fail. Requests to the org are not
  /// affected.
  public var isOffline = false

  /// Named connections. They take precedence over connections with the same name in `connections.json`.
  public var connections: [ConnectionSettings] = []

  /// The number of the org's API calls that syncs leave to other clients; nil for no reserve.
  public var apiReserve: ApiReserve?

  /// The API calls a day that all hosts with stores in one PostgreSQL database may make to the org; nil for no limit. Needs
  /// ``store``.
  public var apiBudget: Int64?

  /// Seconds for which a sync stays reserved for this host without a sign of life, 3 at least; nil for 30. All hosts of a
  /// database should have the same value.
  public var leaseSeconds: Int64?

  /// How much of its history a store keeps; nil for all.
  public var history: HistoryLevel?

  /// The program behind the writes, as the history names it; nil for the name of this process. Scripts and files cannot set it.
  public var actor: HistoryActor?

  /// The attempt of a job that this process works for, as in `tureen job runs`. Scripts and files cannot set it.
  package var job: String?

  /// The accounts of the home that scripts see; nil for the current one only. A restricted script sees others only if
  /// ``allowedServices`` contains `com.salesforce.sfaccountmanager`.
  public var accounts: VisibleAccounts?

  /// The value of ``accounts`` if no other source sets it; nil for ``VisibleAccounts/one``.
  public var accountsByDefault: VisibleAccounts?

  /// The clock of waits and time limits. Tests replace it.
  package var clock = RetryEnvironment.live

  /// Logs every request to the org and to connections. nil: each connection uses its own setting, and requests to the org are not
  /// logged.
  public var requestLog: RequestLogSettings?

  public init() {}

  /// Tureen's own keys in `tureen.configure`, `bootconfig.json` and `tureen_open`.
  static let keys =
    [
      "home", "org", "user", "credentials", "apiVersion", "caFile", "proxy", "config", "recover", "connections", "logRequests",
      "logRequestsFile", "accounts", "apiBudget", "apiReserve", "history", "sessionCommand", "signIn", "store",
    ]
    + StoreKeySource.keys + StoreDatabase.passwordKeys

  private static let historyShape = "must be all, names or off"
  private static let budgetShape = "must be a number of API calls a day, such as 15000"

  /// Returns true for a setting of a script's folder that chooses something outside the folder: an org, an account, a home, a
  /// file or a program. The other settings concern the user's own stores and requests; so does the sandbox org.
  static func reachesOutside(_ key: String, _ value: JSONValue) -> Bool {
    let harmless = ["apiVersion", "apiBudget", "apiReserve", "history", "logRequests", "recover"]
    guard keys.contains(key), !harmless.contains(key) else { return false }
    return key != "org" || value.stringValue != Org.sandboxName
  }

  /// Reads settings from an object. They replace the current ones.
  /// - Parameters:
  ///   - known: Further keys that are allowed and ignored.
  ///   - allowsProgram: True if the options come from a program, which may sign in itself.
  mutating func take(
    _ options: JSONObject, known: Set<String> = [], allowsProgram: Bool = false, problem: (String, String) -> HostError
  ) throws {
    try takeStoreKey(options, problem: problem)
    try takeStorePassword(options, problem: problem)
    for (key, value) in options
    where !known.contains(key) && !StoreKeySource.keys.contains(key) && !StoreDatabase.passwordKeys.contains(key) {
      guard HostSettings.keys.contains(key) else {
        throw problem(key, KnownKeys(HostSettings.keys + known.sorted()).complaint(about: key))
      }
      if key == "sessionCommand" {
        guard let words = StoreKeySource.words(value) else { throw problem(key, StoreKeySource.shape(of: "storeKeyCommand")) }
        sessionCommand = words
        continue
      }
      if key == "connections" {
        try takeConnections(value, problem: problem)
        continue
      }
      if key == "apiReserve" {
        guard let reserve = ApiReserve(value) else {
          throw problem(key, "must be a number of API calls, such as 500, or a part of them, such as \"10%\"")
        }
        apiReserve = reserve
        continue
      }
      if key == "apiBudget" {
        guard let calls = value.integerValue, calls > 0 else {
          throw problem(key, HostSettings.budgetShape)
        }
        apiBudget = calls
        continue
      }
      guard let text = value.stringValue, !text.isEmpty else { throw problem(key, "must be a string, not \(value.kindName)") }
      switch key {
      case "home": home = text
      case "org": org = text
      case "user": user = text
      case "credentials": credentialsFile = text
      case "apiVersion":
        guard HostSettings.isVersion(text) else { throw problem(key, "must look like v66.0") }
        apiVersion = text
      case "caFile": caFile = text
      case "proxy":
        guard let setting = ProxySetting(text) else { throw problem(key, ProxySetting.shape) }
        proxy = setting
      case "store":
        do {
          store = try StoreDatabase(text)
        } catch let error as HostError {
          throw problem(key, "cannot be used: \(error.message)")
        }
      case "logRequests":
        guard let level = RequestLogSettings.level(text) else { throw problem(key, RequestLogSettings.complaint(text)) }
        requestLog = RequestLogSettings(level: level, file: requestLog?.file)
      case "logRequestsFile":
        requestLog = RequestLogSettings(level: requestLog?.level ?? .info, file: HostSettings.absolute(text))
      case "signIn":
        guard allowsProgram else { throw problem(key, "is for programs that open a host with tureen_open") }
        guard text == "program" else { throw problem(key, "must be program; every other way to sign in goes without it") }
        asksProgram = true
      case "accounts":
        guard let word = VisibleAccounts(rawValue: text) else { throw problem(key, "must be one or home") }
        accounts = word
      case "history":
        guard let level = HistoryLevel(rawValue: text) else { throw problem(key, HostSettings.historyShape) }
        history = level
      case "recover":
        guard ["refuse", "moveAside"].contains(text) else { throw problem(key, "must be refuse or moveAside") }
        recover = text
      default: configDirectory = text
      }
    }
    if asksProgram, options["credentials"] != nil {
      throw problem("credentials", "cannot be combined with 'signIn': either the program signs in, or the host does")
    }
  }

  private mutating func takeConnections(_ value: JSONValue, problem: (String, String) -> HostError) throws {
    guard let members = value.objectValue else { throw problem("connections", "must be an object, not \(value.kindName)") }
    do {
      let origin = ConnectionSettings.Origin(folder: HostSettings.absolute("."), allowsPlainSecrets: true)
      connections = try ConnectionSettings.read(members, from: origin)
    } catch {
      throw problem("connections", "cannot be used: \(error)")
    }
  }

  /// Returns the effective connections: those of these settings, and those of `others` with different names.
  func connections(over others: [ConnectionSettings]) -> [ConnectionSettings] {
    connections + others.filter { other in !connections.contains { $0.name.lowercased() == other.name.lowercased() } }
  }

  private mutating func takeStoreKey(_ options: JSONObject, problem: (String, String) -> HostError) throws {
    let given = StoreKeySource.keys.filter { options[$0] != nil }
    guard let key = given.first, let value = options[key] else { return }
    guard given.count == 1 else { throw problem(given[1], "cannot be combined with '\(key)': give one key") }
    guard let source = StoreKeySource(key, value) else { throw problem(key, StoreKeySource.shape(of: key)) }
    storeKey = source
  }

  private mutating func takeStorePassword(_ options: JSONObject, problem: (String, String) -> HostError) throws {
    let given = StoreDatabase.passwordKeys.filter { options[$0] != nil }
    guard let key = given.first, let value = options[key] else { return }
    guard given.count == 1 else { throw problem(given[1], "cannot be combined with '\(key)': give one password") }
    guard let source = StoreDatabase.password(key, value) else { throw problem(key, StoreDatabase.shape(of: key)) }
    storePassword = source
  }

  /// Throws if the stores can be opened neither with SQLite nor with PostgreSQL.
  func checkStores() throws {
    guard apiBudget == nil || store != nil else {
      throw HostError(
        .invalidConfiguration,
        "apiBudget is set, and no database: hosts count their calls in the PostgreSQL database that keeps the stores. Set "
          + "'store', or use apiReserve")
    }
    guard storeKey == nil || StoreKey.isSupported else { throw StoreKey.unavailable }
    guard storeKey == nil || store == nil else {
      throw HostError(
        .invalidConfiguration,
        "a key for the stores is set, and a database: the key encrypts files alone. Take one of them out of the settings")
    }
  }

  /// Fills in values that are nil from other settings.
  mutating func fill(from other: HostSettings) {
    if home == nil { (home, homeIsOfScript) = (other.home, other.homeIsOfScript) }
    asksProgram = asksProgram || other.asksProgram
    askForSession = askForSession ?? other.askForSession
    org = org ?? other.org
    user = user ?? other.user
    isSandboxOnly = isSandboxOnly || other.isSandboxOnly
    if credentialsFile == nil {
      (credentialsFile, credentialsFileIsOfScript) = (other.credentialsFile, other.credentialsFileIsOfScript)
    }
    apiVersion = apiVersion ?? other.apiVersion
    caFile = caFile ?? other.caFile
    proxy = proxy ?? other.proxy
    environmentProxies = environmentProxies ?? other.environmentProxies
    recover = recover ?? other.recover
    accounts = accounts ?? other.accounts
    accountsByDefault = accountsByDefault ?? other.accountsByDefault
    apiBudget = apiBudget ?? other.apiBudget
    leaseSeconds = leaseSeconds ?? other.leaseSeconds
    apiReserve = apiReserve ?? other.apiReserve
    history = history ?? other.history
    actor = actor ?? other.actor
    job = job ?? other.job
    storeKey = storeKey ?? other.storeKey
    store = store ?? other.store
    storePassword = storePassword ?? other.storePassword
    sessionCommand = sessionCommand ?? other.sessionCommand
    configDirectory = configDirectory ?? other.configDirectory
    trustedFolders += other.trustedFolders
    embeddedSandbox = embeddedSandbox ?? other.embeddedSandbox
    allowsRefreshToken = allowsRefreshToken || other.allowsRefreshToken
    isRestricted = isRestricted || other.isRestricted
    isOffline = isOffline || other.isOffline
    requestLog = requestLog ?? other.requestLog
    connections = connections(over: other.connections)
    services.merge(other.services) { mine, _ in mine }
    allowedServices.formUnion(other.allowedServices)
    allowedHosts.formUnion(other.allowedHosts)
  }

  /// Reads the settings of the environment: `TUREEN_HOME`, `TUREEN_ORG`, `TUREEN_CREDENTIALS`, `TUREEN_API_VERSION`,
  /// `TUREEN_CA_FILE`, `HTTPS_PROXY`, `TUREEN_LOG_REQUESTS`, `TUREEN_STORE_KEY`, `TUREEN_STORE`, `TUREEN_SESSION_COMMAND` and
  /// related variables.
  static func environment() throws -> HostSettings {
    try LogSetup.check()
    var settings = HostSettings()
    settings.home = Environment["TUREEN_HOME"]
    settings.org = Environment["TUREEN_ORG"]
    settings.credentialsFile = Environment["TUREEN_CREDENTIALS"]
    settings.apiVersion = Environment["TUREEN_API_VERSION"]
    settings.caFile = Environment["TUREEN_CA_FILE"]
    settings.environmentProxies = try environmentProxies()
    if let text = Environment["TUREEN_LEASE_SECONDS"] {
      guard let seconds = Int64(text), (3...3_600).contains(seconds) else {
        throw HostError(.invalidConfiguration, "TUREEN_LEASE_SECONDS must be a number of seconds from 3 to 3600")
      }
      settings.leaseSeconds = seconds
    }
    if let text = Environment["TUREEN_API_BUDGET"] {
      guard let calls = Int64(text), calls > 0 else {
        throw HostError(.invalidConfiguration, "TUREEN_API_BUDGET \(budgetShape)")
      }
      settings.apiBudget = calls
    }
    if let text = Environment["TUREEN_HISTORY"] {
      guard let level = HistoryLevel(rawValue: text) else {
        throw HostError(.invalidConfiguration, "TUREEN_HISTORY \(historyShape)")
      }
      settings.history = level
    }
    settings.job = Environment["TUREEN_JOB"]
    settings.storeKey = try StoreKeySource.environment()
    settings.store = try StoreDatabase.environment()
    settings.storePassword = try StoreDatabase.passwordOfEnvironment()
    if let line = Environment["TUREEN_SESSION_COMMAND"] {
      guard let words = StoreKeySource.words(line) else {
        throw HostError(.invalidConfiguration, "TUREEN_SESSION_COMMAND \(StoreKeySource.shape(of: "storeKeyCommand"))")
      }
      settings.sessionCommand = words
    }
    settings.requestLog = try RequestLogSettings.environment()
    return settings
  }

  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the variable.
  private static func environmentProxies() throws -> Proxies {
    do throws(Proxies.Problem) {
      return try Proxies.environment { Environment[$0] }
    } catch {
      throw HostError(.invalidConfiguration, error.description)
    }
  }

  /// The proxies for other machines.
  var proxies: Proxies { (environmentProxies ?? Proxies()).replaced(by: proxy, keepsExceptions: true) }

  /// Reads the certificates in `caFile`.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file.
  func trustedCertificates() throws -> TrustedCertificates? {
    guard let caFile else { return nil }
    guard let text = FileSystem.read(caFile) else {
      throw HostError(.invalidConfiguration, "\(caFile): the file of trusted certificates cannot be read")
    }
    guard let found = TrustedCertificates(pem: text) else {
      throw HostError(
        .invalidConfiguration, "\(caFile): the file of trusted certificates has no PEM certificate, or a damaged one")
    }
    return found
  }

  private static func isVersion(_ text: String) -> Bool {
    guard text.hasPrefix("v"), text.hasSuffix(".0") else { return false }
    let digits = text.dropFirst().dropLast(2)
    return !digits.isEmpty && digits.allSatisfy(\.isNumber)
  }

  /// Returns `$XDG_DATA_HOME/tureen`, else `~/.local/share/tureen`.
  /// - Throws: ``HostError`` `.invalidConfiguration` if the user has no home directory.
  public static func defaultHome() throws -> String { try defaultHome({ Environment[$0] }, ofUser: homeOfUser) }

  static func defaultHome(_ variable: (String) -> String?, ofUser: () -> String?) throws -> String {
    if let data = variable("XDG_DATA_HOME"), data.hasPrefix("/") { return data + "/tureen" }
    guard let own = variable("HOME") ?? ofUser(), own.hasPrefix("/") else {
      throw HostError(
        .invalidConfiguration,
        "there is no home directory to keep data in: set HOME, or name a folder with TUREEN_HOME or --home")
    }
    return own + "/.local/share/tureen"
  }

  /// Returns the home directory in the system's user database; nil if it does not exist.
  private static func homeOfUser() -> String? {
    guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else { return nil }
    let path = String(cString: directory)
    return path.isEmpty || path == "/" || !FileSystem.exists(path) ? nil : path
  }

  /// Returns the home that the command line uses: the given one, else that of the environment, else the default.
  /// - Throws: ``HostError`` `.invalidConfiguration` if there is none.
  public static func resolvedHome(_ given: String?) throws -> String {
    // The current folder would become a home.
    guard given?.isEmpty != true else { throw HostError(.invalidConfiguration, "the home is empty; name a folder, or none") }
    return absolute(try given ?? Environment["TUREEN_HOME"] ?? defaultHome())
  }

  /// Checks that no other user can place a session or a store in the home, or replace the sandbox's files.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the folder and the remedy. A missing folder is allowed.
  public static func checkHome(_ home: String) throws { try PrivateFile.checkFolder(home, what: "the home") }

  /// Checks a home that is only looked at.
  /// - Throws: `FileError` if its files may not be read; as ``checkHome(_:)``.
  static func checkHomeToLook(_ home: String) throws {
    try FileSystem.checkSearchable(home)
    try checkHome(home)
  }

  /// Checks the home for what these settings are for.
  func checkOwnHome(_ home: String) throws { try looksOnly ? Self.checkHomeToLook(home) : Self.checkHome(home) }

  package static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    return String(cString: current) + (rest.isEmpty || rest == "." ? "" : "/" + rest)
  }
}

/// Reads the process's environment. Empty variables count as unset.
enum Environment {
  static subscript(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}

/// The accounts of a home that scripts see and may switch to.
public enum VisibleAccounts: String, Sendable {
  /// The current account.
  case one
  /// All accounts with a session.
  case home
}
