import JSON
import RestClient
import SmartStore
import Synchronization

/// The syncs of one store with one server.
///
/// Threads: any. Calls that start something write to the store and wait for it, so they belong on a plain queue, not on
/// the cooperative pool. Runs go on in tasks of their own: syncs of one soup one after the other, in the order they were
/// started, those of different soups at once.
public final class SyncManager: Sendable {
  public let store: Store
  let client: any RestClient
  let configuration: SyncConfiguration
  let targets: TargetRegistry
  let leases = SyncLeases()
  let clock: ServerClock
  let turns = SoupTurns()
  let hub = UpdateHub<SyncState>()
  let conflictHub = UpdateHub<SyncConflict>()
  let resolvers = Mutex<[String: ConflictResolver]>([:])
  let shared = Mutex(Shared())

  /// What the runs and the callers share. A lock guards a few lines of memory, never a store call or a callback.
  struct Shared {
    var isAccepting = true
    /// From the beginning of ``shutdown()`` to its end: what is still being started is cancelled.
    var isShuttingDown = false
    /// Resumed when nothing is active and no task is left.
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    /// Queued, running, and cleaning ghosts. A sync is in here at most once.
    var active: [Int64: RunControl] = [:]
    /// Of these, those that wait for others of their soups.
    var queued: Set<Int64> = []
    /// Every task that has not returned yet, its last callback included.
    var tasks: [Int: Task<Void, Never>] = [:]
    var lastTask = 0
    /// The number of the task of each sync that runs.
    var runs: [Int64: Int] = [:]

    var isIdle: Bool { active.isEmpty && tasks.isEmpty }

    /// Those to resume, when nothing is left.
    mutating func takeWaitingForEnd() -> [CheckedContinuation<Void, Never>] {
      guard isIdle else { return [] }
      defer { waitingForEnd = [] }
      return waitingForEnd
    }
  }

  /// Prepares the store. Syncs that are RUNNING without a living owner become STOPPED: their process died.
  /// - Parameters:
  ///   - store: Holds the soups and the sync states.
  ///   - client: Sends the requests.
  ///   - targets: The kinds of targets its syncs may have.
  ///   - configuration: Clocks, limits and the log.
  /// - Throws: ``SmartStore/StoreError``.
  public init(
    store: Store, client: any RestClient, targets: TargetRegistry, configuration: SyncConfiguration = SyncConfiguration()
  ) throws {
    self.store = store
    self.client = client
    self.configuration = configuration
    self.targets = targets
    clock = ServerClock(now: configuration.now)
    try recover()
  }

  private func recover() throws {
    try store.writeBlocking(.synced) { transaction in
      try SyncsSoup.setUp(transaction)
      _ = try stopAbandoned(in: transaction)
    }
  }

  /// Stops the syncs whose process died.
  /// - Returns: Those that were stopped.
  func stopAbandoned(in transaction: StoreTransaction) throws -> [SyncState] {
    let now = configuration.now()
    return try SyncsSoup.all(.running, in: transaction).filter { try isAbandoned($0, now: now, transaction) }.map { found in
      var state = found
      state.enter(.stopped, now: now)
      try SyncsSoup.save(state, in: transaction)
      return state
    }
  }

  /// RUNNING, without a living owner.
  private func isAbandoned(_ state: SyncState, now: Int64, _ snapshot: StoreSnapshot) throws -> Bool {
    guard state.status == .running, !isRunning(state.id) else { return false }
    return try snapshot.lease(SyncLeases.name(state.id)).map { !leases.isHeldByOther($0, now: now) } ?? true
  }

  // MARK: Asking

  /// The stored state; nil when there is no such sync. A sync whose process died meanwhile is STOPPED.
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

  /// Stops what other processes left RUNNING when they died, and says so.
  func recoverAbandoned() throws {
    for state in try store.writeBlocking(.synced, { try stopAbandoned(in: $0) }) { hub.tell(state) }
  }

  public func hasSyncWithName(_ name: String) throws -> Bool { try getSyncStatus(.name(name)) != nil }

  /// True while the sync is queued, runs, or its ghosts are being cleaned, in this manager.
  public func isRunning(_ id: Int64) -> Bool { shared.withLock { $0.active[id] != nil } }

  /// Asked to stop, and something has not ended yet.
  public var isStopping: Bool { shared.withLock { !$0.isAccepting && !$0.active.isEmpty } }

  /// Asked to stop, and everything has ended.
  public var isStopped: Bool { shared.withLock { !$0.isAccepting && $0.active.isEmpty } }

  // MARK: Creating and deleting

  /// Saves a sync with the status NEW; nothing runs.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.duplicateName`.
  @discardableResult
  public func createSyncDown(
    target: JSONObject, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) throws -> SyncState {
    var state = try newState(.syncDown, target, options, soupName, syncName)
    try insert(&state)
    return state
  }

  /// Saves a sync with the status NEW; nothing runs. Without a target, or with `{}`, it gets the collection target.
  /// - Throws: ``SyncError`` `.invalidTarget`, `.invalidOptions`, `.noFieldlist`, `.duplicateName`.
  @discardableResult
  public func createSyncUp(
    target: JSONObject? = nil, options: JSONObject? = nil, soupName: String, syncName: String? = nil
  ) throws -> SyncState {
    var state = try newState(.syncUp, target ?? [:], options, soupName, syncName)
    try insert(&state)
    return state
  }

  /// A state with its target and options checked and normalised.
  func newState(
    _ type: SyncType, _ target: JSONObject, _ options: JSONObject?, _ soupName: String, _ syncName: String?
  ) throws -> SyncState {
    try SyncState(defining: type, target: target, options: options, soupName: soupName, name: syncName, targets: targets)
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
      throw SyncError(.runningElsewhere, "sync \(id) is still running in another process", isRetryable: true)
    }
  }

  /// Removes a saved sync; the records it brought stay. An unknown one is no error.
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
