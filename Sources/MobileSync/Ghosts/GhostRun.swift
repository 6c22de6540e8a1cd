import JSON
import RestClient
import SmartStore

/// One search for ghosts: entries that a sync brought and the server would no longer send.
struct GhostRun: Sendable {
  let store: Store
  let client: any RestClient
  let targets: TargetRegistry
  let control: RunControl
  let configuration: SyncConfiguration
  let held: HeldLease
  let state: SyncState
  let target: any SyncDownTarget
  /// See ``FetchContext/isForced``.
  var isForced = false
  let onConflicts: @Sendable ([SyncConflict]) -> Void
  let history: RunHistory

  var mappings: [SoupMapping] { target.mappings(state.soupName) }
  var service: any SyncService { targets.service(of: .syncDown, state.target) }

  /// Removes ghosts.
  /// - Returns: The number of removed entries; children are not counted.
  func perform() async throws -> Int {
    guard target.hasGhosts else { return 0 }
    let removed = try await removeGhosts() + removeOrphans()
    if state.options.mergeMode == .merge { for i in mappings.indices { try await noteDeletions(i) } }
    return removed
  }

  private func removeGhosts() async throws -> Int {
    let run = self, mappings = mappings
    let local = try await store.read { snapshot in try mappings.map { try run.cleanEntries(of: $0, snapshot) } }
    guard local.contains(where: { !$0.isEmpty }) else { return 0 }
    let context = try await context(of: state, mappings)
    if let gone = try await goneByFeed(local[0].map(\.recordId), in: context) {
      return try await remove(local[0].filter { gone.contains($0.recordId) }, from: mappings[0])
    }
    let remote = try await remoteIds(of: target, among: local.map { $0.map(\.recordId) }, in: context)
    var removed = 0
    for (i, mapping) in mappings.enumerated() {
      let ghosts = local[i].filter { !remote[i].contains($0.recordId) }
      let count = try await remove(ghosts, from: mapping)
      if mapping.isCounted || mapping.reportsGhosts { removed += count }
    }
    if target.deletions != nil, let began = context.firstAnswer.serverTime, local[0].count > configuration.ghostFeedEntries {
      let checked = configuration.bounded(began, newest: state.maxTimeStamp) - configuration.commitAllowanceMs
      try await remember(checked, unlessLost: remote[0])
    }
    return removed
  }

  /// Writes to the store while the lease of the sync still belongs to this process.
  /// - Throws: `StoreError` `.leaseLost`. Nothing is written then.
  func write<T: Sendable>(
    _ durability: Durability, _ body: @escaping @Sendable (StoreTransaction) throws -> T
  ) async throws -> T {
    let lease = held.lease, history = history, step = history.step(), configuration = configuration
    let result = try await store.write(durability) { transaction in
      history.begin(step, in: transaction, now: configuration.now())
      try transaction.verify(lease)
      return try body(transaction)
    }
    history.written(step)
    return result
  }

  // MARK: The record of deletions

  /// Returns the ids that the server's record of deletions reports; nil if all ids must be
  /// requested instead.
  private func goneByFeed(_ ids: [String], in context: FetchContext) async throws -> IdSet? {
    let since = state.ghostsCheckedUntil
    guard let feed = target.deletions, ids.count > configuration.ghostFeedEntries, since > 0,
      configuration.now() - since < configuration.ghostFeedMs
    else { return nil }
    return try await control.value(of: Task { try await feed.gone(among: ids, since: since, in: context) })
  }

  /// Records that no entry of this sync was a ghost at a time. Does not do so if one with local
  /// changes is a ghost: it stayed, and later deletions would not report it.
  private func remember(_ time: Int64, unlessLost remote: IdSet) async throws {
    let id = state.id, mapping = mappings[0]
    try await write(.pulled) { transaction in
      guard var stored = try SyncsSoup.find(.id(id), in: transaction) else { return }
      let dirty = try transaction.externalIds(in: mapping.soup, path: mapping.fields.id, ownedBy: id, dirty: true)
      stored.ghostsCheckedUntil = dirty.allSatisfy(remote.contains) ? time : TimeStamp.never
      try SyncsSoup.save(stored, in: transaction)
    }
  }

  func context(of state: SyncState, _ mappings: [SoupMapping]) async throws -> FetchContext {
    var context = try await FetchContext(
      client: client, store: store, control: control, configuration: configuration, mappings: mappings)
    context.take(state)
    context.isForced = isForced
    context.service = service
    return context
  }

