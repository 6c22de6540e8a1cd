import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The org and user of a host. Stores are organized by org and user name, so that they open without a network.
struct Org: Sendable {
  /// The name for people.
  let name: String
  /// The names of the folders of the org and the user.
  let folder: String
  let userFolder: String
  /// The org id that sessions must have; nil if it is not known yet.
  var orgId: String?
  /// True if the org is a sandbox; nil if it was not asked yet.
  var isSandbox: Bool?
  /// Returns the credentials; nil if there is only a stored session. Blocks, because it may start the embedded sandbox.
  var credentials: @Sendable () throws -> Credentials?
  /// True if the session is stored in the home. False for the sandbox org, whose URL changes with every start.
  var keepsSession: Bool

  static let sandboxName = "sandbox"
  /// The only user of the sandbox org.
  static let sandboxUser = "sandbox-user"

  /// The user of sessions that the embedding program gives.
  static let programUser = "program-user"

  /// Finds the org that the settings name: `sandbox`, an address, `sf:ALIAS`, or a name that the home knows. If they name none,
  /// it is the org of the environment's credentials, else the home's default, else that of the sf CLI's variables, else the
  /// sandbox.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  static func resolve(_ settings: HostSettings, home: String, program: ProgramSessions) throws -> Org {
    if settings.asksProgram || settings.askForSession != nil { return try signedInByProgram(settings, program) }
    let name =
      try settings.org ?? CredentialsSource.environmentOrg() ?? OrgDirectory(home: home).defaultName()
      ?? SalesforceVariables.current?.instanceURL ?? sandboxName
    if name == sandboxName { return sandbox(settings, home: home) }
    return try OrgResolver(settings: settings, home: home).org(name)
  }

  /// Returns an org whose session the embedding program owns, so it is not stored in a file.
  private static func signedInByProgram(_ settings: HostSettings, _ program: ProgramSessions) throws -> Org {
    guard let name = settings.org else {
      throw HostError(
        .invalidConfiguration, "the program signs in ('signIn'), so 'org' must name the org that its stores are for")
    }
    let user = settings.user ?? programUser
    let credentials = program.credentials(org: name, user: user, ask: settings.askForSession)
    return Org(
      name: name, folder: StoreRegistry.folderName(OrgAddress(name)?.name ?? name),
      userFolder: StoreRegistry.folderName(user), credentials: { credentials }, keepsSession: false)
  }

  /// Returns the store for a user's session: a file in the user's folder, or the program that the settings name.
  /// - Parameters:
  ///   - org, user: The names of the folders in the home.
  ///   - folder: The path of the user's folder.
  static func sessionStore(_ settings: HostSettings, org: String, user: String, in folder: String) -> any SessionStore {
    guard let command = settings.sessionCommand else { return FileSessionStore(folder: folder) }
    return CommandSessionStore(command: command, org: org, user: user, lockFolder: folder)
  }

  private static func sandbox(_ settings: HostSettings, home: String) -> Org {
    let embedded = settings.embeddedSandbox
    return Org(
      name: sandboxName, folder: sandboxName, userFolder: sandboxUser, isSandbox: true,
      credentials: {
        if let embedded { return try embedded(home) }
        return try runningSandbox(home: home)
      }, keepsSession: false)
  }

  /// Returns the credentials of the sandbox org that `tureen sandbox` serves for the same home.
  private static func runningSandbox(home: String) throws -> Credentials {
    let path = sandboxCredentialsPath(home: home)
    guard FileSystem.exists(path) else {
      throw HostError(
        .noSuchOrg,
        "no sandbox org is running under \(home); start one with `tureen sandbox --home \(home)`, or choose another org")
    }
    return try CredentialsSource.read(path, defaultURL: nil).credentials
  }

  static func sandboxCredentialsPath(home: String) -> String { "\(home)/sandbox/credentials.json" }
}
