import JSON

/// What the server has of a record that was changed here.
package enum ServerVersion: Sendable, Equatable {
  case record(JSONObject)
  case deleted
  /// It was changed, and what it says could not be read.
  case unknown
}

extension JSONValue {
  /// Neither an object nor a list: these are other records.
  var isPlain: Bool { objectValue == nil && arrayValue == nil }
}

/// A three-way comparison of one record, field by field. No store, network or clock: every rule has a one-line test.
///
/// - A member that a side lacks is no statement of that side: neither a change nor a deletion. Null is one.
/// - Without a base, whatever differs was changed on both sides.
/// - Objects and lists are one value each, taken from one side whole: a relationship's fields belong to another record.
/// - What the engine keeps (`__local__` and so on), the id, the modification date and `attributes` are no fields. The flags
///   stay the entry's own, the others follow the server.
struct RecordMerge: Sendable, Equatable {
  /// Fields that say something else here than in the base.
  private(set) var localChanges: [String] = []
  /// Fields that say something else on the server than in the base.
  private(set) var remoteChanges: [String] = []
  /// Remote changes to something else than what the entry says.
  private(set) var foreignChanges: [String] = []
  /// Changed on both sides, to different values.
  private(set) var conflicts: [String] = []
  /// The entry with the server's changes in it; fields in conflict have the local value.
  private(set) var merged: JSONObject
  /// Nothing is left to send: the server has every local change.
  private(set) var isSettled = true

  init(base: JSONObject?, local: JSONObject, server: JSONObject, fields: TargetFields) {
    merged = local
    var keys = local.keys
    keys += server.keys.filter { local[$0] == nil }
    for key in keys where !RecordMerge.isBookkeeping(key, fields) { take(key, base, local[key], server[key]) }
    for key in [fields.id, fields.modificationDate] + RecordMerge.serverOwn(fields) {
      if let value = server[key] { merged[key] = value }
    }
  }

  private mutating func take(_ key: String, _ base: JSONObject?, _ mine: JSONValue?, _ theirs: JSONValue?) {
    let before = base.map { $0[key] ?? .null }
    guard let theirs else {
      guard let mine, !RecordMerge.same(mine, before ?? .null) else { return }
      localChanges.append(key)
      isSettled = false
      return
    }
    guard let mine else {
      // What neither the base nor the entry ever had: nothing says that it is new.
      if base.map({ $0[key] != nil }) ?? true, !RecordMerge.isKept(before ?? .null, as: theirs) {
        remoteChanges.append(key)
        foreignChanges.append(key)
      }
      merged[key] = theirs
      return
    }
    let agree = RecordMerge.same(mine, theirs)
    let isChangedHere = before.map { !RecordMerge.same(mine, $0) } ?? !agree
    let isChangedThere = before.map { !RecordMerge.isKept($0, as: theirs) } ?? !agree
    if isChangedHere { localChanges.append(key) }
    if isChangedThere { remoteChanges.append(key) }
    if isChangedThere, !RecordMerge.isKept(mine, as: theirs) { foreignChanges.append(key) }
    if agree || !isChangedHere {
      merged[key] = theirs
    } else {
      isSettled = false
      if isChangedThere { conflicts.append(key) }
    }
  }

  // MARK: Fields

  /// Members beside the id and the date that the server makes itself.
  static func serverOwn(_ fields: TargetFields) -> [String] { [LocalField.attributes] + fields.others }

  /// True for members that are no field of a record.
  static func isBookkeeping(_ key: String, _ fields: TargetFields) -> Bool {
    key == fields.id || key == fields.modificationDate || key == LocalField.attributes || fields.others.contains(key)
      || LocalField.isLocalOnly(key)
  }

  // MARK: Values

  /// True when two values say the same: numbers in any spelling, instants in any notation, an empty text and null (which a
  /// server does not tell apart), members in any order. `attributes` of a nested record only tell where it lives.
  static func same(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): return a == b
    case (.integer, .number), (.number, .integer), (.number, .number): return a.doubleValue == b.doubleValue
    case (.string(let first), .string(let second)):
      if first.hasSameBytes(as: second) { return true }
      guard let a = TimeStamp.milliseconds(first), let b = TimeStamp.milliseconds(second) else { return false }
      return a == b
    case (.null, .string(let text)), (.string(let text), .null): return text.isEmpty
    case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy(same)
    case (.object(let a), .object(let b)): return sameMembers(a, b) && sameMembers(b, a)
    default: return a == b
    }
  }

  /// True when `stored` is what a server makes of a value that it was sent: it keeps texts without blanks around them.
  static func isKept(_ sent: JSONValue, as stored: JSONValue) -> Bool {
    if same(sent, stored) { return true }
    guard let sent = text(sent), let stored = text(stored) else { return false }
    return sent.elementsEqual(stored)
  }

  private static func text(_ value: JSONValue) -> Substring.UTF8View.SubSequence? {
    guard let text = value.isNull ? "" : value.stringValue else { return nil }
    let isBlank: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || (UInt8(ascii: "\t")...UInt8(ascii: "\r")).contains($0) }
    var rest = Substring(text).utf8.drop(while: isBlank)
    while let last = rest.last, isBlank(last) { rest.removeLast() }
    return rest
  }

  private static func sameMembers(_ a: JSONObject, _ b: JSONObject) -> Bool {
    a.allSatisfy { key, value in key == LocalField.attributes || same(value, b[key] ?? .null) }
  }

  // MARK: The base

  /// The base, where the entry was made from it: both have the same modification date. A copy that a script read before the entry
  /// was brought anew, and saved after, has an older one: what it was made from is not known then.
  ///
  /// An entry without a date goes by any base.
  static func base(_ base: JSONObject?, fitting entry: JSONObject, _ fields: TargetFields) -> JSONObject? {
    guard let base, let date = fields.date(of: entry), !date.isNull else { return base }
    return same(date, fields.date(of: base) ?? .null) ? base : nil
  }

  /// What the entry would be without local changes, once the server has `server`: the base of its next comparison.
  static func base(_ base: JSONObject?, after server: JSONObject) -> JSONObject {
    var next = base ?? [:]
    for (key, value) in server where !LocalField.isLocalOnly(key) { next[key] = value }
    return next
  }
}
