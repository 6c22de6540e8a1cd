import JSON
import Logging
import RestClient
import SmartStore
import Support

extension SyncManager {
  /// Called with the state at the start (RUNNING), after the first answer, after each page or
  /// record, and at the end: DONE, STOPPED or FAILED, exactly once and last. The first call comes
  /// on the caller's thread, the others on the run's task, one after the other. The reported state
  /// is already stored. Must not block for long, because the run waits for it.
  public typealias Listener = @Sendable (SyncState) -> Void

  /// Creates a sync down and starts it.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` `.managerStopped`, `.invalidTarget`, `.invalidOptions`, `.duplicateName`; nothing is created then.
  @discardableResult
  public func syncDown(
    target: JSONObject, options: JSONObject? = nil, soupName: String, syncName: String? = nil,
    onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try create(.syncDown, target, options, soupName, syncName, RunListeners(onUpdate, onConflict))
  }

  /// Creates a sync up and starts it.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: As ``syncDown(target:options:soupName:syncName:onConflict:onUpdate:)``, and ``SyncError`` `.noFieldlist`.
  @discardableResult
  public func syncUp(
    target: JSONObject? = nil, options: JSONObject? = nil, soupName: String, syncName: String? = nil,
    onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try create(.syncUp, target ?? [:], options, soupName, syncName, RunListeners(onUpdate, onConflict))
  }

  func create(
    _ type: SyncType, _ target: JSONObject, _ options: JSONObject?, _ soupName: String, _ syncName: String?,
    _ listeners: RunListeners
  ) throws -> SyncState {
    try checkAccepting()
    let state = try newState(type, target, options, soupName, syncName)
    try checkRestraint(state)
    return try createAndStart(state, listeners)
  }

  /// Runs a saved sync again, from its current state.
  /// - Parameters:
  ///   - reference: The sync.
  ///   - maxRequests: How many requests the run may send at most, each attempt counted; with more it ends as FAILED with
  ///     ``SyncError`` `.tooMuch`, and what it stored stays. nil for any number.
  ///   - onConflict: Called with the conflicts that the run finds.
  ///   - onUpdate: Called with each state.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.alreadyRunning`, `.runningElsewhere`, `.invalidArguments`.
  @discardableResult
  public func reSync(
    _ reference: SyncReference, maxRequests: Int? = nil, onConflict: @escaping ConflictListener = { _ in },
    onUpdate: @escaping Listener
  ) throws -> SyncState {
    try reSync(reference, RunListeners(onUpdate, onConflict, limit: maxRequests.map { try RequestLimit($0) }))
  }

  func reSync(_ reference: SyncReference, _ listeners: RunListeners, mode: RunMode = .resume) throws -> SyncState {
    try checkAccepting()
    guard let found = try getSyncStatus(reference) else { throw SyncError.noSuchSync(reference) }
    try checkRestraint(found)
    return try start(found.id, listeners, mode) { stored in
      var state = stored
      state.totalSize = -1
      return state
    }
  }

  /// Runs a sync from the given state, ignoring its stored one.
  /// - Returns: The state at the start: RUNNING.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.alreadyRunning`, `.runningElsewhere`.
  @discardableResult
  public func runSync(
    _ state: SyncState, onConflict: @escaping ConflictListener = { _ in }, onUpdate: @escaping Listener
  ) throws -> SyncState {
    try run(state, RunListeners(onUpdate, onConflict))
  }

  func run(_ state: SyncState, _ listeners: RunListeners) throws -> SyncState {
    try checkAccepting()
    try checkRestraint(state)
    return try start(state.id, listeners) { _ in state }
  }

  private func start(
    _ id: Int64, _ listeners: RunListeners, _ mode: RunMode = .resume, from state: (SyncState) throws -> SyncState
  ) throws -> SyncState {
    let control = listeners.control, job = job
    try reserve(id, control)
    do {
      let start = try store.writeBlocking(.synced) { transaction in
        guard let stored = try SyncsSoup.find(.id(id), in: transaction) else { throw SyncError.noSuchSync(.id(id)) }
        return try enter(state(mode.beginning(stored, in: transaction)), in: transaction, job, mode)
      }
      return begin(start, control, listeners)
    } catch {
      release(id)
      throw error
    }
  }

  func checkAccepting() throws {
    guard shared.withLock({ $0.isAccepting }) else { throw notAccepting }
  }

  private var notAccepting: SyncError {
    SyncError(.managerStopped, "sync manager has state \(isStopping ? "stop_requested" : "stopped")")
  }

  // MARK: Starting

