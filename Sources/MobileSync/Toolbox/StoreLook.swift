import JSON
import SmartStore
import Support

/// Looks into a store: what waits there, why, and how its syncs went. It changes nothing, not even the status of a
/// sync whose process died, and needs no server.
public struct StoreLook: Sendable {
  public let store: Store
  let targets: TargetRegistry
  /// The time of the machine in ms since 1970 UTC.
  let now: @Sendable () -> Int64

  /// - Parameters:
  ///   - store: Open, or open for looking.
  ///   - targets: The kinds of targets, which know the fields of the soups' records.
  ///   - now: A clock in ms since 1970 UTC.
  public init(_ store: Store, targets: TargetRegistry, now: (@Sendable () -> Int64)? = nil) {
    self.store = store
    self.targets = targets
    self.now = now ?? { SystemClock.millisecondsSince1970() }
  }

  /// The options of a command that name the store.
  var storeOptions: [String] {
    (store.name == StoreRegistry.defaultStoreName ? [] : ["--store-name", store.name])
      + (store.isGlobal ? ["--global-store"] : [])
  }

  /// Returns whether a run is still going on that had this lease.
  static func isHeld(_ lease: Lease?, now: Int64) -> Bool { lease.map { SyncLeases.isHeld($0, now: now) } ?? false }

  // MARK: Lists

  /// Returns the entries with local changes, by soup and entry.
  /// - Parameters:
  ///   - soupName: Limits the list to a soup; nil for all.
  ///   - states: Limits the list to these states; nil for all.
  ///   - run: Limits the list to what this run refused, skipped or found in conflict; nil for all.
  /// - Throws: `StoreError` `.noSuchSoup`; ``SyncError`` `.noSuchRun`.
  public func dirtyEntries(
    inSoup soupName: String? = nil, states: Set<DirtyEntry.State>? = nil, run: Int64? = nil
  ) throws -> [DirtyEntry] {
    // A history that cannot be read hides nothing else.
    let stories = try? store.readBlocking { try UnsentStories($0, soup: soupName) }
    return try store.readBlocking { snapshot in
      let soups = try soupName.map { [$0] } ?? snapshot.soupNames().filter { $0 != SyncsSoup.name }
      let reader = try DirtyReader(self, snapshot, stories), left = try entriesLeft(by: run, snapshot)
      return try soups.flatMap { soup in
        try reader.entries(in: soup, states, among: left.map { try $0[snapshot.soupNumber(of: soup)] ?? [] })
      }
    }
  }

  private func entriesLeft(by run: Int64?, _ snapshot: StoreSnapshot) throws -> [Int64: Set<Int64>]? {
    try run.map { try HistoryReader(snapshot, now: now()).entriesLeft(by: $0) }
  }

  /// Returns the conflicts of a store; see ``SyncManager/conflicts(inSoup:sync:run:)``.
  public func conflicts(
    inSoup soupName: String? = nil, sync: SyncReference? = nil, run: Int64? = nil
  ) throws -> [SyncConflict] {
    try store.readBlocking { snapshot in
      let left = try entriesLeft(by: run, snapshot)
      var syncId: Int64?
      if let sync {
        guard try snapshot.soupExists(SyncsSoup.name), let found = try SyncsSoup.find(sync, in: snapshot) else {
          throw SyncError.noSuchSync(sync)
        }
        syncId = found.id
      }
      let soups = try soupName.map { [$0] } ?? snapshot.soupsInConflict()
      var policies = ConflictPolicies()
      return try soups.flatMap { soup in
        let among = try left.map { try $0[snapshot.soupNumber(of: soup)] ?? [] }
        return try snapshot.conflicts(in: soup)
          .filter { (syncId == nil || $0.syncId == syncId) && among?.contains($0.entryId) ?? true }
          .compactMap { try snapshot.syncConflict($0, in: soup, &policies) }
      }
    }
  }

  /// Returns the conflict of one entry; nil if it has none.
  public func conflict(inSoup soupName: String, entryId: Int64) throws -> SyncConflict? {
    try store.readBlocking { try $0.syncConflict(entryId, in: soupName) }
  }
}
