import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The org a host works with, and as whom. Stores are kept by org and user name, so that they open without a network.
struct Org: Sendable {
  /// Folder-safe names.
  let folder: String
  let userFolder: String
  /// How to sign in. Blocks: an embedded sandbox is started by it.
  let credentials: @Sendable () throws -> Credentials
  /// A sandbox's addresses change with every start: its sessions are not worth keeping.
  let keepsSession: Bool

  static let sandboxName = "sandbox"
  /// The one user of the sandbox org.
  static let sandboxUser = "sandbox-user"

  /// The user of a session that the program around the host gives.
  static let programUser = "program-user"

  /// The org that the settings name: `sandbox`, an address, `sf:ALIAS`, or the name of an org kept under the home. Without one it
  /// is that of the environment's own sign-in, then that of the sf CLI's variables, then the home's default, else the sandbox.
  /// - Throws: ``HostError`` `.noSuchOrg`, `.invalidConfiguration`.
  static func resolve(_ settings: HostSettings, home: String, program: ProgramSessions) throws -> Org {
    if settings.asksProgram || settings.askForSession != nil { return try signedInByProgram(settings, program) }
    let directory = OrgDirectory(home: home)
    let name =
      try settings.org ?? CredentialsSource.environmentOrg() ?? SalesforceVariables.current?.instanceURL
      ?? directory.defaultName() ?? sandboxName
    if name == sandboxName { return sandbox(settings, home: home) }
    if let known = try signedIn(to: name, settings, directory) { return known }
    let found = try CredentialsSource(settings: settings, home: home).find(name)
    SignInWarnings.warn(about: found.flow)
    return Org(
      folder: StoreRegistry.folderName(orgFolder(name)), userFolder: StoreRegistry.folderName(found.user),
      credentials: { found.credentials }, keepsSession: found.keepsSession)
  }

  /// The org and the user that `tureen login` has kept under the home; nil where other sources of a sign-in come first, or where
  /// no user has a file of credentials.
  private static func signedIn(to name: String, _ settings: HostSettings, _ directory: OrgDirectory) throws -> Org? {
    let isFromVariables = CredentialsSource.address(name) != nil && !SignInKeys.environment().isEmpty
    guard settings.credentialsFile == nil, !isFromVariables, !name.hasPrefix(SalesforceCLI.prefix),
      let entry = try directory.entry(name), let user = entry.user.flatMap({ entry.user(named: $0) })
    else { return nil }
    let file = directory.userFolder(org: entry.folder, user: user.folder) + "/credentials.json"
    guard FileSystem.exists(file) else { return nil }
    let found = try CredentialsSource.read(file, defaultURL: entry.loginURL, allowsCommands: !settings.homeIsOfScript)
    SignInWarnings.warn(about: found.flow)
    return Org(
      folder: entry.folder, userFolder: user.folder, credentials: { found.credentials }, keepsSession: found.keepsSession)
  }

  /// The program owns the session, so no file keeps a copy.
  private static func signedInByProgram(_ settings: HostSettings, _ program: ProgramSessions) throws -> Org {
    guard let name = settings.org else {
      throw HostError(
        .invalidConfiguration, "the program signs in ('signIn'), so 'org' must name the org that its stores are for")
    }
    let credentials = program.credentials(org: name, user: programUser, ask: settings.askForSession)
    return Org(
      folder: StoreRegistry.folderName(orgFolder(name)), userFolder: programUser, credentials: { credentials },
      keepsSession: false)
  }

  /// Where the session is kept; nil for one that is not worth keeping.
  /// - Parameter folder: The user's.
  func sessionStore(_ settings: HostSettings, in folder: String) -> (any SessionStore)? {
    guard keepsSession else { return nil }
    return Self.sessionStore(settings, org: self.folder, user: userFolder, in: folder)
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
      folder: sandboxName, userFolder: sandboxUser,
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

  /// An address without its scheme, else the name itself.
  static func orgFolder(_ name: String) -> String {
    for scheme in ["https://", "http://"] where name.hasPrefix(scheme) {
      var host = name.dropFirst(scheme.count)
      while host.hasSuffix("/") { host = host.dropLast() }
      return String(host)
    }
    return name
  }
}
