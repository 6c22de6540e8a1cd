import JSON
import SmartStore

/// The changes that one page makes to the store.
struct PageStep: Sendable {
  /// How a run ends with a page.
  enum End: Sendable, Equatable {
    case done
    /// The list continues, but the run has reached its limit of pages.
    case paused
  }

  let page: SyncDownPage
  /// The number of pages read so far, including this one.
  let pages: Int
  let mappings: [SoupMapping]
  /// By mapping.
  let known: [UnchangedRecordFilter.Found]
  let progress: SyncDownProgress
  let counter: ProgressCounter
  /// nil if the run continues.
  let end: End?
  /// See ``SyncDownTarget/tracksOwnProgress``.
  let tracksOwnProgress: Bool
  var warnings: [String] = []
  /// See ``ConcurrentUploads``.
  let uploadSequence: Int64
  let owners: UploadOwners
  let now: Int64
  /// How many replaced entries the history still takes of the run.
  var logged = 0

  /// Writes the page and updates the state. Checks here whether an entry is dirty, in the
  /// transaction that would overwrite it.
  /// - Returns: The conflicts, and the progress of the run.
  func apply(
    _ state: inout SyncState, in transaction: StoreTransaction
  ) throws -> (conflicts: [DetectedConflict], progress: SyncDownProgress) {
    var conflicts: [DetectedConflict] = [], progress = progress, leavesRecords = false
    let mergeMode = state.options.mergeMode, keepDirty = mergeMode != .overwrite
    let families = mergeMode == .leaveIfChanged ? try KeptFamilies(on: page, mappings, in: transaction) : KeptFamilies()
    for (i, part) in page.parts.enumerated() {
      guard let part else { continue }
      let mapping = mappings[i], found = known[i]
      let uploads = try ConcurrentUploads(on: part, mapping, since: uploadSequence, in: transaction)
      if let stamp = uploads.oldestChange { progress.left(stamp: stamp) }
      if !uploads.positions.isEmpty { leavesRecords = true }
      let left = uploads.positions.subtracting(found.unchanged)
      let kept = families.positions(in: i).subtracting(found.unchanged).subtracting(left)
      let skipped = found.unchanged.union(kept).union(left)
      var dirty = try dirtyCandidates(kept, of: part, mapping, transaction)
      let arrivals = try PossibleArrivals(on: part, mapping, skipping: skipped, in: transaction)
      var storage = PageStorage(
        idPath: mapping.fields.id, members: LocalField.overlay(syncId: state.id), dropped: LocalField.ofChanges,
        keepDirty: keepDirty, owner: state.id,
        // A bulk load is possible only if the sync fills a single soup.
        expectedTotal: mappings.count == 1 && counter.total >= 0 ? counter.total : nil, skipping: skipped)
      storage.logged = logged
      let outcome = try transaction.storeRecords(part, in: mapping.soup, storage) { dirty.append(($0, $1)) }
      try arrivals.note(in: transaction)
      let merged = try reconcile(dirty, of: part, mapping, &state, transaction, &conflicts)
      guard mapping.isCounted else { continue }
      state.counts.fetched += part.count - found.count
      state.counts.stored += max(0, outcome.stored - found.echoes.subtracting(left).count) + merged
      state.counts.skipped += outcome.keptDirty + kept.count + left.subtracting(found.echoes).count - merged
    }
    state.totalSize = counter.total
    state.progress = counter.percent
    state.counts.pages = pages
    if let memory = page.notes?.memory { state.memory = memory }
    try applyRemovalsAndWarnings(&state, in: transaction, &conflicts)
    if tracksOwnProgress {
      try apply(page.notes, leavesRecords: leavesRecords, &state, in: transaction)
    } else {
      state.maxTimeStamp = progress.maxTimeStamp
      state.coveredTimeStamp = progress.covered
    }
    for warning in warnings where !state.warnings.contains(warning) { state.warnings.append(warning) }
    if let end { try finish(end, &state, in: transaction) }
    return (conflicts, progress)
  }

