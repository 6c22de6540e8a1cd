import JSON
import RestClient
import SmartStore

extension SyncManager {
  /// Removes ghosts: clean entries that a sync down brought and that the server would no longer
  /// send, because they were deleted or left the target's scope. Entries with local changes stay.
  /// Of the sync state, only ``SyncState/ghostsCheckedUntil`` changes.
  ///
  /// - Parameters:
  ///   - reference: A sync down.
  ///   - force: Removes them even if they are more than the target normally allows.
  ///   - maxRequests: How many requests the search may send at most, each attempt counted; with more it ends with
  ///     ``SyncError`` `.tooMuch`. nil for any number.
  ///   - onConflict: Called with the entries that have local changes and whose record the server
  ///     has deleted; with ``MergeMode/merge`` only.
  ///   - completion: Called once on the run's task with the number of removed entries, or the error
  ///     that ended it, such as ``SyncError`` `.runningElsewhere`.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.wrongSyncType`, `.alreadyRunning`.
  /// - Note: As in the Mobile SDK, an entry belongs to the sync that wrote it last (`__sync_id__`).
  ///   If another sync brought it as well and the server still sends it to that sync, the entry is
  ///   handed over instead of removed.
  public func cleanResyncGhosts(
    _ reference: SyncReference, force: Bool = false, maxRequests: Int? = nil,
    onConflict: @escaping ConflictListener = { _ in }, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
  ) throws {
    let limit = try maxRequests.map { try RequestLimit($0) }
    try cleanResyncGhosts(
      reference, RunControl(), force: force, limit: limit, onConflict: onConflict, completion: completion)
  }

  func cleanResyncGhosts(
    _ reference: SyncReference, _ control: RunControl, force: Bool = false, limit: RequestLimit? = nil,
    onConflict: @escaping ConflictListener = { _ in }, completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
  ) throws {
    try checkAccepting()
    guard let state = try getSyncStatus(reference) else { throw SyncError.noSuchSync(reference) }
    guard state.type == .syncDown else {
      throw SyncError(
        .wrongSyncType, "Cannot run cleanResyncGhosts:\(reference): wrong type:\(state.type.rawValue)")
    }
    try checkRestraint(state)
    let target = try targets.down(state.target)
    restrain(state, control)
    try reserve(state.id, control)
    let ticket = turns.book(target.mappings(state.soupName).map(\.soup))
    launch {
      let result: Result<Int, SyncError>
      do {
        try await self.waitTurn(ticket, control)
        try await self.settleOrg(of: state, control)
        let (held, history) = try await self.acquireLease(of: state, .ghosts, control, limit)
        let run = GhostRun(
          store: self.store, client: self.client, targets: self.targets, control: control,
          configuration: self.configuration.running(state), held: held, state: state, target: target, isForced: force,
          onConflicts: { self.report($0, onConflict) }, history: history)
        result = .success(try await self.perform(run))
      } catch {
        // A lost lease stops the run, too.
        let wasStopped = control.isStopping && !(error is StoreError) && !(error is SyncError)
        result = .failure(
          wasStopped ? SyncError(.stopped, control.reason ?? "the sync was stopped") : SyncError(wrapping: error))
      }
      self.turns.leave(ticket)
      self.release(state.id)
      completion(result)
    }
  }

  /// - Throws: ``SyncError`` `.runningElsewhere`.
  func acquireLease(
    of state: SyncState, _ kind: HistoryRun.Kind, _ control: RunControl, _ limit: RequestLimit? = nil
  ) async throws -> (HeldLease, RunHistory) {
    let configuration = configuration, leases = leases, job = job
    let (lease, since, run) = try await store.write(.pulled) { transaction in
      let since = configuration.uptime(), now = configuration.now()
      let lease = try leases.acquire(state.id, now: now, duration: configuration.leaseMs, in: transaction)
      return (lease, since, self.beginHistory(of: state, kind, job, now: now, in: transaction))
    }
    return (HeldLease(lease, since: since, control, configuration, limit: limit), RunHistory(run))
  }

  private func perform(_ run: GhostRun) async throws -> Int {
    let held = run.held, history = run.history, meter = RequestMeter(history: history)
    let result: Result<Int, any Error> = await renewals.holding(held) {
      await meter.counting {
        do { return .success(try await run.perform()) } catch { return .failure(held.failure ?? error) }
      }
    }
    let end = end(of: run, result, meter.totals), step = history.step()
    try await store.write(.pulled) { transaction in
      history.begin(step, in: transaction, now: end.at)
      held.end()
      try transaction.releaseLease(held.lease)
      history.end(end, step, in: transaction)
    }
    return try result.get()
  }

  private func end(of run: GhostRun, _ result: Result<Int, any Error>, _ traffic: RequestMeter.Totals) -> RunEnd {
    var removed = 0, failure: SyncError?, status = SyncStatus.done
    switch result {
    case .success(let count): removed = count
    case .failure(let error):
      let wasStopped = run.control.isStopping && !(error is StoreError) && !(error is SyncError)
      status = wasStopped ? .stopped : .failed
      failure = wasStopped ? nil : SyncError(wrapping: error)
    }
    let numbers = [
      ("removed", removed), ("requests", traffic.requests), ("retries", traffic.retries), ("bytes", traffic.bytes),
    ]
    let summary = RunSummary(counts: JSONObject(numbers.map { ($0.0, .integer(Int64($0.1))) }), error: failure)
    return RunEnd(status: status.rawValue, at: configuration.now(), text: summary.text(store.history.level))
  }
}
