import JSON
import SmartStore

extension SyncManager {
  /// Looks into the manager's store.
  public var look: StoreLook { StoreLook(store, targets: targets, now: configuration.now) }

  /// Returns what the store holds: soups with what waits in them, and syncs with their last runs.
  public func getOverview() throws -> StoreOverview { try look.overview() }

  /// Returns the entries with local changes, and why each one is not on the server.
  /// - Parameters:
  ///   - soupName: Limits the list to a soup; nil for all.
  ///   - states: Limits the list to these states; nil for all.
  ///   - run: Limits the list to what this run refused, skipped or found in conflict; nil for all.
  /// - Throws: `StoreError` `.noSuchSoup`; ``SyncError`` `.noSuchRun`.
  public func getDirtyEntries(
    inSoup soupName: String? = nil, states: Set<DirtyEntry.State>? = nil, run: Int64? = nil
  ) throws -> [DirtyEntry] {
    try look.dirtyEntries(inSoup: soupName, states: states, run: run)
  }

  /// Returns what the runs of the syncs did, newest first, as far as the store's history goes back.
  /// - Throws: ``SyncError`` `.noSuchSync`.
  public func getRuns(_ filter: RunFilter = RunFilter()) throws -> [ToldRun] { try look.runs(filter) }

  /// Returns one run with its requests, steps and records.
  /// - Throws: ``SyncError`` `.noSuchRun`.
  public func getRun(_ number: Int64) throws -> ToldRun { try look.run(number) }

  /// Says why an entry looks as it does, what happened to it, and what the next sync up does with it.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func explainEntry(_ soupName: String, entryId: Int64) throws -> EntryExplanation {
    try look.explain(entry: entryId, in: soupName)
  }

  /// Explains a record by the server's id; also one that has left the soup.
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func explainEntry(_ soupName: String, recordId: String) throws -> EntryExplanation {
    try look.explain(recordId: recordId, in: soupName)
  }

  /// Explains an entry as scripts get it: what the next sync up does is the planner's verdict.
  /// - Parameters:
  ///   - soupName: The soup.
  ///   - entryId: The entry.
  ///   - asksServer: Whether an entry with local changes is compared with the server, as the next sync up does.
  /// - Throws: `StoreError` `.noSuchSoup`; errors of the server if it is asked.
  public func explainEntry(_ soupName: String, entryId: Int64, asksServer: Bool) async throws -> EntryExplanation {
    var told = try await look.store.read { [look] in try look.explain(entry: entryId, in: soupName, $0) }
    try await planner().complete(&told, asksServer: asksServer)
    return told
  }

  /// Drops local changes: an entry becomes what the server is known to have. A deletion is taken back. All in one
  /// transaction.
  ///
  /// An entry in conflict takes the server's version, as with ``ConflictResolution/server``. Entries stay as they are while
  /// an upload of them has no answer or a sync of the soup runs.
  /// - Parameters:
  ///   - soupName: The soup.
  ///   - entryIds: The `_soupEntryId`s.
  ///   - fields: Only these fields get their earlier values; the entry becomes clean if nothing else is left. nil for all.
  ///   - created: Whether entries that the server never had are removed; otherwise they are kept.
  /// - Returns: The entries that were discarded, and those that were kept with the reason.
  /// - Throws: `StoreError` `.noSuchSoup`.
  @discardableResult
  public func discardChanges(
    _ soupName: String, entryIds: [Int64], fields: [String]? = nil, created: Bool = false
  ) throws -> DiscardResult {
    let now = configuration.now(), targets = targets
    return try store.writeBlocking(.synced) { transaction in
      guard try transaction.soupExists(soupName) else { throw StoreError.noSuchSoup(soupName) }
      let syncs = try SyncsSoup.all(in: transaction)
      let discarding = Discarding(
        soup: soupName, fields: fields, removesCreated: created, uploads: SoupUploads(syncs, targets), now: now)
      return try discarding.run(
        entryIds, in: transaction,
        running: { state in
          guard SoupUploads.soups(of: state, targets).contains(where: { $0.hasSameBytes(as: soupName) }) else { return false }
          return try self.isRunning(state.id) || StoreLook.isHeld(try transaction.lease(SyncLeases.name(state.id)), now: now)
        }, syncs)
    }
  }
}
