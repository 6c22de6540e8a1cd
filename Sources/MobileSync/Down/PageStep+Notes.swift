import JSON
import SmartStore

/// Applies what a target says about a page besides its records.
extension PageStep {
  /// Applies what any target may say: entries to remove and warnings.
  func applyRemovalsAndWarnings(
    _ state: inout SyncState, in transaction: StoreTransaction, _ conflicts: inout [DetectedConflict]
  ) throws {
    guard let notes = page.notes else { return }
    try remove(notes.deleted, notes.unwanted, from: mappings[0], &state, in: transaction, &conflicts)
    for (mapping, ids) in notes.goneElsewhere { try removeClean(ids, from: mappings[mapping], in: transaction) }
    state.counts.flagged += notes.flagged.count
    let shown = notes.flagged.prefix(max(0, PageStep.shownFlags - state.warnings.count))
    state.warnings += shown + notes.warnings.filter { !state.warnings.contains($0) }
  }

  /// Applies what only targets that track their own progress say.
  /// - Parameter leavesRecords: Whether records of the page were skipped and must come again.
  func apply(
    _ notes: PageNotes?, leavesRecords: Bool, _ state: inout SyncState, in transaction: StoreTransaction
  ) throws {
    guard let notes else { return }
    if let watermark = notes.watermark, !leavesRecords {
      state.maxTimeStamp = watermark
      state.coveredTimeStamp = watermark
    }
    if let kept = notes.kept { try transaction.keepSyncPage(kept.page, JSONValue.object(kept.value).serialized(), of: state.id) }
    for mark in notes.marks { try transaction.keepSyncPage(mark.name, Array(mark.value.utf8), of: state.id) }
    if let pages = notes.pages {
      for page in try transaction.syncPages(of: state.id).keys
      where !pages.contains(page) && !page.hasPrefix(PageNotes.ownPrefix) {
        try transaction.forgetSyncPage(page, of: state.id)
      }
    }
    state.isIncomplete = notes.isIncomplete
  }

  /// The number of unusable items that are reported one by one.
  private static let shownFlags = 10

  /// Removes the entries of deleted and unwanted records. Entries with local changes stay if the
  /// merge mode protects them, or if the record is merely unwanted.
  private func remove(
    _ deleted: [String], _ unwanted: [String], from mapping: SoupMapping, _ state: inout SyncState,
    in transaction: StoreTransaction,
    _ conflicts: inout [DetectedConflict]
  ) throws {
    guard !deleted.isEmpty || !unwanted.isEmpty else { return }
    let reconciler = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, policy: state.options.resolve, isDown: true, now: now)
    var gone: [RemovedEntry] = [], candidates: [ConflictCandidate] = []
    for (ids, isDeleted) in [(deleted, true), (unwanted, false)] {
      for stored in try entries(ids, mapping, transaction) {
        let entry = try stored.object(), isDirty = entry.hasFlag(LocalField.local)
        if !isDeleted {
          if !isDirty, try shouldRemove(stored.id, entry, mapping, state, transaction) {
            gone.append(RemovedEntry(stored, entry, mapping.fields, because: .ghost))
          }
        } else if !isDirty || state.options.mergeMode == .overwrite {
          gone.append(RemovedEntry(stored, entry, mapping.fields, because: .deletedThere))
        } else {
          candidates.append(
            ConflictCandidate(soup: mapping.soup, fields: mapping.fields, entryId: stored.id, server: .deleted))
        }
      }
    }
    for (candidate, outcome) in zip(candidates, try reconciler.reconcile(candidates, in: transaction)) {
      guard case .conflict(let isNew)? = outcome else { continue }
      state.counts.conflicting += 1
      conflicts.append(DetectedConflict(soup: mapping.soup, entryId: candidate.entryId, isNew: isNew, isSkipped: true))
    }
    try transaction.remove(gone, from: mapping.soup)
    if mapping.isCounted { state.counts.removed += gone.count }
  }

  /// Removes entries without local changes. An entry that was uploaded after the request is newer
  /// than the answer and stays.
  private func removeClean(_ ids: [String], from mapping: SoupMapping, in transaction: StoreTransaction) throws {
    let uploaded = try transaction.uploads(in: mapping.soup, idPath: mapping.fields.id, since: uploadSequence)
    let gone = try entries(ids.filter { uploaded[$0] == nil }, mapping, transaction).map { ($0, try $0.object()) }
      .filter { !$0.1.hasFlag(LocalField.local) }
      .map { RemovedEntry($0.0, $0.1, mapping.fields, because: .deletedThere) }
    try transaction.remove(gone, from: mapping.soup)
  }

  /// Returns the entries of records, in the order of the records' ids.
  private func entries(
    _ ids: [String], _ mapping: SoupMapping, _ transaction: StoreTransaction
  ) throws -> [StoredEntry] {
    guard !ids.isEmpty else { return [] }
    let found = try transaction.entryIds(in: mapping.soup, where: mapping.fields.id, equalsEach: ids.map { .text($0) })
    let entryIds = found.flatMap(\.self)
    return try entryIds.isEmpty ? [] : transaction.storedEntries(entryIds, in: mapping.soup)
  }

  /// Returns whether to remove the entry of an unwanted record. Entries of other syncs stay; if
  /// another sync brought it as well, that sync becomes its owner.
  private func shouldRemove(
    _ entryId: Int64, _ entry: JSONObject, _ mapping: SoupMapping, _ state: SyncState, _ transaction: StoreTransaction
  ) throws -> Bool {
    guard entry[LocalField.syncId]?.integerValue == state.id else { return false }
    let others = try transaction.otherOwners(of: entryId, than: state.id, in: mapping.soup)
    guard let remainingOwner = try others.first(where: { try SyncsSoup.find(.id($0), in: transaction) != nil }) else {
      return true
    }
    _ = try transaction.patch(entryId, in: mapping.soup, setting: [LocalField.syncId: .integer(remainingOwner)])
    return false
  }
}
