import JSON
import RestClient
import SmartStore

/// What every run works with. The same for its whole life.
struct RunEnvironment: Sendable {
  let store: Store
  let client: RunClient
  let service: any SyncService
  let targets: TargetRegistry
  let control: RunControl
  let configuration: SyncConfiguration
  let clock: ServerClock
  let owners: UploadOwners
  let refusedFields = RefusedFields()
  let onUpdate: @Sendable (SyncState) -> Void
  let onConflicts: @Sendable ([SyncConflict]) -> Void
  /// What decides conflicts, by name.
  let resolver: @Sendable (String) -> ConflictResolver?
}

/// A run's state and its right to run: saved together, reported after that. One run owns it, and its task alone uses it.
final class RunRecord {
  let environment: RunEnvironment
  /// The soups the run writes to.
  let soups: [String]
  let mode: RunMode
  private(set) var lease: Lease
  private(set) var state: SyncState

  init(environment: RunEnvironment, soups: [String], lease: Lease, state: SyncState, mode: RunMode = .resume) {
    self.environment = environment
    self.soups = soups
    self.mode = mode
    self.lease = lease
    self.state = state
  }

  /// Runs one transaction that does the work of a step and saves the state with it. All of it is committed, or nothing.
  ///
  /// - Parameter body: Works on the entries and changes the state accordingly.
  /// - Returns: What `body` returned, once it is committed.
  /// - Throws: `StoreError` `.leaseLost` when another process took the sync over. Nothing is written then.
  @discardableResult
  func save<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction, inout SyncState) throws -> T
  ) async throws -> T {
    let lease = lease, state = counted(), configuration = environment.configuration
    let result: T
    (self.lease, self.state, result) = try await environment.store.write(durability) { transaction in
      var next = state
      var renewed = try transaction.renewLease(lease, now: configuration.now(), duration: configuration.leaseMs)
      let result = try body(transaction, &next)
      try SyncsSoup.save(next, in: transaction)
      if next.status.isTerminal {
        try transaction.releaseLease(renewed)
        renewed = lease
      }
      return (renewed, next, result)
    }
    return result
  }

  /// Tells the listener how things stand.
  func report() { environment.onUpdate(state) }

  /// Tells the listener how far it got, where the stored state is further already.
  func report(status: SyncStatus, progress: Int) {
    var shown = state
    shown.status = status
    shown.progress = progress
    if status == .running { shown.endTime = 0 }
    environment.onUpdate(shown)
  }

  /// The state with the traffic so far.
  private func counted() -> SyncState {
    var state = state
    let totals = environment.client.meter.totals
    state.counts.requests = totals.requests
    state.counts.retries = totals.retries
    state.counts.bytes = totals.bytes
    if let limitInfo = totals.limitInfo { state.limitInfo = limitInfo }
    return state
  }

  /// Ends the run that threw `error`: STOPPED when it was asked to end, else FAILED. What was stored stays stored.
  func end(_ error: any Error) async {
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
    let final = ended, lease = lease, soups = soups
    state = final
    // The row belongs to the process that took the sync over.
    if let error = error as? StoreError, error.code == .leaseLost { return }
    do {
      try await environment.store.write(.pulled) { transaction in
        try transaction.verify(lease)
        for soup in soups where try transaction.soupExists(soup) { try transaction.finishLoading(soup: soup) }
        try SyncsSoup.save(final, in: transaction)
        try transaction.releaseLease(lease)
      }
    } catch {
      // The next manager finds a RUNNING row whose owner is gone, and stops it.
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
