import JSON
import SmartStore

/// Compares a record of the server with what a soup has of it. No store, network or clock.
///
/// Numbers are equal if their values are, dates if they are the same moment, and texts if their bytes are. Members that the
/// server sets by itself, and those of the engine, do not count.
struct RecordComparison: Sendable {
  let fields: TargetFields
  /// Whether the server sends all members of a record: one that it does not send is gone there.
  let isWhole: Bool

  /// Returns the names of the fields that differ, in the order of the record.
  func differences(_ record: JSONObject, _ entry: JSONObject) -> [String] {
    let theirs = fields.withoutOwnPaths(record), mine = fields.withoutOwnPaths(entry)
    var found = theirs.keys.filter { key in
      !RecordMerge.isBookkeeping(key, fields) && !Self.same(theirs[key] ?? .null, mine[key] ?? .null)
    }
    if isWhole { found += absent(theirs, mine) }
    return found
  }

  /// Returns the fields that only the entry has.
  func absent(_ record: JSONObject, _ entry: JSONObject) -> [String] {
    entry.keys.filter { key in
      record[key] == nil && !RecordMerge.isBookkeeping(key, fields) && !(entry[key] ?? .null).isNull
    }
  }

  /// Returns whether the record is what an upload of the entry made: the values that both have are equal but for what
  /// servers do to sent values.
  func isEcho(_ record: JSONObject, of entry: JSONObject) -> Bool {
    record.allSatisfy { key, value in
      guard !RecordMerge.isBookkeeping(key, fields), let mine = entry[key] else { return true }
      return LostCreateMatcher.same(mine, value)
    }
  }

  static func same(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.string(let first), .string(let second)):
      if first.hasSameBytes(as: second) { return true }
      guard let a = TimeStamp.milliseconds(first), let b = TimeStamp.milliseconds(second) else { return false }
      return a == b
    case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy(same)
    case (.object(let a), .object(let b)):
      return a.allSatisfy { $0.key == LocalField.attributes || same($0.value, b[$0.key] ?? .null) }
        && b.allSatisfy { $0.key == LocalField.attributes || a[$0.key] != nil || $0.value.isNull }
    default: return a.isSameNumber(as: b) || a == b
    }
  }
}
