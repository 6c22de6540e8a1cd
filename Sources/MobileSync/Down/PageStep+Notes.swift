import JSON
import SmartStore

/// What a target says of a page beside its records.
extension PageStep {
  /// What every target may say: which entries go, and what people should know.
  func removeWhatNotesSay(
    _ state: inout SyncState, in transaction: StoreTransaction, _ conflicts: inout [MetConflict]
  ) throws {
    guard let notes = page.notes else { return }
    try remove(notes.deleted, notes.unwanted, from: places[0], &state, in: transaction, &conflicts)
    for (place, ids) in notes.goneElsewhere { try removeClean(ids, from: places[place], in: transaction) }
    state.counts.flagged += notes.flagged.count
    let shown = notes.flagged.prefix(max(0, PageStep.shownFlags - state.warnings.count))
    state.warnings += shown + notes.warnings.filter { !state.warnings.contains($0) }
  }

  /// - Parameter leavesRecords: Records of the page were left out, and are to come again.
  func apply(
    _ notes: PageNotes?, leavesRecords: Bool, _ state: inout SyncState, in transaction: StoreTransaction
  ) throws {
    guard let notes else { return }
    if let watermark = notes.watermark, !leavesRecords {
      state.maxTimeStamp = watermark
      state.coveredTimeStamp = watermark
    }
    if let kept = notes.kept { try transaction.keepSyncPage(kept.page, JSONValue.object(kept.value).serialized(), of: state.id) }
    if let pages = notes.pages {
      for page in try transaction.syncPages(of: state.id).keys where !pages.contains(page) {
        try transaction.forgetSyncPage(page, of: state.id)
      }
    }
    state.isIncomplete = notes.isIncomplete
  }

  /// So many items that could not be used are named one by one.
  private static let shownFlags = 10

  /// Entries with local changes stay where the merge mode protects them, and where the record is only not wanted.
  private func remove(
    _ deleted: [String], _ unwanted: [String], from place: RecordPlace, _ state: inout SyncState,
    in transaction: StoreTransaction,
    _ conflicts: inout [MetConflict]
  ) throws {
    guard !deleted.isEmpty || !unwanted.isEmpty else { return }
    let reconciler = Reconciler(syncId: state.id, mergeMode: state.options.mergeMode, isDown: true, now: now)
    var gone: [Int64] = []
    for (ids, isDeleted) in [(deleted, true), (unwanted, false)] {
      for id in ids {
        for entryId in try transaction.entryIds(in: place.soup, where: place.fields.id, equals: .text(id)) {
          guard let entry = try transaction.entry(entryId, in: place.soup)?.object() else { continue }
          let isDirty = entry.hasFlag(LocalField.local)
          if !isDeleted {
            if !isDirty, try isToGo(entryId, entry, place, state, transaction) { gone.append(entryId) }
          } else if !isDirty || state.options.mergeMode == .overwrite {
            gone.append(entryId)
          } else {
            let met = Encounter(soup: place.soup, fields: place.fields, entryId: entryId, server: .deleted)
            guard case .conflict(let isNews)? = try reconciler.reconcile(met, in: transaction) else { continue }
            state.counts.conflicting += 1
            conflicts.append(MetConflict(soup: place.soup, entryId: entryId, isNews: isNews, isSkipped: true))
          }
        }
      }
    }
    try transaction.remove(gone, from: place.soup)
    if place.isCounted { state.counts.removed += gone.count }
  }

  /// An entry that was uploaded since the server was asked is newer than its answer.
  private func removeClean(_ ids: [String], from place: RecordPlace, in transaction: StoreTransaction) throws {
    let uploaded = try transaction.uploads(in: place.soup, idPath: place.fields.id, since: uploadMark)
    var gone: [Int64] = []
    for id in ids where uploaded[id] == nil {
      for entryId in try transaction.entryIds(in: place.soup, where: place.fields.id, equals: .text(id)) {
        guard let entry = try transaction.entry(entryId, in: place.soup)?.object(), !entry.hasFlag(LocalField.local) else {
          continue
        }
        gone.append(entryId)
      }
    }
    try transaction.remove(gone, from: place.soup)
  }

  /// What one sync does not want another may: its entries stay, and one that both brought becomes the other's.
  private func isToGo(
    _ entryId: Int64, _ entry: JSONObject, _ place: RecordPlace, _ state: SyncState, _ transaction: StoreTransaction
  ) throws -> Bool {
    guard entry[LocalField.syncId]?.integerValue == state.id else { return false }
    let others = try transaction.otherOwners(of: entryId, than: state.id, in: place.soup)
    guard let heir = try others.first(where: { try SyncsSoup.find(.id($0), in: transaction) != nil }) else { return true }
    _ = try transaction.patch(entryId, in: place.soup, setting: [LocalField.syncId: .integer(heir)])
    return false
  }
}
