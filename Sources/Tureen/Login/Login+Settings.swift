import Glibc
import JSON
import RestClient
import Salesforce
import Support

extension Login {
  /// Prepares a sign-in from the settings, the environment, the org's files in the home, and `bootconfig.json`. Reads files but
  /// sends no requests. Blocks.
  ///
  /// - Throws: ``LoginUsageError`` and ``OrgNameError`` for invalid choices, ``HostError`` `.invalidConfiguration` for invalid
  ///   files.
  public init(_ settings: LoginSettings) throws {
    var settings = settings
    settings.configDirectory = settings.configDirectory ?? "."
    let environment = try HostSettings.environment()
    let home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(home)
    try self.init(settings, home: home, environment)
  }

  /// - Parameter environment: The settings of a host or of the process's environment.
  init(_ settings: LoginSettings, home: String, _ environment: HostSettings) throws {
    var settings = settings
    settings.org = settings.org ?? environment.org.flatMap { Self.isOwnOrg($0) ? $0 : nil }
    let directory = OrgDirectory(home: home)
    let known = try Self.known(settings, directory)
    var sources = LoginPlan.Sources()
    sources.loginURL = known?.loginURL
    sources.credentials =
      try known.map { try Self.credentials(of: $0, settings.user, directory, allowsCommands: !environment.homeIsOfScript) } ?? [:]
    sources.bootConfig = try settings.configDirectory.map { try Self.bootConfig(in: $0, TrustedFolders(environment)) } ?? [:]
    var dependencies = Dependencies()
    dependencies.retry = environment.clock
    dependencies.transport.authorities = try environment.trustedCertificates()
    dependencies.transport.proxies = environment.proxies
    dependencies.transport.log = environment.requestLog?.log
    dependencies.apiVersion = environment.apiVersion ?? dependencies.apiVersion
    dependencies.input = { try Self.standardInput() }
    if environment.sessionCommand != nil {
      dependencies.store = { org, user in
        Org.sessionStore(environment, org: org, user: user, in: directory.userFolder(org: org, user: user))
      }
    }
    self.init(try LoginPlan(settings, sources), settings, home: home, dependencies)
  }

  /// Returns true if the name refers to an org that `tureen login` can sign in to.
  private static func isOwnOrg(_ org: String) -> Bool { org != Org.sandboxName && !org.hasPrefix(SalesforceCLI.prefix) }

  /// Returns the known org that the settings refer to, or the default org if they name none; nil if it is not known yet.
  private static func known(_ settings: LoginSettings, _ directory: OrgDirectory) throws -> OrgEntry? {
    guard let org = settings.org else {
      guard settings.loginURL == nil, Environment[SignInKeys.variable("loginUrl")] == nil else { return nil }
      return try directory.defaultName().flatMap { try directory.entry($0) }
    }
    if let entry = try directory.entry(org) { return entry }
    if OrgAddress(org) == nil {
      // Report an invalid name before the person signs in.
      try OrgName.check(org)
      try OrgName.checkIsFree(org, among: directory.entries())
    }
    return nil
  }

  /// Reads the user's credentials file, else the org's. Resolves the file names in it relative to its folder.
  /// - Parameter allowsCommands: True if the file may name programs that print secrets.
  private static func credentials(
    of org: OrgEntry, _ user: String?, _ directory: OrgDirectory, allowsCommands: Bool
  ) throws -> JSONObject {
    let folders = (user ?? org.user).flatMap { org.user(named: $0) }.map {
      [directory.userFolder(org: org.folder, user: $0.folder)]
    }
    for folder in (folders ?? []) + ["\(directory.folder)/\(org.folder)"] {
      let path = folder + "/credentials.json"
      guard FileSystem.exists(path) else { continue }
      try PrivateFile.check(path, what: "the credentials file")
      return try usable(members(of: path), folder: folder, allowsCommands: allowsCommands) { key in
        HostError(
          .invalidConfiguration,
          "\(path): '\(key)' names a program, and bootconfig.json names the home it is in; name the home with TUREEN_HOME")
      }
    }
    return [:]
  }

  private static func usable(
    _ members: JSONObject, folder: String, allowsCommands: Bool, refusal: (String) -> HostError
  ) throws -> JSONObject {
    var members = members
    for (key, value) in members {
      if key.hasSuffix("Command"), !allowsCommands { throw refusal(key) }
      if key.hasSuffix("File"), let name = value.stringValue, !name.hasPrefix("/") { members[key] = .string("\(folder)/\(name)") }
    }
    return members
  }

  /// Reads the app that people sign in to. Another user must not choose it.
  private static func bootConfig(in folder: String, _ trusted: TrustedFolders) throws -> JSONObject {
    try reportingProblems {
      guard let file = try ConfigurationFile.read("bootconfig.json", in: HostSettings.absolute(folder), trusted) else {
        return [:]
      }
      let members = try members(of: file.json)
      for key in ["remoteAccessConsumerKey", "oauthRedirectURI", "oauthScopes"] where members[key] != nil {
        try file.checkTrust(key: key)
      }
      return members
    }
  }

  private static func members(of path: String) throws -> JSONObject {
    guard let text = FileSystem.read(path) else { throw HostError(.invalidConfiguration, "\(path): cannot be read") }
    return try reportingProblems { try members(of: JSONFile(name: path, text: text)) }
  }

  private static func members(of file: JSONFile) throws(JSONFile.Problem) -> JSONObject {
    guard let members = file.value.objectValue else { throw file.problem("must contain an object") }
    return members
  }

  private static func reportingProblems(_ body: () throws -> JSONObject) throws -> JSONObject {
    do {
      return try body()
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  /// Reads a secret from standard input, with the same size limit as for files.
  private static func standardInput() throws -> [UInt8] {
    let secret: Secret
    do throws(SecretReader.Problem) {
      secret = try SecretReader.file("/dev/stdin", limit: Tuning.connectionSecretBytes)
    } catch {
      throw HostError(.invalidConfiguration, "standard input: \(error.what)")
    }
    return secret.withBytes { bytes in Array(bytes) }
  }
}
