import JSON
import SmartStore

extension StoreTransaction {
  /// Leaves one entry for a record that a create or an upsert has just found or made. When the answer to an earlier try was lost,
  /// or is late, a sync down may have brought the record as an entry of its own; it goes, and an edit that was made in it stays.
  ///
  /// - Parameters:
  ///   - entryId: The entry that was made here. It stays, under the id that scripts know.
  ///   - created: What a create told the server; nil for an upsert.
  ///   - updated: Entries whose updates travelled with that upload, and may have been overtaken by it.
  func takeIn(
    doublesOf entryId: Int64, recordId: String, in soup: String, _ fields: TargetFields, created: JSONObject?,
    updated: Set<Int64>
  ) throws {
    guard try indexSpecs(of: soup).contains(where: { $0.path == fields.id }) else { return }
    for other in try entryIds(in: soup, where: fields.id, equals: .text(recordId)) where other != entryId {
      if let created {
        try takeIn(arrival: other, into: entryId, in: soup, fields, created: created)
      } else {
        try takeIn(other, into: entryId, in: soup, wasSent: updated.contains(other))
      }
      try absorb(other, into: entryId, in: soup)
    }
  }

  /// What came down was read after the create: it is later than what was sent. What was edited here since is later still.
  private func takeIn(
    arrival other: Int64, into entryId: Int64, in soup: String, _ fields: TargetFields, created: JSONObject
  ) throws {
    guard let theirs = try entry(other, in: soup)?.object(), let mine = try entry(entryId, in: soup)?.object() else { return }
    let base = try base(of: other, in: soup) ?? theirs.serialized()
    var merged = theirs
    if mine.hasFlag(LocalField.local) {
      merged = RecordMerge(base: created, local: mine, server: theirs, fields: fields).merged
      merged[LocalField.syncId] = theirs[LocalField.syncId]
    }
    merged["_soupEntryId"] = .integer(entryId)
    _ = try replace(entryId, with: merged, in: soup)
    if merged.hasFlag(LocalField.local) { try setBase(of: entryId, in: soup, to: base) }
  }

  private func takeIn(_ other: Int64, into entryId: Int64, in soup: String, wasSent: Bool) throws {
    guard var merged = try entry(other, in: soup)?.object(), let mine = try entry(entryId, in: soup)?.object() else { return }
    let syncId = merged[LocalField.syncId] ?? .null
    guard wasSent || merged.hasFlag(LocalField.local) else {
      _ = try patch(entryId, in: soup, setting: [LocalField.syncId: syncId])
      return
    }
    let base = try base(of: other, in: soup)
    merged["_soupEntryId"] = .integer(entryId)
    merged[LocalField.local] = true
    if !merged.hasFlag(LocalField.deleted) { merged[LocalField.updated] = true }
    // Edited here during the upload as well: that is later still.
    if mine.hasFlag(LocalField.local) { for (key, value) in mine { merged[key] = value } }
    _ = try replace(entryId, with: merged, in: soup)
    if let base { try setBase(of: entryId, in: soup, to: base) }
  }
}
