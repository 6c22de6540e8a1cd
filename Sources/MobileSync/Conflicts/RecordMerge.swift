import JSON
import SmartStore

/// The server's version of a record that was changed locally.
package enum ServerVersion: Sendable, Equatable {
  case record(JSONObject)
  case deleted
  /// The record was changed, but its fields could not be read.
  case unknown
}

extension JSONValue {
  /// Whether the value is neither an object nor a list; those stand for other records.
  var isPlain: Bool { objectValue == nil && arrayValue == nil }
}

/// A three-way merge of one record, field by field. No store, network or clock: every rule has a
/// one-line test.
///
/// - A member that one side lacks says nothing: it is neither a change nor a deletion. Null is a
///   value.
/// - Without a base, every difference counts as changed on both sides.
/// - Objects and lists are atomic and are taken whole from one side: the fields of a relationship
///   belong to another record.
/// - Members of the engine (`__local__` and so on), the id, the modification date and `attributes`
///   are not fields. The local flags stay as they are; the others follow the server.
struct RecordMerge: Sendable, Equatable {
  /// Fields whose local value differs from the base.
  private(set) var localChanges: [String] = []
  /// Fields whose server value differs from the base.
  private(set) var remoteChanges: [String] = []
  /// Remote changes to a value that differs from the local one.
  private(set) var foreignChanges: [String] = []
  /// Fields changed on both sides, to different values, that are not decided.
  private(set) var conflicts: [String] = []
  /// Whether a policy has decided fields that both sides changed.
  private(set) var isDecidedByPolicy = false
  /// The entry with the server's changes; conflicting fields keep the local value.
  private(set) var merged: JSONObject
  /// Whether the server has every local change, so that nothing is left to send.
  private(set) var isSettled = true
  private let policy: ConflictPolicy?

  /// - Parameter own: The values of our own uploads; the server's values that come from them are
  ///   not remote changes.
  /// - Parameter policy: Decides fields that both sides changed.
  init(
    base: JSONObject?, local: JSONObject, server: JSONObject, fields: TargetFields, own: OwnValues? = nil,
    policy: ConflictPolicy? = nil
  ) {
    merged = local
    self.policy = policy
    let own = fields.withoutOwnPaths(own?.values(in: server, base: base) ?? [:])
    let base = base.map(fields.withoutOwnPaths)
    let ours = fields.withoutOwnPaths(local), theirs = fields.withoutOwnPaths(server)
    var keys = ours.keys
    keys += theirs.keys.filter { ours[$0] == nil }
    for key in keys where !RecordMerge.isBookkeeping(key, fields) {
      merge(key, base, ours[key], theirs[key], own[key])
    }
    for path in [fields.id, fields.modificationDate] + RecordMerge.serverOwn(fields) {
      guard let value = Projection.value(server, path) else { continue }
      let (key, member) = Projection.member(value, at: path, in: merged)
      merged[key] = member
    }
  }

  /// - Parameter own: What we sent, if the server's value comes from it.
  private mutating func merge(
    _ key: String, _ base: JSONObject?, _ mine: JSONValue?, _ theirs: JSONValue?, _ own: JSONValue?
  ) {
    let before = own ?? base.map { $0[key] ?? .null }
    guard let theirs else {
      guard let mine, !RecordMerge.same(mine, before ?? .null) else { return }
      localChanges.append(key)
      isSettled = false
      return
    }
    guard let mine else {
      // Neither the base nor the entry ever had the field, so it is not known to be new.
      if own == nil, base.map({ $0[key] != nil }) ?? true, !RecordMerge.isKept(before ?? .null, as: theirs) {
        remoteChanges.append(key)
        foreignChanges.append(key)
      }
      merged[key] = theirs
      return
    }
    let agree = RecordMerge.same(mine, theirs)
    let isChangedHere = before.map { !RecordMerge.same(mine, $0) } ?? !agree
    let isChangedThere = own == nil && (before.map { !RecordMerge.isKept($0, as: theirs) } ?? !agree)
    if isChangedHere { localChanges.append(key) }
    if isChangedThere { remoteChanges.append(key) }
    if isChangedThere, !RecordMerge.isKept(mine, as: theirs) { foreignChanges.append(key) }
    if agree || !isChangedHere {
      merged[key] = theirs
    } else {
      decide(key, theirs, isChangedThere: isChangedThere)
    }
  }

  /// Decides a field that was changed here, to another value than the server's.
  private mutating func decide(_ key: String, _ theirs: JSONValue, isChangedThere: Bool) {
    let side = isChangedThere ? policy?.side(of: key) ?? .ask : .local
    if isChangedThere, side != .ask { isDecidedByPolicy = true }
    switch side {
    case .server: merged[key] = theirs
    case .local: isSettled = false
    case .ask:
      isSettled = false
      conflicts.append(key)
    }
  }

  // MARK: Fields

  /// Members besides the id and the date that the server sets itself.
  static func serverOwn(_ fields: TargetFields) -> [String] { [LocalField.attributes] + fields.others }

