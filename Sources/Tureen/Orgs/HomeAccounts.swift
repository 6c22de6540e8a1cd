import JSON
import RestClient
import Salesforce
import SmartStore
import Support

/// The accounts of a home, for people who look at them and end them by command.
public struct HomeAccounts: Sendable {
  public let directory: OrgDirectory
  let settings: HostSettings

  /// - Parameter settings: The command's choices; the environment fills the rest.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  public init(settings: HostSettings) throws {
    var settings = settings
    settings.fill(from: try .environment())
    let home = try HostSettings.resolvedHome(settings.home)
    try HostSettings.checkHome(home)
    self.init(settings, home: home)
  }

  /// - Parameter settings: Final.
  init(_ settings: HostSettings, home: String) {
    self.settings = settings
    directory = OrgDirectory(home: home)
  }

  func store(_ entry: OrgEntry, _ user: OrgUser) -> any SessionStore {
    Org.sessionStore(
      settings, org: entry.folder, user: user.folder, in: directory.userFolder(org: entry.folder, user: user.folder))
  }

  /// The org that is meant: the one that was named, else the default.
  /// - Throws: ``HostError`` `.noSuchOrg`.
  func chosenOrg() throws -> OrgEntry {
    guard let name = try settings.org ?? directory.defaultName(), name != Org.sandboxName else {
      throw HostError(
        .noSuchOrg,
        settings.org == nil
          ? "no org is chosen and none is the default; name one with --org, or sign in with `tureen login`"
          : "nothing is kept of a sign-in to the sandbox org; name another one with --org")
    }
    return try directory.known(name)
  }

  // MARK: Looking

  /// The accounts by name, with what is known of their sign-ins. Asks no org.
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
      let kept = try await store(entry, user).load()
      let own = directory.userFolder(org: entry.folder, user: user.folder) + "/credentials.json"
      let canSignIn = FileSystem.exists(own) ? canSignIn(file: own) : ofOrg
      accounts.append(
        OrgAccount(org: entry, user: user, session: kept?.session, state: OrgAccount.State(kept, canSignIn: canSignIn)))
    }
    return accounts
  }

  /// Whether a credentials file brings a session without a person.
  private func canSignIn(file path: String) -> Bool {
    guard let text = FileSystem.read(path), let fields = try? JSONValue(parsing: text).objectValue else { return false }
    return fields["flow"]?.stringValue != SignInFlow.browser.rawValue
  }

  /// What came of asking an org.
  public struct Checked: Sendable {
    public let account: OrgAccount
    /// Why the org gave no answer to go by; nil when it did.
    public let problem: (any Error)?
  }

  /// Asks each org whether the session is good, and signs in where that needs no person.
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

  /// Works with a client that signs in as the account does.
  private func withClient<Value: Sendable>(
    of account: OrgAccount, _ body: (SalesforceClient) async throws -> Value
  ) async throws -> Value {
    var settings = settings
    // It is about what the home has: a file for this run would be used for all of them.
    settings.credentialsFile = nil
    settings.user = account.user?.name
    let choice = OrgChoice(settings: settings, home: directory.home)
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
  /// Whether the org refuses the sign-in, or there is none, so that a person has to look at it.
  fileprivate var isLossOfSignIn: Bool { code == .notAuthenticated || code == .sessionExpired || code == .otherOrg }
}
