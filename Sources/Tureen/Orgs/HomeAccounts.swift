import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// Lists, checks and removes the accounts of a home, for the commands.
public struct HomeAccounts: Sendable {
  public let directory: OrgDirectory
  let settings: HostSettings

  /// - Parameter settings: The command's options. Missing values come from the environment.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  public init(settings: HostSettings) throws {
    var settings = settings
    settings.fill(from: try .environment())
    let home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(home)
    self.init(settings, home: home)
  }

  /// - Parameter settings: The final settings.
  init(_ settings: HostSettings, home: String) {
    self.settings = settings
    directory = OrgDirectory(home: home, looksOnly: settings.looksOnly)
  }

  func store(_ entry: OrgEntry, _ user: OrgUser) -> any SessionStore {
    Org.sessionStore(
      settings, org: entry.folder, user: user.folder, in: directory.userFolder(org: entry.folder, user: user.folder))
  }

  /// Returns the named org, else the default.
  /// - Throws: ``HostError`` `.noSuchOrg`.
  func chosenOrg() throws -> OrgEntry {
    guard let name = try settings.org ?? directory.defaultName(), name != Org.sandboxName else {
      throw HostError(
        .noSuchOrg,
        settings.org == nil
          ? "no org is named and there is no default; name one with --org, or sign in with `tureen login`"
          : "sign-ins to the sandbox org are not stored; name another org with --org")
    }
    return try directory.known(name)
  }

  // MARK: Listing

  /// Returns the accounts sorted by name, with the stored state of their sign-ins. Sends no requests.
  public func accounts() async throws -> [OrgAccount] {
    let entries = try await Blocking.offPool { [directory] in try directory.entries() }
    var accounts: [OrgAccount] = []
    for entry in entries { accounts += try await self.accounts(of: entry) }
    return accounts
  }

  private func accounts(of entry: OrgEntry) async throws -> [OrgAccount] {
    let ofOrg =
      entry.name.hasPrefix(SalesforceCLI.prefix) || canSignIn(file: "\(directory.folder)/\(entry.folder)/credentials.json")
    guard !entry.users.isEmpty else {
      return [OrgAccount(org: entry, user: nil, session: nil, state: OrgAccount.State(nil, canSignIn: ofOrg))]
    }
    var accounts: [OrgAccount] = []
    for user in entry.users {
      let kept = try await kept(entry, user)
      let own = directory.userFolder(org: entry.folder, user: user.folder) + "/credentials.json"
      let canSignIn = FileSystem.exists(own) ? canSignIn(file: own) : ofOrg
      accounts.append(
        OrgAccount(org: entry, user: user, session: kept?.session, state: OrgAccount.State(kept, canSignIn: canSignIn)))
    }
    return accounts
  }

  /// Returns the stored session. Who only looks runs no program for it, and does without one that cannot be read.
  private func kept(_ entry: OrgEntry, _ user: OrgUser) async throws -> StoredSession? {
    guard settings.looksOnly else { return try await store(entry, user).load() }
    let folder = directory.userFolder(org: entry.folder, user: user.folder)
    return settings.sessionCommand == nil ? try? await FileSessionStore(folder: folder).load() : nil
  }

  /// Returns true if a credentials file allows signing in without a person.
  private func canSignIn(file path: String) -> Bool {
    guard let text = FileSystem.read(path), let fields = try? JSONValue(parsing: text).objectValue else { return false }
    return fields["flow"]?.stringValue != SignInFlow.browser.rawValue
  }

  /// The result of checking an account.
  public struct Checked: Sendable {
    public let account: OrgAccount
    /// Why the check was inconclusive; nil if it was not.
    public let problem: (any Error)?
  }

  /// Asks each org whether its session is valid, and signs in again if that needs no person.
  public func check(_ accounts: [OrgAccount]) async -> [Checked] {
    await withTaskGroup(of: (Int, Checked).self) { group in
      for (i, account) in accounts.enumerated() { group.addTask { (i, await check(account)) } }
      var checked: [(Int, Checked)] = []
      for await one in group { checked.append(one) }
      return checked.sorted { $0.0 < $1.0 }.map(\.1)
    }
  }

  private func check(_ account: OrgAccount) async -> Checked {
    var account = account
    do {
      account.session = try await withClient(of: account) { client in try await client.identity().session }
      account.state = .signedIn
      return Checked(account: account, problem: nil)
    } catch let error as RestError where error.isLossOfSignIn {
      account.state = .needsSignIn(reason: error.reason ?? SignInReason.refused.rawValue)
      return Checked(account: account, problem: nil)
    } catch {
      return Checked(account: account, problem: error)
    }
  }

  /// Runs `body` with a client that uses the account's session and credentials.
  private func withClient<Value: Sendable>(
    of account: OrgAccount, _ body: (SalesforceClient) async throws -> Value
  ) async throws -> Value {
    var settings = settings
    // Check the stored credentials: a credentials file for this run would apply to all accounts.
    settings.credentialsFile = nil
    settings.user = account.user?.name
    let choice = OrgResolver(settings: settings, home: directory.home)
    let (org, credentials) = try await Blocking.offPool {
      let org = try choice.org(account.org.name)
      return (org, try org.credentials())
    }
    let place = directory.userFolder(org: org.folder, user: org.userFolder)
    let store = Org.sessionStore(settings, org: org.folder, user: org.userFolder, in: place)
    let client = SalesforceClient(
      store: org.keepsSession ? store : nil, credentials: credentials, orgId: org.orgId,
      apiVersion: settings.apiVersion ?? HostParts.standardApiVersion, transport: HTTPTransport(try transportConfiguration()))
    do {
      let value = try await body(client)
      await client.shutdown()
      return value
    } catch {
      await client.shutdown()
      throw error
    }
  }
}

extension RestError {
  /// True if the org refuses the sign-in or there is none, so that a person must act.
  fileprivate var isLossOfSignIn: Bool { code == .notAuthenticated || code == .sessionExpired || code == .otherOrg }
}