  /// Returns the entries of records that are kept because of their family. Whether they are dirty
  /// is checked later.
  private func dirtyCandidates(
    _ kept: Set<Int>, of part: ScannedPage, _ mapping: SoupMapping, _ snapshot: StoreSnapshot
  ) throws -> [(position: Int, entryId: Int64)] {
    let asked = kept.sorted().compactMap { position in part.id(record: position).map { (position: position, id: $0) } }
    guard !asked.isEmpty else { return [] }
    let found = try snapshot.entryIds(in: mapping.soup, where: mapping.fields.id, equalsEach: asked.map { .text($0.id) })
    return zip(asked, found).flatMap { one, entryIds in entryIds.map { (one.position, $0) } }
  }

  /// Reconciles dirty entries with the server's records, according to the merge mode.
  /// - Returns: The number of entries written.
  private func reconcile(
    _ dirty: [(position: Int, entryId: Int64)], of part: ScannedPage, _ mapping: SoupMapping, _ state: inout SyncState,
    _ transaction: StoreTransaction, _ conflicts: inout [DetectedConflict]
  ) throws -> Int {
    let reconciler = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, policy: state.options.resolve, isDown: true, now: now)
    let candidates = try dirty.map { position, entryId in
      ConflictCandidate(
        soup: mapping.soup, fields: mapping.fields, entryId: entryId, server: .record(try part.object(record: position)))
    }
    var merged = 0
    for (candidate, outcome) in zip(candidates, try reconciler.reconcile(candidates, in: transaction)) {
      switch outcome {
      case .merged, .settled: merged += 1
      case .conflict(let isNew):
        state.counts.conflicting += 1
        conflicts.append(DetectedConflict(soup: mapping.soup, entryId: candidate.entryId, isNew: isNew, isSkipped: true))
      case .untouched, nil: break
      }
    }
    state.counts.merged += merged
    return merged
  }

  private func finish(_ end: End, _ state: inout SyncState, in transaction: StoreTransaction) throws {
    for mapping in mappings {
      try transaction.finishBulkLoad(soup: mapping.soup)
      try transaction.forgetStaleEchoes(in: mapping.soup)
      try transaction.forgetEndedUpdates(in: mapping.soup) { try owners.isLive($0, now: now, in: transaction) }
    }
    switch end {
    case .done:
      state.progress = 100
      state.enter(.done, now: now)
    case .paused:
      state.hasMore = true
      state.enter(.stopped, now: now)
    }
  }
}

/// Parents that are kept with all their children because one of them has local changes.
private struct KeptFamilies {
  private var parents: Set<Int> = []
  private var children: Set<Int> = []

  init() {}

  init(on page: SyncDownPage, _ mappings: [SoupMapping], in snapshot: StoreSnapshot) throws {
    guard let child = mappings.first(where: { $0.parentIdField != nil }), let field = child.parentIdField,
      let first = page.parts.first, let part = first
    else { return }
    let parent = mappings[0]
    let dirty = IdSet(
      try snapshot.externalIds(in: parent.soup, path: parent.fields.id, ownedBy: nil, dirty: true)
        + snapshot.externalIds(in: child.soup, path: field, ownedBy: nil, dirty: true))
    guard !dirty.isEmpty else { return }
    // A parent that is not in the soup is stored, whatever its children are: a later page would not bring it again.
    let met = (0..<part.count).compactMap { i in part.id(record: i).flatMap { dirty.contains($0) ? (i, $0) : nil } }
    guard !met.isEmpty else { return }
    let stored = try snapshot.entryIds(in: parent.soup, where: parent.fields.id, equalsEach: met.map { .text($0.1) })
    for ((i, _), entries) in zip(met, stored) where !entries.isEmpty { parents.insert(i) }
    for (i, parent) in page.parents.enumerated() where parents.contains(parent) { children.insert(i) }
  }

  /// Returns the positions of kept records.
  /// - Parameter mapping: The position of the mapping.
  func positions(in mapping: Int) -> Set<Int> {
    switch mapping {
    case 0: parents
    case 1: children
    default: []
    }
  }
}
