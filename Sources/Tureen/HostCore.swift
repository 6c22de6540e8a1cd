import JSON
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Synchronization

/// A host in use: its parts once the settings are final, and the user it works for.
final class HostCore: Sendable {
  private struct State {
    var user: ActiveUser
    /// Users who were current before and whose orgs keep no session, such as the embedded sandbox's.
    var departed: [HomeAccount] = []
    var isClosed = false
  }

  let parts: HostParts
  let observers = Observers()
  private let state: Mutex<State>

  /// Opens nothing.
  init(org: Org, parts: HostParts) {
    self.parts = parts
    state = Mutex(State(user: ActiveUser(org, parts: parts)))
  }

  var user: ActiveUser { state.withLock { $0.user } }
  var home: String { parts.home }
  var connections: RestConnections { parts.connections }
  var client: DeferredClient { user.client }

  func store(_ reference: StoreReference) throws -> Store { try user.store(reference) }
  func manager(_ reference: StoreReference) throws -> SyncManager { try user.manager(reference) }

  // MARK: Accounts

  /// The accounts beside the current one that scripts may see.
  /// - Parameter user: Who is current; nil when that user is not signed in, and then is one like the others.
  func others(than user: ActiveUser?) async throws -> [HomeAccount] {
    guard parts.visibleAccounts == .home else { return [] }
    let all = try await parts.accounts() + state.withLock { $0.departed }
    return all.filter { account in user.map { !account.isUser($0.org) } ?? true }
  }

  /// Ends the session of an account that is not current.
  func signOut(_ account: HomeAccount) async throws {
    state.withLock { $0.departed.removeAll { $0.isUser(account.org) } }
    try await parts.signOut(account)
  }

  /// Puts another user in the place of the one who is current: ends what runs as that one, in the order of the table of
  /// `switchToUser`, then lets the script know.
  ///
  /// Blocks. The bridge calls it with every lane at rest, so what is accepted meanwhile runs as the new user.
  /// - Parameters:
  ///   - current: The account of the one before; nil when no user was signed in.
  ///   - limit: Ended by the bridge that closes: then nothing is waited for.
  func switchUser(to chosen: HomeAccount, from current: Account?, limit: WaitLimit) throws {
    let old = user
    old.end(limit)
    observers.closeThoseOfUser()
    old.closeFiles()
    let new = ActiveUser(chosen.org, parts: parts, session: chosen.org.keepsSession ? nil : chosen.session)
    let isClosed = state.withLock { state in
      if !state.isClosed { state.user = new }
      state.departed.removeAll { $0.isUser(chosen.org) }
      if let current, !old.org.keepsSession { state.departed.append(HomeAccount(org: old.org, session: current.session)) }
      return state.isClosed
    }
    guard !isClosed else { throw HostError(.closed, "the host is closed") }
    parts.events.userSwitched(["from": current?.name ?? .null, "to": Account(chosen).name])
  }

  /// One order: no new managers, syncs end, connections end, stores close.
  func close() {
    let user = state.withLock { state in
      state.isClosed = true
      return state.user
    }
    user.close()
    parts.close()
  }
}
