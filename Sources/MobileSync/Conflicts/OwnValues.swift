import JSON
import SmartStore

/// The values that our own uploads of an entry sent. A value of the server that equals one of them, or that the
/// server made of it, is not a change by others. No store, network or clock.
package struct OwnValues: Sendable, Equatable {
  /// The values of updates without an answer, latest first.
  var unanswered: [JSONObject] = []
  /// The values of the last accepted upload.
  var accepted: JSONObject?

  /// Returns, for the members of the server's record that are ours, the values that the entry had
  /// when they became so.
  func values(in server: JSONObject, base: JSONObject?) -> JSONObject {
    guard accepted != nil || !unanswered.isEmpty else { return [:] }
    var own = JSONObject()
    for (key, value) in server {
      if let sent = sent(key, value, base) { own[key] = sent }
    }
    guard let arrived = unanswered.first(where: { hasArrived($0, server, base) }), let base else { return own }
    // What the server computes follows from the update. It cannot be lost, because it is not sent.
    for (key, value) in server where arrived[key] == nil {
      if let before = base[key], !RecordMerge.isKept(before, as: value) { own[key] = before }
    }
    return own
  }

  private func sent(_ key: String, _ value: JSONValue, _ base: JSONObject?) -> JSONValue? {
    for one in unanswered {
      if let sent = one[key], ServerForm.isMade(of: sent, value) { return sent }
    }
    guard let accepted, let base else { return nil }
    // A checkbox that a create leaves out is false there.
    guard let sent = accepted[key] else { return value == false && (base[key] ?? .null).isNull ? .null : nil }
    // A base with another value is newer than the upload.
    guard let before = base[key], RecordMerge.same(before, sent), ServerForm.isMade(of: sent, value) else { return nil }
    return sent
  }

  /// Returns whether the server has a value of the update that is not the base's.
  private func hasArrived(_ update: JSONObject, _ server: JSONObject, _ base: JSONObject?) -> Bool {
    update.contains { key, sent in
      guard let value = server[key], let before = base?[key] else { return false }
      return !RecordMerge.same(before, sent) && ServerForm.isMade(of: sent, value)
    }
  }
}

/// The forms in which servers store values. No store, network or clock.
enum ServerForm {
  /// Returns whether a server may have made a value of the one that was sent: trimmed, rounded, cut,
  /// sorted, converted, or completed.
  static func isMade(of sent: JSONValue, _ stored: JSONValue) -> Bool {
    if RecordMerge.isKept(sent, as: stored) { return true }
    switch (sent, stored) {
    case (.null, .bool(let flag)): return !flag
    case (.string(let text), .bool(let flag)): return text.lowercased() == (flag ? "true" : "false")
    case (.string(let a), .string(let b)): return isMade(of: a, b)
    case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy(isMade)
    case (.object(let a), .object(let b)):
      return a.allSatisfy { key, value in isMade(of: value, b[key] ?? .null) } && b.allSatisfy { key, _ in a[key] != nil }
    // A double cannot hold 1e400, and JSON has no infinity.
    case (_, .null): return sent.doubleValue?.isInfinite ?? false
    default: break
    }
    if let text = sent.stringValue, let number = stored.doubleValue { return Double(text) == number }
    guard let a = sent.doubleValue, let b = stored.doubleValue else { return false }
    // Many servers keep numbers as doubles: 2^53 + 1 comes back as 2^53.
    return a == b || isRounded(a, b)
  }

  /// Returns whether a number has fewer decimals than another one, which it is close to.
  private static func isRounded(_ sent: Double, _ stored: Double) -> Bool {
    var unit = 1.0
    // The decimals of currencies, percentages and coordinates.
    for _ in 0...15 {
      let isShorter = abs((sent * unit).rounded() - sent * unit) > 1e-6
      if abs((stored * unit).rounded() - stored * unit) <= 1e-6 * max(1, abs(stored)) {
        return isShorter && abs(sent - stored) * unit < 1
      }
      unit *= 10
    }
    return false
  }

  private static func isMade(of sent: String, _ stored: String) -> Bool {
    if sent.utf8.count == 15, stored.utf8.count == 18, stored.hasPrefix(sent) { return true }
    if sent.contains("@"), sent.lowercased() == stored.lowercased() { return true }
    if sent.utf8.contains(UInt8(ascii: "\r")), lines(sent) == lines(stored) { return true }
    if sent.contains(";") {
      let a = sent.split(separator: ";").map { trimmed($0) }, b = stored.split(separator: ";").map { trimmed($0) }
      return IdSet(a) == IdSet(b)
    }
    guard let a = TimeStamp.milliseconds(sent), let b = TimeStamp.milliseconds(stored) else { return false }
    // Cut or rounded to a second, or cut to a day.
    return b % 1000 == 0 && abs(a - b) < 1000 || b % 86_400_000 == 0 && (0..<86_400_000).contains(a - b)
  }

  private static func trimmed(_ text: Substring) -> String {
    var rest = text.drop { $0 == " " }
    while rest.last == " " { rest.removeLast() }
    return String(rest)
  }

  private static func lines(_ text: String) -> [String] {
    text.split(omittingEmptySubsequences: false) { $0 == "\r\n" || $0 == "\n" || $0 == "\r" }.map(String.init)
  }
}

extension UploadRecord {
  /// Returns the values of a text in the form of ``sent``; nil if they are not known.
  static func values(_ text: [UInt8]) -> JSONObject? { (try? JSONValue(parsing: text))?["fields"]?.objectValue }

  /// The values of this update and of those before it, latest first.
  fileprivate var unanswered: [JSONObject] {
    let latest = operation == .update ? sent.flatMap(UploadRecord.values) : nil
    let before = earlier.flatMap { try? JSONValue(parsing: $0) }?.arrayValue ?? []
    return [latest].compactMap { $0 } + before.compactMap { $0["fields"]?.objectValue }
  }
}

extension StoreSnapshot {
  /// Returns the values that our own uploads of entries sent, by entry id.
  func ownValues(of ids: [Int64], in soup: String) throws -> [Int64: OwnValues] {
    try ownUploads(of: ids, in: soup).values
  }

  /// Returns the values that our own uploads of entries sent, and the time stamps that the server
  /// gave them, in ms since 1970 UTC, by entry id.
  func ownUploads(of ids: [Int64], in soup: String) throws -> (stamps: [Int64: Int64], values: [Int64: OwnValues]) {
    guard !ids.isEmpty else { return ([:], [:]) }
    var values: [Int64: OwnValues] = [:]
    let uploaded = try uploaded(of: ids, in: soup)
    for (id, one) in uploaded {
      if let sent = one.sent.flatMap(UploadRecord.values) { values[id, default: OwnValues()].accepted = sent }
    }
    for upload in try unsettledUploads(of: ids, in: soup) {
      let unanswered = upload.unanswered
      if !unanswered.isEmpty { values[upload.entryId, default: OwnValues()].unanswered = unanswered }
    }
    return (uploaded.compactMapValues(\.stamp), values)
  }
}
