import JSON

extension EditedRow {
  /// Applies what a script changed in its copy of the entry.
  ///
  /// The differences from the version that the copy was read with are the script's edits. If a sync has
  /// written a newer version since, a difference may as well be the sync's change. Such members lose
  /// their base, so that the next sync up reports a conflict instead of undoing another user's change.
  mutating func apply(copy: JSONObject) {
    let whole = copy.filtered { key, _ in !key.hasPrefix(SoupField.storePrefix) }
    let given = whole.filtered { key, _ in !SoupField.isOwn(key) }
    guard let read = copy[SoupField.lastModified]?.integerValue else { return put(given) }
    if read >= original[SoupField.lastModified]?.integerValue ?? 0 { return replace(with: whole) }
    guard isDirty else { return applyDoubtful(given, over: entry) }
    guard let base else { return put(given) }
    guard let written = base[SoupField.lastModified]?.integerValue, written <= read else {
      return applyDoubtful(given, over: base)
    }
    apply(given, since: base)
  }

  /// Applies the differences between a copy and the version from which it was made.
  private mutating func apply(_ copy: JSONObject, since earlier: JSONObject) {
    put(copy.filtered { key, value in !(earlier[key].map { $0.isSameValue(as: value) } ?? false) })
    for key in earlier.keys where copy[key] == nil && !SoupField.isOwn(key) { entry[key] = nil }
  }

  private mutating func applyDoubtful(_ copy: JSONObject, over server: JSONObject) {
    var known = server
    for (key, value) in copy where !(entry[key].map { $0.isSameValue(as: value) } ?? false) {
      // Another edit changed the member; the copy still has the server's value.
      if isDirty, let value = server[key], value.isSameValue(as: copy[key] ?? .null) { continue }
      entry[key] = value
      known[key] = nil
    }
    setBase(known)
  }

  /// Takes over that the server has these values, which were sent from here.
  /// - Parameter isUnedited: Whether the entry is as it was sent.
  mutating func confirm(_ members: JSONObject, isUnedited: Bool) {
    let members = members.filtered { key, _ in !SoupField.isOwn(key) }
    guard isDirty else { return put(members) }
    for (key, value) in members {
      let isEdited = !isUnedited && (base.map { !Self.isSame(entry[key], $0[key]) } ?? true)
      // An id that was made here is not an edit.
      let isLocalId = entry[key]?.stringValue?.hasPrefix(SoupField.localIdPrefix) == true
      if !isEdited || isLocalId { put([key: value]) }
    }
    let isComplete = base == nil ? isUnedited : false, next = (base ?? [:]).replacing(with: members)
    setBase(next)
    guard !entry.hasFlag(SoupField.locallyDeleted) else { return }
    let isClean = isComplete || Self.areSame(entry, next)
    setFlags([SoupField.locallyCreated: false, SoupField.locallyUpdated: !isClean])
  }

  private static func areSame(_ a: JSONObject, _ b: JSONObject) -> Bool {
    (a.keys + b.keys).allSatisfy { SoupField.isOwn($0) || isSame(a[$0], b[$0]) }
  }

  private static func isSame(_ a: JSONValue?, _ b: JSONValue?) -> Bool { (a ?? .null).isSameValue(as: b ?? .null) }
}

extension SoupField {
  /// The prefix of the members that the store sets.
  static let storePrefix = "_soup"

  /// Whether a member belongs to the store or the sync engine and is not part of the record.
  static func isOwn(_ key: String) -> Bool { key.hasPrefix(storePrefix) || key.hasPrefix("__") && key.hasSuffix("__") }
}