  /// Returns whether a member is not a field of the record.
  static func isBookkeeping(_ key: String, _ fields: TargetFields) -> Bool {
    key == fields.id || key == fields.modificationDate || key == LocalField.attributes || fields.others.contains(key)
      || LocalField.isLocalOnly(key)
  }

  // MARK: Values

  /// Returns whether two values are equivalent: numbers in any spelling, instants in any notation,
  /// an empty text and null (which servers do not distinguish), and members in any order.
  /// `attributes` of a nested record are ignored, because they only say where it lives.
  static func same(_ a: JSONValue, _ b: JSONValue) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): return a == b
    case (.decimal, _), (_, .decimal): return a.isSameNumber(as: b)
    case (.integer, .number), (.number, .integer), (.number, .number): return a.doubleValue == b.doubleValue
    case (.string(let first), .string(let second)):
      if first.hasSameBytes(as: second) { return true }
      guard let a = TimeStamp.milliseconds(first), let b = TimeStamp.milliseconds(second) else { return false }
      return a == b
    case (.null, .string(let text)), (.string(let text), .null): return text.isEmpty
    case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy(same)
    case (.object(let a), .object(let b)): return sameMembers(a, b)
    default: return a == b
    }
  }

  /// Returns whether `stored` is the server's form of a sent value: servers trim white space around
  /// texts.
  static func isKept(_ sent: JSONValue, as stored: JSONValue) -> Bool {
    if same(sent, stored) { return true }
    guard let sent = TrimmedText(sent), let stored = TrimmedText(stored) else { return false }
    return stored.isTrimmed(from: sent)
  }

  /// Compares each pair of members once: comparing both ways would double the work at each level.
  private static func sameMembers(_ a: JSONObject, _ b: JSONObject) -> Bool {
    a.allSatisfy { key, value in key == LocalField.attributes || same(value, b[key] ?? .null) }
      && b.allSatisfy { key, value in key == LocalField.attributes || a[key] != nil || same(.null, value) }
  }

  // MARK: The base

  /// Returns the base if the entry is derived from it: both have the same modification date. If a
  /// script saves a copy that it read before a sync down replaced the entry, the copy has an older
  /// date, and its base is unknown.
  ///
  /// An entry without a date fits any base.
  static func base(_ base: JSONObject?, fitting entry: JSONObject, _ fields: TargetFields) -> JSONObject? {
    guard let base, let date = fields.date(of: entry), !date.isNull else { return base }
    return same(date, fields.date(of: base) ?? .null) ? base : nil
  }

  /// Returns the base for the next comparison, once the server has `server`: the entry without
  /// local changes.
  static func base(_ base: JSONObject?, after server: JSONObject) -> JSONObject {
    var next = base ?? [:]
    for (key, value) in server where !LocalField.isLocalOnly(key) { next[key] = value }
    // It is no longer the version that an entry of that time was made from.
    if base != nil { next[SoupField.lastModified] = nil }
    return next
  }

  // MARK: Answers

  /// Returns the members that an entry takes over from the record in the answer to its upload: those that differ, and that the
  /// entry has as the base has them.
  ///
  /// The date and the server's other own values stay: the entry's base is found by its date.
  static func adopted(from record: JSONObject, by entry: JSONObject, base: JSONObject, _ fields: TargetFields) -> JSONObject {
    var merged = RecordMerge(base: base, local: entry, server: record, fields: fields).merged
    for path in [fields.id, fields.modificationDate] + serverOwn(fields) {
      guard let value = Projection.value(entry, path) else {
        merged = Projection.removing(path, from: merged)
        continue
      }
      let (key, member) = Projection.member(value, at: path, in: merged)
      merged[key] = member
    }
    return merged.filtered { key, value in !LocalField.isLocalOnly(key) && entry[key] != value }
  }
}

/// A text and the white space around it: what servers count as such. That of Unicode, as .NET, Python and JavaScript do, and
/// the controls before it, as Java does. Null is an empty text.
private struct TrimmedText {
  private let before: Substring.UnicodeScalarView, core: Substring.UnicodeScalarView, after: Substring.UnicodeScalarView

  init?(_ value: JSONValue) {
    guard let text = value.isNull ? "" : value.stringValue else { return nil }
    let isBlank: (Unicode.Scalar) -> Bool = { $0 <= " " || $0.properties.isWhitespace }
    let all = Substring(text).unicodeScalars
    let start = all.firstIndex { !isBlank($0) } ?? all.endIndex
    let end = all.lastIndex { !isBlank($0) }.map(all.index(after:)) ?? start
    (before, core, after) = (all[..<start], all[start..<end], all[end...])
  }

  /// Whether this is the other text with less white space around it, or as much.
  func isTrimmed(from other: TrimmedText) -> Bool {
    core.elementsEqual(other.core) && other.before.reversed().starts(with: before.reversed()) && other.after.starts(with: after)
  }
}
