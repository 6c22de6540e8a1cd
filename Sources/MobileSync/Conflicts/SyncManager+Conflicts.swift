import JSON
import SmartStore
import Synchronization

extension SyncManager {
  /// Receives the unresolved conflicts of a run, after they are stored and before the next update of the sync. From
  /// the run's task; the same conflict once, until the server's version of it changes.
  public typealias ConflictListener = @Sendable ([SyncConflict]) -> Void

  // MARK: Asking

  /// The conflicts of a store, by soup and entry.
  /// - Parameters:
  ///   - soupName: Of this soup only; nil for all.
  ///   - sync: Only those that this sync met last; nil for all. Their number is ``SyncCounts/conflicting`` of its last run
  ///     unless some were resolved since.
  /// - Throws: ``SyncError`` `.noSuchSync`; `StoreError` `.noSuchSoup`.
  public func conflicts(inSoup soupName: String? = nil, sync: SyncReference? = nil) throws -> [SyncConflict] {
    try store.readBlocking { snapshot in
      var syncId: Int64?
      if let sync {
        guard let found = try SyncsSoup.find(sync, in: snapshot) else { throw SyncError.noSuchSync(sync) }
        syncId = found.id
      }
      let soups = try soupName.map { [$0] } ?? snapshot.soupsInConflict()
      return try soups.flatMap { soup in
        try snapshot.conflicts(in: soup).filter { syncId == nil || $0.syncId == syncId }
          .compactMap { try snapshot.syncConflict($0, in: soup) }
      }
    }
  }

  /// The conflict of one entry; nil when it is in none.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func conflict(inSoup soupName: String, entryId: Int64) throws -> SyncConflict? {
    try store.readBlocking { try $0.syncConflict(entryId, in: soupName) }
  }

  /// The conflicts that runs meet from now on, as listeners get them. Ends when the manager is shut down. A reader that falls
  /// behind misses the oldest ones; ``conflicts(inSoup:sync:)`` has them all.
  public func conflictUpdates() -> AsyncStream<SyncConflict> { conflictHub.stream { _ in true } }

  // MARK: Resolving

  /// Ends a conflict. What is left to send goes with the next sync up.
  /// - Returns: The entry as it stands then; nil when it is removed.
  /// - Throws: ``SyncError`` `.noSuchConflict`, `.conflictUnresolved`; `StoreError` `.noSuchSoup`. The entry is as before then.
  @discardableResult
  public func resolveConflict(
    inSoup soupName: String, entryId: Int64, with resolution: ConflictResolution
  ) throws -> JSONObject? {
    try store.writeBlocking(.synced) { transaction in
      guard let conflict = try transaction.syncConflict(entryId, in: soupName) else {
        throw SyncError(.noSuchConflict, "entry \(entryId) of soup \(soupName) is in no conflict")
      }
      return try transaction.settle(conflict, resolution)?.object()
    }
  }

  /// Sets what decides conflicts of syncs whose options name it; nil takes it away. It goes before one of a script with that
  /// name.
  public func registerResolver(_ name: String, _ resolver: ConflictResolver?) {
    resolvers.withLock { $0[name] = resolver }
  }

  /// What a run asks.
  func resolver(_ name: String) -> ConflictResolver? {
    if let own = resolvers.withLock({ $0[name] }) { return own }
    guard let source = configuration.resolvers else { return nil }
    return { try await source.resolve($0, with: name) }
  }

  func tell(_ conflicts: [SyncConflict], _ listener: ConflictListener) {
    listener(conflicts)
    for conflict in conflicts { conflictHub.tell(conflict) }
  }
}
