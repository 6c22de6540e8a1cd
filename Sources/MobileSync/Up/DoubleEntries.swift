import JSON
import SmartStore

extension StoreTransaction {
  /// Leaves one entry for a record that a create or an upsert has just found or made. When the answer to an earlier try was lost,
  /// a sync down may have brought the record as an entry of its own; it goes, and an edit that was made in it stays.
  ///
  /// - Parameters:
  ///   - entryId: The entry that was made here. It stays, under the id that scripts know.
  ///   - updated: Entries whose updates travelled with that upload, and may have been overtaken by it.
  func takeIn(doublesOf entryId: Int64, recordId: String, in soup: String, idField: String, updated: Set<Int64>) throws {
    guard try indexSpecs(of: soup).contains(where: { $0.path == idField }) else { return }
    for other in try entryIds(in: soup, where: idField, equals: .text(recordId)) where other != entryId {
      try takeIn(other, into: entryId, in: soup, wasSent: updated.contains(other))
      try absorb(other, into: entryId, in: soup)
    }
  }

  private func takeIn(_ other: Int64, into entryId: Int64, in soup: String, wasSent: Bool) throws {
    guard var merged = try entry(other, in: soup)?.object(), let mine = try entry(entryId, in: soup)?.object() else { return }
    let syncId = merged[LocalField.syncId] ?? .null
    guard wasSent || merged[LocalField.local]?.boolValue == true else {
      _ = try patch(entryId, in: soup, setting: [LocalField.syncId: syncId])
      return
    }
    let base = try base(of: other, in: soup)
    merged["_soupEntryId"] = .integer(entryId)
    merged[LocalField.local] = true
    if merged[LocalField.deleted]?.boolValue != true { merged[LocalField.updated] = true }
    // Edited here during the upload as well: that is later still.
    if mine[LocalField.local]?.boolValue == true { for (key, value) in mine { merged[key] = value } }
    _ = try replace(entryId, with: merged, in: soup)
    if let base { try setBase(of: entryId, in: soup, to: base) }
  }
}
