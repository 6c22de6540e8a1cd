import Glibc
import JSON
import LuaBridge
import RestClient
import Salesforce
import SmartStore
import Support

/// Everything that can be chosen about a host. What is nil is looked for in the next place: `tureen.configure`, then the
/// command line, then the environment, then `bootconfig.json`, then the default.
public struct HostSettings: Sendable {
  /// Where stores, sessions and the sandbox live.
  public var home: String?
  /// `sandbox`, `sf:ALIAS`, the address of an org, or the name of one that the home knows.
  public var org: String?
  /// The user of the org; nil is the one who signed in last.
  public var user: String?
  /// Whether an org that is not a sandbox is refused before anything is sent to its data. Never set by a script or a file.
  public var isSandboxOnly = false
  /// A JSON file that says how to sign in; `SignInKeys` lists its keys.
  public var credentialsFile: String?
  /// Whether `bootconfig.json` named that file: a script's folder must not name programs that are run.
  var credentialsFileIsOfScript = false
  /// Whether `bootconfig.json` named the home, whose files then name no programs either.
  var homeIsOfScript = false
  /// Whether the program around the host signs in: `"signIn": "program"`. The event `sessionNeeded` asks it for sessions,
  /// `tureen_give_session` or ``Host/giveSession(_:)`` gives them. Never set by a script or a file.
  public var asksProgram = false
  /// The same for a program in Swift: called where the event would be told. It has 120 s.
  public var askForSession: (@Sendable (SessionNeed) async throws -> Session)?
  /// Such as `v66.0`.
  public var apiVersion: String?
  /// A file of certificates in PEM that are trusted beside the machine's own.
  public var caFile: String?
  /// The folder of `bootconfig.json`, `userstore.json`, `usersyncs.json` and their global counterparts.
  public var configDirectory: String?
  /// What happens to a store whose file is damaged: `refuse`, the default, or `moveAside`.
  public var recover: String?
  /// Where the key of the stores comes from; nil keeps plain files. Needs a build with the trait `Encryption`.
  public var storeKey: StoreKeySource?
  /// A program that keeps sessions in place of `session.json`, with its arguments. Never set by `bootconfig.json`: a script's
  /// folder must not name programs that get tokens.
  public var sessionCommand: [String]?
  /// Starts, or finds, an embedded sandbox org for a home; nil where none can be embedded. Blocks.
  public var embeddedSandbox: (@Sendable (_ home: String) throws -> Credentials)?

  /// Services beside the model's own that are one blocking function, by name. A handler gets the action and its arguments, and
  /// returns nil for an action it does not know. Runs on a lane of the bridge, one call of a store after the other; may block.
  /// ``Host/register(_:)`` adds plug-ins that answer later, tell progress and hear of cancellation.
  public var services: [String: Plugins.BlockingHandler] = [:]

  /// The names of the services and plug-ins that restricted scripts may call. All others are refused there with
  /// `bridge` `restricted`.
  public var safeServices: Set<String> = []

  /// Whether scripts that ask for the credentials get the refresh token too. Never set by a script or a file.
  public var allowsRefreshToken = false

  /// Whether scripts are kept from the files of this machine: `sendRequest` then takes no `fileParams`. Never set by a script or
  /// a file. See `ScriptLimits.isRestricted` for the rest.
  public var isRestricted = false

  /// True: requests to connections are answered from what is stored, or fail; none is sent. The org is asked as always.
  public var isOffline = false

  /// Named servers. A name that also stands in `connections.json` means the one given here.
  public var connections: [ConnectionSettings] = []

  /// How many of the org's API calls syncs leave to others; nil leaves it to the org to refuse.
  public var apiReserve: ApiReserve?

  /// Which of the home's accounts scripts see; nil means the current one alone. A restricted script never sees more.
  public var accounts: VisibleAccounts?

  /// The same where neither a script nor a file says it; nil is ``VisibleAccounts/one``.
  public var accountsByDefault: VisibleAccounts?

  /// What waits and time limits go by; tests have their own.
  package var clock = RetryEnvironment.live

  /// A log of every request, to the org and to connections; nil leaves it to what each connection says, and the org's to none.
  public var requestLog: RequestLogSettings?

  public init() {}

  /// Keys of `tureen.configure`, of `bootconfig.json` and of `tureen_open` that are Tureen's own.
  static let keys =
    [
      "home", "org", "user", "credentials", "apiVersion", "caFile", "config", "recover", "connections", "logRequests",
      "logRequestsFile", "accounts", "apiReserve", "sessionCommand", "signIn",
    ]
    + StoreKeySource.keys

