import JSON
import SmartStore

/// What one page does to the store, decided beforehand.
struct PageStep: Sendable {
  /// How a run ends with a page.
  enum End: Sendable, Equatable {
    case done
    /// The list goes on; the run has had the pages that it may have.
    case paused
  }

  let page: SyncDownPage
  /// Read so far, with this one.
  let pages: Int
  let places: [RecordPlace]
  /// By place.
  let known: [UnchangedRecordFilter.Found]
  let progress: SyncDownProgress
  let counter: ProgressCounter
  /// nil when the run goes on.
  let end: End?
  /// See ``SyncDownTarget/keepsAccount``.
  let keepsAccount: Bool
  var warnings: [String] = []
  /// See ``UploadsMeanwhile``.
  let uploadMark: Int64
  let now: Int64

  /// Writes the page and changes the state accordingly. Whether an entry is dirty is looked at here, in the transaction that
  /// would overwrite it.
  /// - Returns: The entries that both sides changed, and how far the run has got.
  func apply(
    _ state: inout SyncState, in transaction: StoreTransaction
  ) throws -> (conflicts: [MetConflict], progress: SyncDownProgress) {
    var conflicts: [MetConflict] = [], progress = progress, leavesRecords = false
    let mergeMode = state.options.mergeMode, keepDirty = mergeMode != .overwrite
    let families = mergeMode == .leaveIfChanged ? try KeptFamilies(on: page, places, in: transaction) : KeptFamilies()
    for (i, part) in page.parts.enumerated() {
      guard let part else { continue }
      let place = places[i], found = known[i]
      let uploads = try UploadsMeanwhile(on: part, place, since: uploadMark, in: transaction)
      if let stamp = uploads.oldestChange { progress.left(stamp: stamp) }
      if !uploads.positions.isEmpty { leavesRecords = true }
      let left = uploads.positions.subtracting(found.unchanged)
      let kept = families.positions(in: i).subtracting(found.unchanged).subtracting(left)
      let skipped = found.unchanged.union(kept).union(left)
      var dirty = try dirtyCandidates(kept, of: part, place, transaction)
      let arrivals = try PossibleArrivals(on: part, place, skipping: skipped, in: transaction)
      let storage = PageStorage(
        idPath: place.fields.id, members: LocalField.overlay(syncId: state.id), dropped: [LocalField.lastError],
        keepDirty: keepDirty, owner: state.id,
        // Only a soup that is alone can be the one that is being loaded.
        expectedTotal: places.count == 1 && counter.total >= 0 ? counter.total : nil, skipping: skipped)
      let outcome = try transaction.storeRecords(part, in: place.soup, storage) { dirty.append(($0, $1)) }
      try arrivals.note(in: transaction)
      let merged = try reconcile(dirty, of: part, place, &state, transaction, &conflicts)
      guard place.isCounted else { continue }
      state.counts.fetched += part.count - found.count
      state.counts.stored += max(0, outcome.stored - found.echoes.subtracting(left).count) + merged
      state.counts.skipped += outcome.keptDirty + kept.count + left.subtracting(found.echoes).count - merged
    }
    state.totalSize = counter.total
    state.progress = counter.percent
    state.counts.pages = pages
    if let memory = page.notes?.memory { state.memory = memory }
    try removeWhatNotesSay(&state, in: transaction, &conflicts)
    if keepsAccount {
      try apply(page.notes, leavesRecords: leavesRecords, &state, in: transaction)
    } else {
      state.maxTimeStamp = progress.maxTimeStamp
      state.coveredTimeStamp = progress.covered
    }
    for warning in warnings where !state.warnings.contains(warning) { state.warnings.append(warning) }
    if let end { try finish(end, &state, in: transaction) }
    return (conflicts, progress)
  }

  /// Entries of records that stay because of their family; which of them are dirty shows when they are looked at.
  private func dirtyCandidates(
    _ kept: Set<Int>, of part: ScannedPage, _ place: RecordPlace, _ snapshot: StoreSnapshot
  ) throws -> [(position: Int, entryId: Int64)] {
    try kept.sorted().flatMap { position in
      try part.id(record: position).map { id in
        try snapshot.entryIds(in: place.soup, where: place.fields.id, equals: .text(id)).map { (position, $0) }
      } ?? []
    }
  }

  /// Brings dirty entries and the server's records together, as the merge mode says.
  /// - Returns: How many were written.
  private func reconcile(
    _ dirty: [(position: Int, entryId: Int64)], of part: ScannedPage, _ place: RecordPlace, _ state: inout SyncState,
    _ transaction: StoreTransaction, _ conflicts: inout [MetConflict]
  ) throws -> Int {
    let reconciler = Reconciler(syncId: state.id, mergeMode: state.options.mergeMode, isDown: true, now: now)
    var merged = 0
    for (position, entryId) in dirty {
      let met = Encounter(
        soup: place.soup, fields: place.fields, entryId: entryId, server: .record(try part.object(record: position)))
      switch try reconciler.reconcile(met, in: transaction) {
      case .merged, .settled: merged += 1
      case .conflict(let isNews):
        state.counts.conflicting += 1
        conflicts.append(MetConflict(soup: place.soup, entryId: entryId, isNews: isNews, isSkipped: true))
      case .untouched, nil: break
      }
    }
    state.counts.merged += merged
    return merged
  }

  private func finish(_ end: End, _ state: inout SyncState, in transaction: StoreTransaction) throws {
    for place in places {
      try transaction.finishLoading(soup: place.soup)
      try transaction.forgetStaleEchoes(in: place.soup)
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

/// Parents that stay as they are, with all their children, because one of them has local changes.
private struct KeptFamilies {
  private var parents: Set<Int> = []
  private var children: Set<Int> = []

  init() {}

  init(on page: SyncDownPage, _ places: [RecordPlace], in snapshot: StoreSnapshot) throws {
    guard let child = places.first(where: { $0.parentIdField != nil }), let field = child.parentIdField,
      let first = page.parts.first, let part = first
    else { return }
    let parent = places[0]
    let dirty = Set(
      try snapshot.externalIds(in: parent.soup, path: parent.fields.id, ownedBy: nil, dirty: true)
        + snapshot.externalIds(in: child.soup, path: field, ownedBy: nil, dirty: true))
    guard !dirty.isEmpty else { return }
    for i in 0..<part.count where part.id(record: i).map(dirty.contains) ?? false { parents.insert(i) }
    for (i, parent) in page.parents.enumerated() where parents.contains(parent) { children.insert(i) }
  }

  /// - Parameter place: Position of the place.
  func positions(in place: Int) -> Set<Int> {
    switch place {
    case 0: parents
    case 1: children
    default: []
    }
  }
}
