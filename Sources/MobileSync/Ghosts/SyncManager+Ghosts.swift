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
  ///   - onConflict: Called with the entries that have local changes and whose record the server
  ///     has deleted; with ``MergeMode/merge`` only.
  ///   - completion: Called once on the run's task with the number of removed entries, or the error
  ///     that ended it, such as ``SyncError`` `.runningElsewhere`.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.wrongSyncType`, `.alreadyRunning`.
  /// - Note: As in the Mobile SDK, an entry belongs to the sync that wrote it last (`__sync_id__`).
  ///   If another sync brought it as well and the server still sends it to that sync, the entry is
  ///   handed over instead of removed.
  public func cleanResyncGhosts(
    _ reference: SyncReference, force: Bool = false, onConflict: @escaping ConflictListener = { _ in },
    completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
  ) throws {
    try cleanResyncGhosts(reference, RunControl(), force: force, onConflict: onConflict, completion: completion)
  }

  func cleanResyncGhosts(
    _ reference: SyncReference, _ control: RunControl, force: Bool = false, onConflict: @escaping ConflictListener = { _ in },
    completion: @escaping @Sendable (Result<Int, SyncError>) -> Void
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
        let held = try await self.acquireLease(of: state.id, control)
        let run = GhostRun(
          store: self.store, client: self.client, targets: self.targets, control: control,
          configuration: self.configuration.running(state), held: held, state: state, target: target, isForced: force,
          onConflicts: { self.report($0, onConflict) })
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
  private func acquireLease(of id: Int64, _ control: RunControl) async throws -> HeldLease {
    let configuration = configuration, leases = leases
    let (lease, since) = try await store.write(.pulled) { transaction in
      let since = configuration.uptime()
      let lease = try leases.acquire(id, now: configuration.now(), duration: configuration.leaseMs, in: transaction)
      return (lease, since)
    }
    return HeldLease(lease, since: since, control, configuration)
  }

  private func perform(_ run: GhostRun) async throws -> Int {
    let held = run.held
    let result: Result<Int, any Error> = await renewals.holding(held) {
      do { return .success(try await run.perform()) } catch { return .failure(held.failure ?? error) }
    }
    try await store.write(.pulled) { transaction in
      held.end()
      try transaction.releaseLease(held.lease)
    }
    return try result.get()
  }
}