  /// A run that is saved as RUNNING and holds its lease.
  struct Start: Sendable {
    var state: SyncState
    let lease: Lease
    /// Ms of the monotonic clock, from before the lease was acquired.
    let leaseSince: Int64
    /// Whether the previous run reached its end, or there was none.
    let previousRunEnded: Bool
    var mode = RunMode.resume
    /// The number of the run in the history; nil without one.
    var run: Int64?
  }

  private func createAndStart(_ state: SyncState, _ listeners: RunListeners) throws -> SyncState {
    let control = listeners.control, job = job
    var reserved: Int64?
    do {
      let start = try store.writeBlocking(.synced) { transaction in
        var state = state
        try add(&state, in: transaction)
        // Before other threads can see the row.
        try reserve(state.id, control)
        reserved = state.id
        return try enter(state, in: transaction, job)
      }
      return begin(start, control, listeners)
    } catch {
      if let reserved { release(reserved) }
      throw error
    }
  }

  /// - Parameter plan: The id of the plan that the run applies; nil without one.
  func enter(
    _ stored: SyncState, in transaction: StoreTransaction, _ job: String?, _ mode: RunMode = .resume, plan: String? = nil
  ) throws -> Start {
    let since = configuration.uptime(), now = configuration.now()
    let lease = try leases.acquire(stored.id, now: now, duration: configuration.leaseMs, in: transaction)
    let ended = stored.status == .done || stored.status == .new
    var state = stored
    let isStartedOver = try state.startOver(ifEmptied: soups(of: state), in: transaction)
    // Only part of the last millisecond may have been stored.
    if !ended { state.maxTimeStamp = max(TimeStamp.never, state.maxTimeStamp - 1) }
    // If the row is RUNNING, its process has died.
    state.status = .new
    state.enter(.running, now: now)
    try SyncsSoup.save(state, in: transaction)
    let kind: HistoryRun.Kind = state.type == .syncDown ? .syncDown : .syncUp
    let run = beginHistory(of: state, kind, job, now: now, plan: plan, in: transaction)
    let hasNothing = mode == .more && ended && stored.status == .done
    return Start(
      state: state, lease: lease, leaseSince: since, previousRunEnded: ended,
      mode: isStartedOver ? .resume : hasNothing ? .nothing : mode, run: run)
  }

  /// Adds the row of a run that begins.
  /// - Returns: Its number; nil without a history.
  func beginHistory(
    of state: SyncState, _ kind: HistoryRun.Kind, _ job: String?, now: Int64, plan: String? = nil,
    in transaction: StoreTransaction
  ) -> Int64? {
    transaction.history?.now = now
    var run = HistoryRun(
      state.id, name: state.name, kind, pid: Int64(ProcessIdentity.current.pid), job: job, startedAt: now)
    run.plan = plan
    return transaction.history?.begin(run)
  }

  /// The attempt of a job that the current task works for.
  var job: String? { JobOrigin.current ?? configuration.job }

  /// Registers a run, so that ``stop()`` and ``shutdown()`` include it.
  /// - Throws: ``SyncError`` `.managerStopped`, `.alreadyRunning`.
  func reserve(_ id: Int64, _ control: RunControl) throws {
    let (isAccepting, isFree) = shared.withLock { shared in
      let isFree = shared.active[id] == nil
      if shared.isAccepting, isFree { shared.active[id] = control }
      return (shared.isAccepting, isFree)
    }
    guard isAccepting else { throw notAccepting }
    guard isFree else { throw SyncError.alreadyRunning(id) }
  }

  /// Lets the next run of a sync begin.
  /// - Parameter end: The last state of the run. Streams get it before another run can report, so
  ///   that a state of an earlier run never follows one of a later run.
  func release(_ id: Int64, end: SyncState? = nil) {
    let waiting = shared.withLock { shared in
      if let end { hub.send(end) }
      shared.active[id] = nil
      shared.queued.remove(id)
      return shared.takeWaitingForEnd()
    }
    for continuation in waiting { continuation.resume() }
  }

  /// The listeners of a run, and the control that ends it.
  struct RunListeners: Sendable {
    let update: Listener
    let conflict: ConflictListener
    let control: RunControl
    let limit: RequestLimit?

    init(
      _ update: @escaping Listener, _ conflict: @escaping ConflictListener = { _ in }, control: RunControl = RunControl(),
      limit: RequestLimit? = nil
    ) {
      self.limit = limit
      self.update = update
      self.conflict = conflict
      self.control = control
    }
  }

