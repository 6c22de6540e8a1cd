import RestClient
import Salesforce
import Support

/// The users whose jobs a worker can run: those that are signed in in its home, or can sign in without a person.
struct WorkerAccounts: Sendable {
  /// The names of the folders in the home, which are also those of the stores in the database.
  struct Key: Hashable, Sendable {
    let org: String, user: String
  }

  /// The settings of each user's host.
  private(set) var settings: [Key: HostSettings] = [:]
  /// The user for jobs of global stores; nil if no org is chosen.
  private(set) var standard: Key?

  /// For people, sorted.
  var names: [String] {
    settings.keys.map { "\(OrgEntry.name(ofFolder: $0.org))/\(OrgEntry.name(ofFolder: $0.user))" }.sorted()
  }

  /// Returns the key of the user who runs the jobs of a store; nil if that user is not signed in here.
  /// - Parameters:
  ///   - org, user: The owner of the store; both are empty for a global store.
  func key(org: String, user: String) -> Key? {
    guard !org.isEmpty || !user.isEmpty else { return standard }
    let key = Key(org: org, user: user)
    return settings[key] == nil ? nil : key
  }

  /// Reads the accounts of the home. Blocks; sends no request.
  /// - Parameters:
  ///   - given: The settings of the command line. An org in them is the only one.
  ///   - settled: The same, completed from the environment and the configuration files.
  /// - Throws: ``HostError``; `FileError`.
  static func read(_ given: HostSettings, settled: HostSettings, home: String) throws -> WorkerAccounts {
    var accounts = WorkerAccounts()
    try accounts.addStandard(given, settled, home)
    guard given.org == nil else { return accounts }
    if hasSandbox(given, home) {
      var own = given
      (own.org, own.user) = (Org.sandboxName, nil)
      accounts.settings[Key(org: Org.sandboxName, user: Org.sandboxUser)] = own
    }
    let homeAccounts = HomeAccounts(settled, home: home)
    for account in try Blocking.run({ try await homeAccounts.accounts() }) { accounts.add(account, given, settled, home) }
    return accounts
  }

  /// The org that the settings choose, as for every other command.
  private mutating func addStandard(_ given: HostSettings, _ settled: HostSettings, _ home: String) throws {
    let org: Org
    do {
      org = try Org.resolve(settled, home: home, program: ProgramSessions { _ in })
    } catch let error as HostError where given.org == nil && [.noSuchOrg, .noSuchUser].contains(error.code) {
      return
    }
    let key = Key(org: org.folder, user: org.userFolder)
    let isSandbox = org.folder == Org.sandboxName
    guard try isSandbox ? WorkerAccounts.hasSandbox(given, home) : WorkerAccounts.isUsable(org, settled, home) else {
      guard given.org == nil else {
        throw HostError(
          .noSuchUser, "no user is signed in to '\(org.name)'; sign in with `tureen login --org \(org.name)`")
      }
      return
    }
    standard = key
    settings[key] = given
  }

  /// True if a sandbox org runs, or can be started.
  private static func hasSandbox(_ given: HostSettings, _ home: String) -> Bool {
    given.embeddedSandbox != nil || FileSystem.exists(Org.sandboxCredentialsPath(home: home))
  }

  /// True if there is a session, or a way to sign in without a person.
  private static func isUsable(_ org: Org, _ settings: HostSettings, _ home: String) throws -> Bool {
    switch try org.credentials() {
    // Without a token of their own they need that of the session.
    case nil, .refreshToken(_, _, _, nil), .accessToken(_, nil): break
    default: return true
    }
    let folder = OrgDirectory(home: home).userFolder(org: org.folder, user: org.userFolder)
    let store = Org.sessionStore(settings, org: org.folder, user: org.userFolder, in: folder)
    let kept = try Blocking.run { try await store.load() }
    return kept?.session != nil && kept?.refusal == nil
  }

  private mutating func add(_ account: OrgAccount, _ given: HostSettings, _ settled: HostSettings, _ home: String) {
    if case .needsSignIn = account.state { return }
    var own = given, resolving = settled
    (own.org, own.user) = (account.org.name, account.user?.name)
    (resolving.org, resolving.user) = (own.org, own.user)
    // The credentials that the environment chooses for this run may be those of another user.
    guard let org = try? OrgResolver(settings: resolving, home: home).org(account.org.name),
      account.user.map({ $0.folder == org.userFolder }) ?? true, account.org.folder == org.folder
    else { return }
    let key = Key(org: org.folder, user: org.userFolder)
    // With the credentials of the environment, that user can sign in again. The home's default may change, so it is named.
    guard key != standard || (settled.org == nil && (try? CredentialsSource.environmentOrg()) == nil) else { return }
    settings[key] = own
  }
}
