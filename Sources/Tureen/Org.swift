import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The org a host works with, and as whom. Stores are kept by org and user name, so that they open without a network.
struct Org: Sendable {
  /// What people call it.
  let name: String
  /// Folder-safe names.
  let folder: String
  let userFolder: String
  /// The id that sign-ins must have; nil where none is known yet.
  var orgId: String?
  /// Whether it is a sandbox; nil when it was not asked yet.
  var isSandbox: Bool?
  /// How to sign in; nil where only the kept session knows. Blocks: an embedded sandbox is started by it.
  var credentials: @Sendable () throws -> Credentials?
  /// A sandbox's addresses change with every start: its sessions are not worth keeping.
  var keepsSession: Bool

  static let sandboxName = "sandbox"
  /// The one user of the sandbox org.
  static let sandboxUser = "sandbox-user"

  /// The user of a session that the program around the host gives.
  static let programUser = "program-user"

  /// The org that the settings name: `sandbox`, an address, `sf:ALIAS`, or a name that the home knows. Without one it is that of
  /// the environment's own sign-in, then the home's default, then that of the sf CLI's variables, else the sandbox.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.noSuchUser`, `.invalidConfiguration`.
  static func resolve(_ settings: HostSettings, home: String, program: ProgramSessions) throws -> Org {
    if settings.asksProgram || settings.askForSession != nil { return try signedInByProgram(settings, program) }
    let name =
      try settings.org ?? CredentialsSource.environmentOrg() ?? OrgDirectory(home: home).defaultName()
      ?? SalesforceVariables.current?.instanceURL ?? sandboxName
    if name == sandboxName { return sandbox(settings, home: home) }
    return try OrgChoice(settings: settings, home: home).org(name)
  }

  /// The program owns the session, so no file keeps a copy.
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

  /// Where the sessions of a home's user are kept: in the user's folder, or with the program that the settings name.
  /// - Parameters:
  ///   - org, user: As the home's folders are called.
  ///   - folder: The user's.
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

  /// The sandbox that `tureen sandbox` serves under the same home.
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