  /// Takes settings from an object, over those that stand.
  /// - Parameters:
  ///   - known: Further keys that may stand there and are not looked at.
  ///   - allowsProgram: Whether a program gives these options, which can sign in itself.
  mutating func take(
    _ options: JSONObject, known: Set<String> = [], allowsProgram: Bool = false, problem: (String, String) -> HostError
  ) throws {
    try takeStoreKey(options, problem: problem)
    for (key, value) in options where !known.contains(key) && !StoreKeySource.keys.contains(key) {
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
      case "recover":
        guard ["refuse", "moveAside"].contains(text) else { throw problem(key, "must be refuse or moveAside") }
        recover = text
      default: configDirectory = text
      }
    }
    if asksProgram, options["credentials"] != nil {
      throw problem("credentials", "stands beside 'signIn': either the program signs in, or the host does")
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

  /// The connections in force: those given here, then those of `others` with another name.
  func connections(over others: [ConnectionSettings]) -> [ConnectionSettings] {
    connections + others.filter { other in !connections.contains { $0.name.lowercased() == other.name.lowercased() } }
  }

  private mutating func takeStoreKey(_ options: JSONObject, problem: (String, String) -> HostError) throws {
    let given = StoreKeySource.keys.filter { options[$0] != nil }
    guard let key = given.first, let value = options[key] else { return }
    guard given.count == 1 else { throw problem(given[1], "stands beside '\(key)': one key is enough") }
    guard let source = StoreKeySource(key, value) else { throw problem(key, StoreKeySource.shape(of: key)) }
    storeKey = source
  }

  /// Fills what is nil from another set of settings.
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
    recover = recover ?? other.recover
    accounts = accounts ?? other.accounts
    accountsByDefault = accountsByDefault ?? other.accountsByDefault
    apiReserve = apiReserve ?? other.apiReserve
    storeKey = storeKey ?? other.storeKey
    sessionCommand = sessionCommand ?? other.sessionCommand
    configDirectory = configDirectory ?? other.configDirectory
    embeddedSandbox = embeddedSandbox ?? other.embeddedSandbox
    allowsRefreshToken = allowsRefreshToken || other.allowsRefreshToken
    isRestricted = isRestricted || other.isRestricted
    isOffline = isOffline || other.isOffline
    requestLog = requestLog ?? other.requestLog
    connections = connections(over: other.connections)
    services.merge(other.services) { mine, _ in mine }
    safeServices.formUnion(other.safeServices)
  }

  /// The environment's word: `TUREEN_HOME`, `TUREEN_ORG`, `TUREEN_CREDENTIALS`, `TUREEN_API_VERSION`, `TUREEN_CA_FILE`,
  /// `TUREEN_LOG_REQUESTS`, `TUREEN_STORE_KEY`, `TUREEN_SESSION_COMMAND` and their like.
  static func environment() throws -> HostSettings {
    try LogSetup.check()
    var settings = HostSettings()
    settings.home = Environment["TUREEN_HOME"]
    settings.org = Environment["TUREEN_ORG"]
    settings.credentialsFile = Environment["TUREEN_CREDENTIALS"]
    settings.apiVersion = Environment["TUREEN_API_VERSION"]
    settings.caFile = Environment["TUREEN_CA_FILE"]
    settings.storeKey = try StoreKeySource.environment()
    if let line = Environment["TUREEN_SESSION_COMMAND"] {
      guard let words = StoreKeySource.words(line) else {
        throw HostError(.invalidConfiguration, "TUREEN_SESSION_COMMAND \(StoreKeySource.shape(of: "storeKeyCommand"))")
      }
      settings.sessionCommand = words
    }
    settings.requestLog = try RequestLogSettings.environment()
    return settings
  }

  /// What `caFile` holds.
  /// - Throws: ``HostError`` `.invalidConfiguration`, which names the file.
  func trustedCertificates() throws -> TrustedCertificates? {
    guard let caFile else { return nil }
    guard let text = FileSystem.read(caFile) else {
      throw HostError(.invalidConfiguration, "\(caFile): the file of certificates to trust cannot be read")
    }
    guard let found = TrustedCertificates(pem: text) else {
      throw HostError(.invalidConfiguration, "\(caFile): the file of certificates to trust holds none in PEM, or a damaged one")
    }
    return found
  }

  private static func isVersion(_ text: String) -> Bool {
    guard text.hasPrefix("v"), text.hasSuffix(".0") else { return false }
    let digits = text.dropFirst().dropLast(2)
    return !digits.isEmpty && digits.allSatisfy(\.isNumber)
  }

  /// `$XDG_DATA_HOME/tureen`, else `~/.local/share/tureen`.
  /// - Throws: ``HostError`` `.invalidConfiguration` when the user has no home directory.
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

  /// As the system's list of users has it; nil when that has no directory which is there.
  private static func homeOfUser() -> String? {
    guard let entry = getpwuid(geteuid()), let directory = entry.pointee.pw_dir else { return nil }
    let path = String(cString: directory)
    return path.isEmpty || path == "/" || !FileSystem.exists(path) ? nil : path
  }

  /// The home in force for the command line's own purposes.
  /// - Throws: ``HostError`` `.invalidConfiguration` when nothing says where it is.
  public static func resolvedHome(_ given: String?) throws -> String {
    absolute(try given ?? Environment["TUREEN_HOME"] ?? defaultHome())
  }

  /// Makes sure that no other user can put a session or a store into a home, or take over the sandbox's.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the folder and what to do. One that is not there yet is fine.
  public static func checkHome(_ home: String) throws { try PrivateFile.checkFolder(home, what: "the home") }

  static func absolute(_ path: String) -> String {
    if path.hasPrefix("/") { return path }
    guard let current = getcwd(nil, 0) else { return path }
    defer { free(current) }
    var rest = path[...]
    while rest.hasPrefix("./") { rest = rest.dropFirst(2) }
    return String(cString: current) + (rest.isEmpty || rest == "." ? "" : "/" + rest)
  }
}

/// The process's environment; an empty variable counts as none.
enum Environment {
  static subscript(_ name: String) -> String? {
    guard let value = getenv(name) else { return nil }
    let text = String(cString: value)
    return text.isEmpty ? nil : text
  }
}

/// Which of a home's accounts scripts see and may switch to.
public enum VisibleAccounts: String, Sendable {
  /// The current one.
  case one
  /// All that have a session.
  case home
}
