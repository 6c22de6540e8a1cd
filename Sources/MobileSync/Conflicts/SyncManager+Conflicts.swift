import JSON
import SmartStore
import Synchronization

extension SyncManager {
  /// Receives the unresolved conflicts of a run, after they are stored and before the next update
  /// of the sync. Called on the run's task, once for each conflict until the server's version
  /// changes.
  public typealias ConflictListener = @Sendable ([SyncConflict]) -> Void

  // MARK: Asking

  /// Returns the conflicts of a store, by soup and entry.
  /// - Parameters:
  ///   - soupName: Limits the result to one soup; nil for all.
  ///   - sync: Limits the result to conflicts that this sync detected last; nil for all. Unless
  ///     some were resolved since, their number is ``SyncCounts/conflicting`` of its last run.
  ///   - run: Limits the result to conflicts that this run found; nil for all.
  /// - Throws: ``SyncError`` `.noSuchSync`, `.noSuchRun`; `StoreError` `.noSuchSoup`.
  public func conflicts(
    inSoup soupName: String? = nil, sync: SyncReference? = nil, run: Int64? = nil
  ) throws -> [SyncConflict] {
    try look.conflicts(inSoup: soupName, sync: sync, run: run)
  }

  /// Returns the conflict of one entry; nil if it has none.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func conflict(inSoup soupName: String, entryId: Int64) throws -> SyncConflict? {
    try look.conflict(inSoup: soupName, entryId: entryId)
  }

  /// Returns a stream of the conflicts that runs detect from now on, as listeners get them. It ends
  /// when the manager shuts down. A reader that falls behind misses the oldest ones;
  /// ``conflicts(inSoup:sync:run:)`` returns all.
  public func conflictUpdates() -> AsyncStream<SyncConflict> { conflictHub.stream { _ in true } }

  // MARK: Resolving

  /// Resolves a conflict. Remaining local changes are sent with the next sync up.
  /// - Returns: The resulting entry; nil if it was removed.
  /// - Throws: ``SyncError`` `.noSuchConflict`, `.conflictUnresolved`; `StoreError` `.noSuchSoup`.
  ///   The entry is unchanged then.
  @discardableResult
  public func resolveConflict(
    inSoup soupName: String, entryId: Int64, with resolution: ConflictResolution
  ) throws -> JSONObject? {
    try store.writeBlocking(.synced) { transaction in
      guard let conflict = try transaction.syncConflict(entryId, in: soupName) else {
        throw SyncError(.noSuchConflict, "entry \(entryId) of soup \(soupName) has no conflict")
      }
      return try transaction.resolve(conflict, resolution)?.object()
    }
  }

  /// Registers a resolver for the syncs whose options name it; nil removes it. It takes precedence
  /// over a script's resolver of that name.
  public func registerResolver(_ name: String, _ resolver: ConflictResolver?) {
    resolvers.withLock { $0[name] = resolver }
  }

  /// Returns the resolver of this name: a registered one, else that of a script.
  func resolver(_ name: String, of state: SyncState) -> ConflictResolver? {
    if let own = resolvers.withLock({ $0[name] }) { return own }
    guard let source = configuration.resolvers else { return nil }
    let isRegistered = state.usesRegisteredCode
    return { try await source.resolve($0, with: name, ifRegistered: isRegistered) }
  }

  func report(_ conflicts: [SyncConflict], _ listener: ConflictListener) {
    for conflict in conflicts { conflictHub.send(conflict) }
    listener(conflicts)
  }
}
