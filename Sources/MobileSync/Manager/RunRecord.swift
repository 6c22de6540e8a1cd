import JSON
import RestClient
import SmartStore

/// The services that a run uses. Constant for the whole run.
struct RunEnvironment: Sendable {
  let store: Store
  let client: RunClient
  let service: any SyncService
  let targets: TargetRegistry
  let control: RunControl
  let configuration: SyncConfiguration
  let clock: ServerClock
  let held: HeldLease
  let owners: UploadOwners
  let refusedFields = RefusedFields()
  let history: RunHistory
  var intent = UploadIntent.send
  /// The entries that the run may send; nil for all.
  var limit: PlanLimit?
  let onUpdate: @Sendable (SyncState) -> Void
  let onConflicts: @Sendable ([SyncConflict]) -> Void
  /// Returns the conflict resolver of a name.
  let resolver: @Sendable (String) -> ConflictResolver?
}

/// A run's state and lease: saved together, and reported afterwards. Owned by one run and used only
/// by its task.
final class RunRecord {
  let environment: RunEnvironment
  /// The soups that the run writes to.
  let soups: [String]
  let mode: RunMode
  var lease: Lease { environment.held.lease }
  private(set) var state: SyncState
  /// The first failure of the sync's conflict resolver. The run sends and stores everything else,
  /// and then fails with it.
  private(set) var resolverFailure: SyncError?
  private(set) var hasNoResolver = false

  init(environment: RunEnvironment, soups: [String], state: SyncState, mode: RunMode = .resume) {
    self.environment = environment
    self.soups = soups
    self.mode = mode
    self.state = state
  }

  func note(_ failure: ResolverFailure) {
    resolverFailure = resolverFailure ?? failure.cause
    hasNoResolver = hasNoResolver || failure.isMissing
  }

  /// - Throws: ``SyncError`` if the resolver failed for a conflict of this run.
  func checkResolver() throws { if let resolverFailure { throw resolverFailure } }

  /// Runs a step of the run in one transaction and saves the state with it.
  ///
  /// - Parameters:
  ///   - made: What the transaction does, for the history.
  ///   - body: Works on the entries and updates the state.
  /// - Returns: The result of `body`, after the commit.
  /// - Throws: `StoreError` `.leaseLost` if another process has taken over the sync. Nothing is
  ///   written then.
  @discardableResult
  func save<T: Sendable>(
    _ durability: Durability, noting made: RunStep? = nil,
    _ body: @escaping @Sendable (StoreTransaction, inout SyncState) throws -> T
  ) async throws -> T {
    let held = environment.held, state = counted(), configuration = environment.configuration
    let history = environment.history, step = history.step()
    let result: T, began: Int64, written: RunHistory.Step?
    (self.state, result, began, written) = try await environment.store.write(durability) { transaction in
      var next = state, step = step
      let began = configuration.uptime()
      history.begin(step, in: transaction, now: configuration.now())
      _ = try transaction.renewLease(held.lease, now: configuration.now(), duration: configuration.leaseMs)
      let result = try body(transaction, &next)
      if let made { try history.add(made, to: &step, in: transaction) }
      try SyncsSoup.save(next, in: transaction)
      if next.status.isTerminal {
        held.end()
        try transaction.releaseLease(held.lease)
        history.end(next, step, in: transaction)
      }
      step?.count(updates: transaction.history?.updates ?? 0)
      return (next, result, began, step)
    }
    history.written(written)
    held.renewed(at: began)
    return result
  }

  /// Reports the current state to the listener.
  func report() { environment.onUpdate(state) }

  /// Reports an earlier status and progress than the stored state has.
  func report(status: SyncStatus, progress: Int) {
    var shown = state
    shown.status = status
    shown.progress = progress
    if status == .running { shown.endTime = 0 }
    environment.onUpdate(shown)
  }

  /// Returns the state with the traffic so far.
  private func counted() -> SyncState {
    var state = state
    let totals = environment.client.meter.totals
    state.counts.requests = totals.requests
    state.counts.retries = totals.retries
    state.counts.bytes = totals.bytes
    if let limitInfo = totals.limitInfo { state.limitInfo = limitInfo }
    return state
  }

  /// Ends the run after `error`, or after the loss of its lease: as STOPPED if it was asked to end,
  /// else as FAILED. Stored records stay.
  func end(_ error: any Error) async {
    let held = environment.held, error = held.failure ?? error
    let now = environment.configuration.now()
    var ended = counted()
    if isStop(error) {
      ended.enter(.stopped, now: now)
      if let reason = environment.control.reason { ended.warnings.append(reason) }
    } else if let error = error as? RestError, let resumeAt = error.resumeAt {
      ended.enter(.stopped, now: now)
      ended.resumeAt = resumeAt
      ended.warnings.append(error.message)
    } else {
      ended.fail(SyncError(wrapping: error), now: now)
    }
    let final = ended, soups = soups
    state = final
    // The row belongs to the process that took over the sync.
    if let error = error as? StoreError, error.code == .leaseLost { return }
    let history = environment.history, step = history.step()
    do {
      try await environment.store.write(.pulled) { transaction in
        history.begin(step, in: transaction, now: now)
        try transaction.verify(held.lease)
        for soup in soups where try transaction.soupExists(soup) { try transaction.finishBulkLoad(soup: soup) }
        try SyncsSoup.save(final, in: transaction)
        held.end()
        try transaction.releaseLease(held.lease)
        history.end(final, step, in: transaction)
      }
    } catch {
      // The next manager finds a RUNNING row without a living owner and stops the sync.
      environment.configuration.logger.error(
        "sync \(final.id) ended \(final.status.rawValue), and that could not be saved: \(error)")
    }
  }

  private func isStop(_ error: any Error) -> Bool {
    guard environment.control.isStopping || Task.isCancelled else { return error is CancellationError }
    if let error = error as? RestError { return error.code == .cancelled || error.code == .shutDown }
    return error is CancellationError
  }
}
