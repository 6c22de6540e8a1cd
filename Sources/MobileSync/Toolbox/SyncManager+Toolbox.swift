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
  /// - Throws: `StoreError` `.noSuchSoup`.
  public func getDirtyEntries(inSoup soupName: String? = nil, states: Set<DirtyEntry.State>? = nil) throws -> [DirtyEntry] {
    try look.dirtyEntries(inSoup: soupName, states: states)
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
