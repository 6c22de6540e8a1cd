import Glibc
import JSON
import RestClient
import Salesforce
import Support

extension Login {
  /// Looks at the environment, at what the home knows of the org, and at `bootconfig.json`. Blocks; asks no server.
  ///
  /// - Throws: ``LoginUsageError`` and ``OrgNameError`` for choices that are wrong, ``HostError`` `.invalidConfiguration` for
  ///   files that are.
  public init(_ settings: LoginSettings) throws {
    var settings = settings
    settings.configDirectory = settings.configDirectory ?? "."
    let environment = try HostSettings.environment()
    let home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(home)
    try self.init(settings, home: home, environment)
  }

  /// - Parameter environment: A host's settings, or what the process's environment says.
  init(_ settings: LoginSettings, home: String, _ environment: HostSettings) throws {
    var settings = settings
    settings.org = settings.org ?? environment.org.flatMap { Self.isOwnOrg($0) ? $0 : nil }
    let directory = OrgDirectory(home: home)
    let known = try Self.known(settings, directory)
    var around = LoginPlan.Surroundings()
    around.loginURL = known?.loginURL
    around.credentials =
      try known.map { try Self.credentials(of: $0, settings.user, directory, allowsCommands: !environment.homeIsOfScript) } ?? [:]
    around.bootConfig = try settings.configDirectory.map { try Self.bootConfig(in: $0) } ?? [:]
    var world = Surroundings()
    world.retry = environment.clock
    world.transport.authorities = try environment.trustedCertificates()
    world.transport.log = environment.requestLog?.log
    world.apiVersion = environment.apiVersion ?? world.apiVersion
    world.input = { try Self.standardInput() }
    if environment.sessionCommand != nil {
      world.store = { org, user in
        Org.sessionStore(environment, org: org, user: user, in: directory.userFolder(org: org, user: user))
      }
    }
    self.init(try LoginPlan(settings, around), settings, home: home, world)
  }

  /// Whether a name means an org that this command can sign in to.
  private static func isOwnOrg(_ org: String) -> Bool { org != Org.sandboxName && !org.hasPrefix(SalesforceCLI.prefix) }

  /// The org that the choices mean, as the home knows it. Without any it is the default.
  private static func known(_ settings: LoginSettings, _ directory: OrgDirectory) throws -> OrgEntry? {
    guard let org = settings.org else {
      guard settings.loginURL == nil, Environment[SignInKeys.variable("loginUrl")] == nil else { return nil }
      return try directory.defaultName().flatMap { try directory.entry($0) }
    }
    if let entry = try directory.entry(org) { return entry }
    if OrgAddress(org) == nil {
      // Told before a person is asked to sign in.
      try OrgName.check(org)
      try OrgName.checkIsFree(org, among: directory.entries())
    }
    return nil
  }

  /// The user's own file, else the org's. Names of files in it are relative to its folder.
  /// - Parameter allowsCommands: Whether it may name programs that print secrets.
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

  private static func bootConfig(in folder: String) throws -> JSONObject {
    let path = HostSettings.absolute(folder) + "/bootconfig.json"
    return FileSystem.exists(path) ? try members(of: path) : [:]
  }

  private static func members(of path: String) throws -> JSONObject {
    guard let text = FileSystem.read(path) else { throw HostError(.invalidConfiguration, "\(path): cannot be read") }
    do {
      let file = try JSONFile(name: path, text: text)
      guard let members = file.value.objectValue else { throw file.problem("must hold an object") }
      return members
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    }
  }

  /// A secret that is piped in. Bounded as secrets of files are.
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
