import JSON
import RestClient
import SmartStore
import Synchronization

/// The syncs of one store with one server.
///
/// Any thread may call it. Calls that start something write to the store and wait for it, so make
/// them on a plain queue, not on the cooperative pool. Each run has its own task: syncs of one soup
/// run one after the other, in the order they were started; those of different soups run
/// concurrently.
public final class SyncManager: Sendable {
  public let store: Store
  let client: any RestClient
  let configuration: SyncConfiguration
  let targets: TargetRegistry
  let leases = SyncLeases()
  let renewals: LeaseRenewals
  let clock: ServerClock
  let turns = SoupTurns()
  let hub = UpdateHub<SyncState>()
  let conflictHub = UpdateHub<SyncConflict>()
  let resolvers = Mutex<IdMap<ConflictResolver>>([:])
  let shared = Mutex(Shared())

  /// The state that runs and callers share. The lock guards a few lines of memory, never a store
  /// call or a callback.
  struct Shared {
    var isAccepting = true
    /// True during ``shutdown()``: new tasks are cancelled at once.
    var isShuttingDown = false
    /// Resumed when nothing is active and no task is left.
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    /// Syncs that are queued, running, or cleaning ghosts. Each occurs at most once.
    var active: [Int64: RunControl] = [:]
    /// Comparisons with servers, which only read.
    var checks: [Int: RunControl] = [:]
    /// The active syncs that wait for others of their soups.
    var queued: Set<Int64> = []
    /// Every task that has not returned yet, including its last callback.
    var tasks: [Int: Task<Void, Never>] = [:]
    var lastTask = 0
    /// The task number of each running sync.
    var runs: [Int64: Int] = [:]

    var isIdle: Bool { active.isEmpty && tasks.isEmpty }

    /// Returns the continuations to resume if nothing is left.
    mutating func takeWaitingForEnd() -> [CheckedContinuation<Void, Never>] {
      guard isIdle else { return [] }
      defer { waitingForEnd = [] }
      return waitingForEnd
    }
  }

  /// Prepares the store. Syncs that are RUNNING without a living owner become STOPPED, because
  /// their process died.
  /// - Parameters:
  ///   - store: Holds the soups and the sync states.
  ///   - client: Sends the requests.
  ///   - targets: The available kinds of targets.
  ///   - configuration: Clocks, limits and the logger.
  /// - Throws: ``SmartStore/StoreError``.
  public init(
    store: Store, client: any RestClient, targets: TargetRegistry, configuration: SyncConfiguration = SyncConfiguration()
  ) throws {
    self.store = store
    self.client = client
    self.configuration = configuration
    self.targets = targets
    clock = ServerClock(now: configuration.now)
    renewals = LeaseRenewals(store, configuration)
    try recover()
  }

  private func recover() throws {
    try store.writeBlocking(.synced) { transaction in
      try SyncsSoup.setUp(transaction)
      _ = try stopAbandoned(in: transaction)
    }
  }

  /// Stops the syncs whose process died.
  /// - Returns: The stopped syncs.
  func stopAbandoned(in transaction: StoreTransaction) throws -> [SyncState] {
    let now = configuration.now()
    return try SyncsSoup.all(.running, in: transaction).filter { try isAbandoned($0, now: now, transaction) }.map { found in
      var state = found
      state.enter(.stopped, now: now)
      try SyncsSoup.save(state, in: transaction)
      transaction.history?.now = now
      transaction.history?.abandon(sync: state.id)
      return state
    }
  }

  /// Returns whether a sync is RUNNING without a living owner.
  private func isAbandoned(_ state: SyncState, now: Int64, _ snapshot: StoreSnapshot) throws -> Bool {
    guard state.status == .running, !isRunning(state.id) else { return false }
    return try snapshot.lease(SyncLeases.name(state.id)).map { !leases.isHeldByOther($0, now: now) } ?? true
  }

  // MARK: Asking

