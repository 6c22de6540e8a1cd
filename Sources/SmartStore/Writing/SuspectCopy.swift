import JSON

/// A stale copy, merged with what the upload wrote.
package struct KeptCopy {
  package let entry: [UInt8]
  /// Whether a sync down has written the row since. Then the copy's base is unknown, and every
  /// field that differs from the server's counts as changed on both sides.
  package let wasBroughtSince: Bool
}

/// An entry that a script may have read before the upload that created its record, and saves after
/// it. Such a stale copy must not undo the upload's changes: the record would be created twice, or
/// a deletion would be lost.
package struct SuspectCopy {
  /// Whether the row was certainly written after the entry was read.
  package let isOld: Bool

  package init(isOld: Bool) { self.isOld = isOld }

  /// Returns the entry with the server's id, and with flags for an existing record.
  /// - Parameters:
  ///   - row: The stored entry.
  ///   - paths: The indexed paths of the soup that have a column.
  ///   - isDangling: Returns whether no entry of the store has an id, apart from references at the
  ///     same path.
  /// - Returns: nil if the entry undoes nothing.
  package func keepingUpload(
    _ page: ScannedPage, _ i: Int, over row: JSONObject, paths: [String],
    isDangling: (_ id: String, _ path: String) throws -> Bool
  ) throws -> KeptCopy? {
    guard !row.hasFlag(SoupField.locallyCreated) else { return nil }
    let entry = try page.object(record: i)
    var members = JSONObject()
    for path in try outdatedPaths(entry, row, paths, isDangling) { members[path] = row[path] }
    if entry.hasFlag(SoupField.locallyCreated) {
      members[SoupField.locallyCreated] = false
      let isDeletion = entry.hasFlag(SoupField.locallyDeleted)
      if !isDeletion, entry.hasFlag(SoupField.local) { members[SoupField.locallyUpdated] = true }
    }
    guard !members.isEmpty else { return nil }
    let text = try page.withText(record: i) {
      try EntryText.rewrite($0, dropping: IdSet(members.map(\.key)), adding: members)
    }
    return KeptCopy(entry: text, wasBroughtSince: row[SoupField.syncId] != nil && entry[SoupField.syncId] == nil)
  }

  /// Returns the paths where the row has a server id and the entry an older one. `Id`, if indexed,
  /// is always an id; another field counts as one if the entry is marked as locally created. Any
  /// other field may refer to a local record, unless the copy is old and no entry has that local id
  /// any more: then the upload has assigned its id.
  private func outdatedPaths(
    _ entry: JSONObject, _ row: JSONObject, _ paths: [String], _ isDangling: (String, String) throws -> Bool
  ) throws -> [String] {
    let differing = paths.filter { path in
      guard let old = entry[path]?.stringValue, let new = row[path]?.stringValue else { return false }
      return !old.hasSameBytes(as: new) && !new.hasPrefix(SoupField.localIdPrefix)
    }
    let isCreated = entry.hasFlag(SoupField.locallyCreated)
    let local = differing.filter { entry[$0]?.stringValue?.hasPrefix(SoupField.localIdPrefix) == true }
    var ids = isCreated && local.count == 1 ? local : []
    if differing.contains("Id") { ids = isCreated || local.contains("Id") ? ["Id"] : [] }
    guard isOld else { return ids }
    return try ids + local.filter { try !ids.contains($0) && isDangling(entry[$0]?.stringValue ?? "", $0) }
  }
}
