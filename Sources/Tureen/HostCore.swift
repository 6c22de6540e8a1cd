import JSON
import LuaBridge
import MobileSync
import RestClient
import SmartStore
import Synchronization

/// A running host: its parts, created from the final settings, and the current user.
final class HostCore: Sendable {
  private struct State {
    var user: ActiveUser
    /// Former current users whose sessions are not stored in the home, such as that of the embedded sandbox.
    var departed: [HomeAccount] = []
    var isClosed = false
  }

  let parts: HostParts
  let observers = Observers()
  private let state: Mutex<State>

  /// Does not open stores or connections.
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

  /// Returns the accounts that scripts may see, except the current one.
  /// - Parameter user: The current user; nil if that user is not signed in and is to be listed like the others.
  func others(than user: ActiveUser?) async throws -> [HomeAccount] {
    guard parts.visibleAccounts == .home else { return [] }
    let all = try await parts.accounts() + state.withLock { $0.departed }
    return all.filter { account in user.map { !account.isUser($0.org) } ?? true }
  }

  /// Ends the session of an account that is not the current one.
  func signOut(_ account: HomeAccount) async throws {
    state.withLock { $0.departed.removeAll { $0.isUser(account.org) } }
    try await parts.signOut(account)
  }

  /// Replaces the current user: ends the old user's work in the order documented for `switchToUser`, and then notifies the
  /// script.
  ///
  /// Blocks. The bridge calls it while every queue is idle, so calls that are accepted meanwhile run as the new user.
  /// - Parameters:
  ///   - current: The account of the old user; nil if no user was signed in.
  ///   - limit: Ends the waiting. The bridge expires it when it closes.
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

  /// Shuts down in a fixed order: refuses new managers, ends the syncs, ends the connections, closes the stores.
  func close() {
    let user = state.withLock { state in
      state.isClosed = true
      return state.user
    }
    user.close()
    parts.close()
  }
}
