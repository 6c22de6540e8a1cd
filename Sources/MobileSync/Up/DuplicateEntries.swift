import JSON
import SmartStore

extension StoreTransaction {
  /// Removes duplicates of an entry whose record a create or upsert has just found or created. If
  /// the answer to an earlier attempt was lost or late, a sync down may have added the record as a
  /// second entry. That one is removed, and edits made in it are kept.
  ///
  /// - Parameters:
  ///   - entryId: The locally created entry. It stays, under the id that scripts know.
  ///   - created: The fields that a create sent; nil for an upsert.
  ///   - updated: Entries whose updates were sent with that upload and may have been overtaken by
  ///     it.
  func absorbDuplicates(
    of entryId: Int64, recordId: String, in soup: String, _ fields: TargetFields, created: JSONObject?,
    updated: Set<Int64>
  ) throws {
    guard try indexSpecs(of: soup).contains(where: { $0.path == fields.id }) else { return }
    for other in try entryIds(in: soup, where: fields.id, equals: .text(recordId)) where other != entryId {
      if let created {
        try merge(arrival: other, into: entryId, in: soup, fields, created: created)
      } else {
        try merge(other, into: entryId, in: soup, wasSent: updated.contains(other))
      }
      try absorb(other, into: entryId, in: soup)
    }
  }

  /// Merges an entry that a sync down added after the create. Its data is newer than what was sent,
  /// and local edits made since are newer still.
  private func merge(
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

  private func merge(_ other: Int64, into entryId: Int64, in soup: String, wasSent: Bool) throws {
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
    // The entry was edited during the upload as well; those edits are newer.
    if mine.hasFlag(LocalField.local) { for (key, value) in mine { merged[key] = value } }
    _ = try replace(entryId, with: merged, in: soup)
    if let base { try setBase(of: entryId, in: soup, to: base) }
  }
}