  /// Returns the stored state; nil if the sync does not exist. A sync whose process died meanwhile
  /// is STOPPED.
  public func getSyncStatus(_ reference: SyncReference) throws -> SyncState? {
    let now = configuration.now()
    var (state, isLeft) = try store.readBlocking { snapshot -> (SyncState?, Bool) in
      guard let found = try SyncsSoup.find(reference, in: snapshot) else { return (nil, false) }
      return (found, try self.isAbandoned(found, now: now, snapshot))
    }
    if isLeft {
      try recoverAbandoned()
      state = try store.readBlocking { try SyncsSoup.find(reference, in: $0) }
    }
    if let id = state?.id { state?.isQueued = shared.withLock { $0.queued.contains(id) } }
    return state
  }

  /// Stops and reports the syncs that ended processes left as RUNNING.
  func recoverAbandoned() throws {
    for state in try store.writeBlocking(.synced, { try stopAbandoned(in: $0) }) { hub.send(state) }
  }

  public func hasSyncWithName(_ name: String) throws -> Bool { try getSyncStatus(.name(name)) != nil }

  /// Returns whether the sync is queued, running, or being cleaned of ghosts in this manager.
  public func isRunning(_ id: Int64) -> Bool { shared.withLock { $0.active[id] != nil } }

  /// Whether the manager was asked to stop and a sync is still active.
  public var isStopping: Bool { shared.withLock { !$0.isAccepting && !$0.active.isEmpty } }

  /// Whether the manager was asked to stop and no sync is active.
  public var isStopped: Bool { shared.withLock { !$0.isAccepting && $0.active.isEmpty } }

  // MARK: Creating and deleting

  /// Saves a sync with the status NEW without running it.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.duplicateName`.
  @discardableResult
  public func createSyncDown(
    target: JSONObject, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) throws -> SyncState {
    var state = try newState(.syncDown, target, options, soupName, syncName)
    try insert(&state)
    return state
  }

  /// Saves a sync with the status NEW without running it. Without a target, or with `{}`, it gets
  /// the collection target.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.noFieldlist`, `.duplicateName`.
  @discardableResult
  public func createSyncUp(
    target: JSONObject? = nil, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) throws -> SyncState {
    var state = try newState(.syncUp, target ?? [:], options, soupName, syncName)
    try insert(&state)
    return state
  }

  /// Returns a state with checked and normalized target and options.
  func newState(
    _ type: SyncType, _ target: JSONObject, _ options: JSONObject?, _ soupName: String, _ syncName: String?
  ) throws -> SyncState {
    var state = try SyncState(
      defining: type, target: target, options: options, soupName: soupName, name: syncName, targets: targets)
    try remember(whereCodeComesFrom: &state)
    return state
  }

  /// Marks the definition of a script that cannot load modules. The mark is in the row of the sync, so no sync of such a
  /// script may write rows there.
  func remember(whereCodeComesFrom state: inout SyncState) throws(SyncError) {
    guard configuration.definesOnlyRegisteredCode else { return }
    guard !soups(of: state).contains(SyncsSoup.name) else {
      throw SyncError(.invalidArguments, "soupName: a restricted script cannot sync into the soup '\(SyncsSoup.name)'")
    }
    state.usesRegisteredCode = true
  }

  func insert(_ state: inout SyncState) throws {
    let new = state
    state = try store.writeBlocking(.synced) { transaction in
      var state = new
      try add(&state, in: transaction)
      return state
    }
  }

  /// - Throws: ``SyncError`` `.alreadyRunning`, `.runningElsewhere`.
  func checkNotRunning(_ id: Int64, now: Int64, _ transaction: StoreTransaction) throws {
    if isRunning(id) { throw SyncError.alreadyRunning(id) }
    if let lease = try transaction.lease(SyncLeases.name(id)), leases.isHeld(lease, now: now) {
      throw try leases.runningElsewhere(id, lease.owner, in: transaction)
    }
  }

  /// Removes a saved sync; the records that it brought stay. Does nothing if it does not exist.
  /// - Throws: ``SyncError`` `.alreadyRunning`, `.runningElsewhere`.
  public func deleteSync(_ reference: SyncReference) throws {
    let now = configuration.now()
    try store.writeBlocking(.synced) { transaction in
      guard let state = try SyncsSoup.find(reference, in: transaction) else { return }
      try checkNotRunning(state.id, now: now, transaction)
      try SyncsSoup.remove([state.id], in: transaction)
    }
  }
}