  /// Removes entries, or hands them over to another sync that still gets them. Those that were edited meanwhile stay.
  /// - Returns: How many were removed.
  func remove(_ ghosts: [OwnedEntry], from mapping: SoupMapping) async throws -> Int {
    guard !ghosts.isEmpty else { return 0 }
    let remainingOwners = try await remainingOwners(of: ghosts, in: mapping), run = self
    // If the soup was registered again, its entries have the same numbers and other records.
    let asked = IdSet(ghosts.map(\.recordId))
    var removed = 0
    for start in stride(from: 0, to: ghosts.count, by: GhostRun.removedAtOnce) {
      let ids = ghosts[start..<min(start + GhostRun.removedAtOnce, ghosts.count)].map(\.entryId)
      removed += try await write(.pulled) { transaction in
        // Check again: an entry may have been edited, or brought by another sync, during the
        // request.
        let still = try run.cleanEntries(of: mapping, among: ids, transaction).filter { asked.contains($0.recordId) }
        for entry in still {
          guard let remainingOwner = remainingOwners[entry.recordId] else { continue }
          _ = try transaction.patch(entry.entryId, in: mapping.soup, setting: [LocalField.syncId: .integer(remainingOwner)])
        }
        let left = still.filter { remainingOwners[$0.recordId] == nil }
        let versions =
          try transaction.history == nil ? [:] : transaction.versions(of: left.map(\.entryId), in: mapping.soup)
        let gone = left.map {
          RemovedEntry(id: $0.entryId, version: versions[$0.entryId] ?? 0, recordId: $0.recordId, because: .ghost)
        }
        try transaction.remove(gone, from: mapping.soup)
        return gone.count
      }
    }
    return removed
  }

  private func remoteIds(
    of target: any SyncDownTarget, among ids: [[String]], in context: FetchContext
  ) async throws -> [IdSet] {
    try await control.value(of: Task { try await target.remoteIds(among: ids, in: context) })
  }

  // MARK: Other syncs

  /// Another sync that brought some of the ghosts.
  private struct Other: Sendable {
    let state: SyncState
    let target: any SyncDownTarget
    let mappings: [SoupMapping]
    /// The position of the soup among its mappings.
    let position: Int
    let shared: [String]
  }

  /// Returns, by record id, the other syncs that brought the same records and would still get them.
  /// Asks the server only about syncs that share a ghost with this one.
  private func remainingOwners(of ghosts: [OwnedEntry], in mapping: SoupMapping) async throws -> IdMap<Int64> {
    let ids = IdSet(ghosts.map(\.recordId)), run = self
    let others = try await store.read { try run.others(sharing: ids, in: mapping, $0) }
    var remainingOwners: IdMap<Int64> = [:]
    for other in others {
      var asked = other.mappings.map { _ in [String]() }
      asked[other.position] = other.shared
      var asking = try await context(of: other.state, other.mappings)
      // Nothing of the other sync is removed, so its limit does not apply.
      asking.isForced = true
      let remote = try await remoteIds(of: other.target, among: asked, in: asking)[other.position]
      for id in other.shared where remote.contains(id) { remainingOwners[id] = other.state.id }
    }
    return remainingOwners
  }

  private func others(sharing ids: IdSet, in mapping: SoupMapping, _ snapshot: StoreSnapshot) throws -> [Other] {
    let downs = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncDown.rawValue))
    return try downs.filter { $0 != state.id }.compactMap { id in
      guard let state = try SyncsSoup.find(.id(id), in: snapshot), let target = try? targets.down(state.target),
        target.hasGhosts
      else { return nil }
      let mappings = target.mappings(state.soupName)
      guard let position = mappings.firstIndex(where: { $0.soup == mapping.soup }),
        try mappings.allSatisfy({ try snapshot.soupExists($0.soup) })
      else { return nil }
      let path = mappings[position].fields.id
      let owned = try snapshot.externalIds(in: mapping.soup, path: path, ownedBy: id, dirty: false)
      let shared = owned.filter(ids.contains)
      return shared.isEmpty ? nil : Other(state: state, target: target, mappings: mappings, position: position, shared: shared)
    }
  }

  // MARK: This sync's entries

  /// Returns the entries without local changes that this sync brought.
  /// - Parameter candidates: The entries to examine; nil for all.
  private func cleanEntries(
    of mapping: SoupMapping, among candidates: [Int64]? = nil, _ snapshot: StoreSnapshot
  ) throws -> [OwnedEntry] {
    let found = try snapshot.cleanEntries(
      in: mapping.soup, where: LocalField.syncId, equals: .integer(state.id), idPath: mapping.fields.id, among: candidates)
    let busy = try busyParents(of: mapping, snapshot)
    return busy.isEmpty ? found : found.filter { !busy.contains($0.recordId) }
  }

  /// Returns the ids of parents that have a child with local changes; such a parent does not count
  /// as clean.
  private func busyParents(of mapping: SoupMapping, _ snapshot: StoreSnapshot) throws -> IdSet {
    guard mapping.isCounted, let child = mappings.first(where: { $0.parentIdField != nil }), let field = child.parentIdField
    else {
      return []
    }
    return IdSet(try snapshot.externalIds(in: child.soup, path: field, ownedBy: nil, dirty: true))
  }

  /// The number of records that are looked up in one step.
  static let lookedUpAtOnce = 2000

  /// The number of ghosts removed in one transaction: few enough that other writers wait only some
  /// milliseconds.
  private static let removedAtOnce = 1000
}
