import JSON

/// What an edit did to an entry. Raw values are those that scripts see.
public enum EditOutcome: String, Sendable {
  case created, changed, unchanged
  /// The entry has local changes, which were not to be touched.
  case kept
  /// Both sides changed the same members; the entry stays as it is.
  case conflict
}

/// An entry while edits are applied to it, in memory. No store: every rule has a one-line test.
package struct EditedRow: Sendable {
  /// nil for an entry that the edits create.
  package let id: Int64?
  package let version: Int64
  /// The text as stored; empty for a new entry.
  let text: [UInt8]
  let original: JSONObject
  package internal(set) var entry: JSONObject
  /// The last known server version of an entry with local changes; nil if it is not known.
  package internal(set) var base: JSONObject?
  package private(set) var isBaseChanged = false
  package var outcome = EditOutcome.unchanged

  /// - Parameter base: JSON text.
  package init(_ stored: StoredEntry, base: [UInt8]?) throws {
    id = stored.id
    version = stored.version
    text = stored.text
    original = try stored.object()
    entry = original
    self.base = try base.flatMap { try JSONValue(parsing: $0).objectValue }
  }

  /// Makes a new entry.
  package init(creating entry: JSONObject) {
    id = nil
    version = 0
    text = []
    original = [:]
    self.entry = entry.filtered { key, _ in !key.hasPrefix(SoupField.storePrefix) }
    outcome = .created
    if SoupField.localFlags.contains(where: { self.entry[$0] != nil }) { setFlags([:]) }
  }

  package var isDirty: Bool { entry.hasFlag(SoupField.local) }
  package var isChanged: Bool { id == nil || entry != original }

  /// Returns the text to store; nil if nothing changed. Members that no edit touched keep their text.
  func changedText() throws -> [UInt8]? {
    guard id != nil else { return JSONValue.object(entry).serialized() }
    guard isChanged else { return nil }
    let changed = entry.filtered { key, value in original[key] != value }
    let gone = original.keys.filter { entry[$0] == nil }
    return try EntryText.rewrite(text, dropping: IdSet(changed.keys + gone), adding: changed)
  }

  // MARK: Edits

  /// - Throws: ``StoreError`` `.entryChanged`, `.invalidEntry`.
  mutating func apply(_ patch: EntryPatch) throws(StoreError) {
    if let wanted = patch.ifVersion, wanted != version || outcome == .changed {
      throw StoreError(.entryChanged, "the entry \(id ?? 0) has been written since its version \(wanted)")
    }
    guard !(patch.ifClean && isDirty) else {
      if outcome == .unchanged { outcome = .kept }
      return
    }
    if let copy = patch.copy { apply(copy: copy) }
    put(patch.set)
    for key in patch.unset where !key.hasPrefix(SoupField.storePrefix) { entry[key] = nil }
    for (path, operation) in patch.operations { try EntryPath(path).apply(operation, to: &entry) }
    if let confirmed = patch.confirmed { confirm(confirmed, isUnedited: patch.sentVersion == version && !isChanged) }
    if patch.flags != nil || EntryPatch.flagNames.contains(where: { patch.set[$0] != nil }) { setFlags(patch.flags ?? [:]) }
    noteChange()
  }

  /// Replaces the entry by a record of the server, without local changes.
  package mutating func replace(with record: JSONObject) {
    for key in entry.keys where record[key] == nil && !key.hasPrefix(SoupField.storePrefix) { entry[key] = nil }
    put(record)
    noteChange()
  }

  package mutating func setBase(_ base: JSONObject) {
    self.base = base
    isBaseChanged = true
  }

  private mutating func noteChange() {
    if id != nil { outcome = isChanged ? .changed : .unchanged }
  }

  mutating func put(_ members: JSONObject) {
    for (key, value) in members where !key.hasPrefix(SoupField.storePrefix) {
      // A number that is only spelled differently keeps its digits.
      if let known = entry[key], known.isSameValue(as: value) { continue }
      entry[key] = value
    }
  }

  /// Sets the given flags, keeps the others, and derives `__local__`.
  mutating func setFlags(_ flags: [String: Bool]) {
    var isLocal = false
    for name in EntryPatch.flagNames {
      let isSet = flags[name] ?? entry.hasFlag(name)
      entry[name] = .bool(isSet)
      isLocal = isLocal || isSet
    }
    entry[SoupField.local] = .bool(isLocal)
  }
}
