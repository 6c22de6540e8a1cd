import JSON
import SmartStore

/// What one page does to the store, decided beforehand.
struct PageStep: Sendable {
  let page: SyncDownPage
  let places: [RecordPlace]
  /// By place.
  let known: [FamiliarRecords.Found]
  let progress: SyncDownProgress
  let counter: ProgressCounter
  let isLast: Bool
  let now: Int64

  /// Writes the page and changes the state accordingly. Whether an entry is dirty is looked at here, in the transaction that
  /// would overwrite it.
  func apply(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    let keepDirty = state.options.mergeMode == .leaveIfChanged
    let families = keepDirty ? try KeptFamilies(on: page, places, in: transaction) : KeptFamilies()
    for (i, part) in page.parts.enumerated() {
      guard let part else { continue }
      let place = places[i], found = known[i], kept = families.positions(in: i)
      let outcome = try transaction.storeRecords(
        part, in: place.soup, matchedBy: place.fields.id, overlay: LocalField.overlay(syncId: state.id),
        removing: [LocalField.lastError], keepDirty: keepDirty, owner: state.id,
        // Only a soup that is alone can be the one that is being loaded.
        expectedTotal: places.count == 1 ? counter.total : nil,
        skipping: kept.isEmpty ? found.unchanged : found.unchanged.union(kept))
      guard place.isCounted else { continue }
      let left = outcome.keptDirty + kept.subtracting(found.unchanged).count
      state.counts.fetched += part.count - found.count
      state.counts.stored += max(0, outcome.stored - found.echoes.count)
      state.counts.skipped += left
      state.counts.conflicting += left
    }
    state.totalSize = counter.total
    state.progress = counter.percent
    state.maxTimeStamp = progress.maxTimeStamp
    state.coveredTimeStamp = progress.covered
    if isLast { try finish(&state, in: transaction) }
  }

  private func finish(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    for place in places {
      try transaction.finishLoading(soup: place.soup)
      try transaction.forgetStaleEchoes(in: place.soup)
    }
    state.progress = 100
    state.enter(.done, now: now)
  }
}

/// Parents that stay as they are, with all their children, because one of them has local changes.
private struct KeptFamilies {
  private var parents: Set<Int> = []
  private var children: Set<Int> = []

  init() {}

  init(on page: SyncDownPage, _ places: [RecordPlace], in snapshot: StoreSnapshot) throws {
    guard let child = places.first(where: { !$0.isCounted }), let field = child.parentIdField,
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
