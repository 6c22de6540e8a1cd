import JSON
import RestClient
import SmartStore

extension SyncManager {
  /// Removes the clean entries a sync down brought that the server would no longer send: deleted there, or no longer in
  /// the target's scope. Entries with local changes stay. The sync state stays as it is but for
  /// ``SyncState/ghostsCheckedUntil``.
  ///
  /// - Parameters:
  ///   - reference: A sync down.
  ///   - force: Also when they are more than the target allows otherwise.
  ///   - onConflict: Told the entries with local changes whose record the server has deleted; with ``MergeMode/merge`` only.
  ///   - completion: Called once, from the run's task: the number of entries removed, or why it ended before.
  /// - Throws: ``SyncError`` `.managerStopped`, `.noSuchSync`, `.wrongSyncType`, `.alreadyRunning`.
  /// - Note: An entry belongs to the sync that wrote it last (`__sync_id__`), as in the model. One that another sync brought
  ///   too, and that the server still sends to that one, goes over to it instead of being removed.
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
    let ticket = turns.book(target.places(state.soupName).map(\.soup))
    launch {
      let result: Result<Int, SyncError>
      do {
        try await self.waitTurn(ticket, control)
        try await self.settleOrg(of: state, control)
        let run = GhostRun(
          store: self.store, client: self.client, targets: self.targets, control: control, configuration: self.configuration,
          state: state, target: target, isForced: force, onConflicts: { self.tell($0, onConflict) })
        result = .success(try await run.perform())
      } catch {
        result = .failure(
          control.isStopping ? SyncError(.stopped, control.reason ?? "the sync was stopped") : SyncError(wrapping: error))
      }
      self.turns.leave(ticket)
      self.release(state.id)
      completion(result)
    }
  }
}