  /// - Parameter limit: The entries that the run may send; nil for all.
  func begin(_ start: Start, _ control: RunControl, _ listeners: RunListeners, _ limit: PlanLimit? = nil) -> SyncState {
    let history = RunHistory(start.run), meter = RequestMeter(history: history), hub = hub
    // Streams first: a listener may continue the caller, who must not meet this state again in a
    // stream that it opens then.
    let listener: Listener = { [update = listeners.update] state in
      hub.send(state)
      update(state)
    }
    restrain(start.state, control)
    let service = targets.service(of: start.state.type, start.state.target)
    let environment = RunEnvironment(
      store: store, client: RunClient(client: client, service: service, meter: meter, clock: clock), service: service,
      targets: targets, control: control,
      configuration: configuration.running(start.state), clock: clock,
      held: HeldLease(start.lease, since: start.leaseSince, control, configuration, limit: listeners.limit),
      owners: UploadOwners(leases: leases) { self.isRunning($0) }, history: history, limit: limit,
      onUpdate: listener,
      onConflicts: { [conflict = listeners.conflict] in self.report($0, conflict) },
      resolver: { self.resolver($0, of: start.state) })
    let soups = self.soups(of: start.state), ticket = turns.book(soups)
    var state = start.state
    state.isQueued = turns.isWaiting(ticket)
    if state.isQueued { shared.withLock { _ = $0.queued.insert(state.id) } }
    listener(state)
    launch(forRunOf: state.id) {
      await self.renewals.holding(environment.held) {
        await meter.counting { await self.run(start, environment, listeners.update, soups, ticket) }
      }
    }
    return state
  }

  /// Returns the soups that a run of a sync writes to.
  func soups(of state: SyncState) -> [String] { SoupUploads.soups(of: state, targets) }

  /// Starts a task that ``shutdown()`` waits for. It is released when it ends.
  package func launch(forRunOf id: Int64? = nil, _ work: @escaping @Sendable () async -> Void) {
    shared.withLock { shared in
      shared.lastTask += 1
      let number = shared.lastTask
      let task = Task {
        await work()
        self.forget(task: number, ofRun: id)
      }
      if shared.isShuttingDown { task.cancel() }
      shared.tasks[number] = task
      if let id { shared.runs[id] = number }
    }
  }

  private func forget(task number: Int, ofRun id: Int64?) {
    let waiting = shared.withLock { shared in
      shared.tasks[number] = nil
      if let id, shared.runs[id] == number { shared.runs[id] = nil }
      return shared.takeWaitingForEnd()
    }
    for continuation in waiting { continuation.resume() }
  }

  // MARK: Running

  /// Performs one run, from waiting in the queue to the last report.
  private func run(
    _ start: Start, _ environment: RunEnvironment, _ caller: Listener, _ soups: [String], _ ticket: SoupTurns.Ticket
  ) async {
    let record = RunRecord(environment: environment, soups: soups, state: start.state, mode: start.mode)
    do {
      try await waitTurn(ticket, environment.control)
      shared.withLock { _ = $0.queued.remove(start.state.id) }
      try await settleOrg(record)
      switch start.state.type {
      case .syncDown:
        let isUnsettled = try await LostCreates.resolve(beforeFilling: soups, record)
        var run = try SyncDownRun(record, previousRunEnded: start.previousRunEnded, mayIncludeLostCreates: isUnsettled)
        try await run.perform()
      case .syncUp:
        if let target = try targets.families(start.state.target) {
          var run = ParentChildrenUpRun(record, target)
          try await run.perform()
        } else {
          var run = try SyncUpRun(record)
          try await run.perform()
        }
      }
    } catch {
      await record.end(error)
    }
    log(record.state)
    turns.leave(ticket)
    // Release before reporting: the listener may start the same sync again.
    release(start.state.id, end: record.state)
    caller(record.state)
  }

  func waitTurn(_ ticket: SoupTurns.Ticket, _ control: RunControl) async throws {
    let turns = turns
    try await control.value(of: Task { try await turns.wait(ticket) })
    try control.check()
  }

  /// Logs the end of a run.
  private func log(_ state: SyncState) {
    var metadata: Logger.Metadata = [
      "sync": "\(state.name ?? String(state.id))", "type": "\(state.type.rawValue)", "soup": "\(state.soupName)",
    ]
    if state.status == .failed {
      metadata["error"] = "\(state.failure?.message ?? state.error)"
      return configuration.logger.warning("sync failed", metadata: metadata)
    }
    for field in SyncCounts.fields where state.counts[keyPath: field.path] > 0 {
      metadata[field.name] = .stringConvertible(state.counts[keyPath: field.path])
    }
    metadata["ms"] = .stringConvertible(max(0, state.endTime - state.startTime))
    configuration.logger.info("sync \(state.status == .stopped ? "stopped" : "done")", metadata: metadata)
  }
}
