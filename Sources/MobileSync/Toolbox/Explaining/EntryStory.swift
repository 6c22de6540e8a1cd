import JSON
import SmartStore

/// The log of one entry, told line by line. No store.
struct EntryStory {
  typealias Line = EntryExplanation.Line

  /// Newest first.
  private(set) var lines: [Line] = []

  /// The causes of a program's own writes.
  private static let edits = ["created", "updated", "deleted"]

  /// - Parameters:
  ///   - rows: Of ``HistoryTable/log``, newest first.
  ///   - entry: The unsent changes by field: the server's last known value, and the entry's.
  init(
    _ rows: [HistoryRow], actor: (Int64?) -> HistoryActor?, syncName: (Int64?) -> String?,
    unsent: [String: (from: JSONValue?, to: JSONValue?)]
  ) {
    // The values that a later upload has kept of an edit, by field.
    var known = unsent
    for row in rows {
      var line = Line(
        at: row.integers[0] ?? 0, run: row.integers[1], version: row.integers[5] ?? 0, cause: row.texts[0] ?? "",
        reason: row.texts[1], fields: HistoryText.list(row.texts[2]))
      line.by = line.run == nil ? actor(row.integers[2]) : nil
      line.syncName = syncName(line.run)
      let before = EntryStory.object(row.texts[4]), sent = EntryStory.object(row.texts[5])
      if line.cause == "uploaded" {
        known.merge(EntryStory.values(line.fields ?? sent?.keys ?? [], before, sent)) { $1 }
      }
      if line.cause == "discarded", let before {
        line.changes = (line.fields ?? before.keys).map { (name: $0, from: before[$0], to: nil) }
      }
      if line.run == nil, line.cause == "updated" {
        for name in line.fields ?? [] {
          // The values are those of the last edit of a field.
          if let value = known.removeValue(forKey: name) { line.changes.append((name, value.from, value.to)) }
        }
      }
      add(line)
    }
    for i in lines.indices { lines[i].text = EntryStory.text(lines[i]) }
  }

  private static func object(_ text: String?) -> JSONObject? {
    text.flatMap { try? JSONValue(parsing: Array($0.utf8)) }?.objectValue
  }

  private static func values(
    _ names: [String], _ before: JSONObject?, _ sent: JSONObject?
  ) -> [String: (from: JSONValue?, to: JSONValue?)] {
    guard let before, let sent else { return [:] }
    return Dictionary(names.map { ($0, (from: before[$0], to: sent[$0])) }, uniquingKeysWith: { first, _ in first })
  }

  /// The same skip, again and again, is one line.
  private mutating func add(_ line: Line) {
    if let last = lines.last, ["skipped", "conflict", "refused", "inDoubt"].contains(line.cause), last.cause == line.cause,
      last.reason == line.reason, last.syncName == line.syncName, last.fields == line.fields
    {
      lines[lines.count - 1].times += 1
    } else {
      lines.append(line)
    }
  }

  mutating func insert(_ line: Line) {
    var line = line
    line.text = EntryStory.text(line)
    // Nothing was before a load, though it may be of the same millisecond.
    let isFirst = line.cause == "loaded"
    lines.insert(line, at: lines.firstIndex { $0.at < line.at || $0.at == line.at && !isFirst } ?? lines.count)
  }

  // MARK: Facts

  /// The last edit of a field that is not sent yet; nil if none is known.
  func edit(of field: String) -> Line? {
    lines.first { line in
      line.run == nil && EntryStory.edits.contains(line.cause) && (line.fields?.contains(field) ?? true)
    }
  }

  /// The newest edit of a program.
  var lastEdit: Line? { lines.first { $0.run == nil && EntryStory.edits.contains($0.cause) } }

  /// The newest line of a cause.
  func last(_ causes: String...) -> Line? { lines.first { causes.contains($0.cause) } }

  // MARK: Texts

  /// Who did it: `contactsUp, run 54`, or the program.
  static func who(_ line: Line) -> String {
    guard let run = line.run else { return line.by?.title ?? "a program" }
    let name = line.syncName ?? "a sync"
    return line.isCertain ? "\(name), run \(run)" : "\(name), at the latest in run \(run)"
  }

  static func text(_ line: Line) -> String {
    let names = (line.fields ?? []).joined(separator: " ")
    let often = line.times > 1 ? " \(line.times) times" : ""
    let what: String
    switch line.cause {
    case "created": what = "created it"
    case "deleted": what = "deleted it"
    case "updated" where line.run != nil: what = line.fields == nil ? "changed, fields not recorded" : names
    case "updated": what = changes(line)
    case "loaded": what = "first load, fields not recorded"
    case "merged": what = names.isEmpty ? "merged with the server's version" : "merged with the server's \(names)"
    case "settled": what = "the server has the same values"
    case "conflict": what = "conflict\(often)" + (names.isEmpty ? "" : " in \(names)")
    case "resolved": what = "conflict resolved: \(line.reason ?? "")"
    case "uploaded": what = line.fields == nil ? "sent" : "sent \(names)"
    case "refused": what = "sent, refused\(often)"
    case "skipped": what = "skipped it\(often): \(SkipReason.text(line.reason, line.fields))"
    case "inDoubt": what = "sent, no answer\(often)"
    case "adopted": what = "found its record after the answer was lost"
    case "discarded": what = "dropped the changes" + (names.isEmpty ? "" : " of \(names)")
    case "repaired" where line.reason == "missing": what = "repaired: it was missing"
    case "repaired": what = names.isEmpty ? "repaired" : "repaired \(names)"
    case "removed": what = removed(line)
    default: what = line.cause
    }
    return "\(who(line)): \(what)"
  }

  private static func changes(_ line: Line) -> String {
    guard !line.changes.isEmpty else { return (line.fields ?? []).joined(separator: " ") }
    let known = line.changes.map { "\($0.name) \(shown($0.from)) → \(shown($0.to))" }
    let others = (line.fields ?? []).filter { name in !line.changes.contains { $0.name == name } }
    return (known + others).joined(separator: ", ")
  }

  private static func removed(_ line: Line) -> String {
    switch line.reason {
    case "ghost": "removed it: the server no longer sends it"
    case "deletedThere": "removed it: deleted on the server"
    case "discarded": "removed it with its changes"
    default: "removed it"
    }
  }

  static func shown(_ value: JSONValue?) -> String {
    guard let value, !value.isNull else { return "(none)" }
    let text = value.stringValue ?? value.text
    return text.count > 60 ? text.prefix(59) + "…" : text
  }
}

extension SkipReason {
  /// Returns the reason in words.
  static func text(_ reason: String?, _ fields: [String]?) -> String {
    let names = (fields ?? []).joined(separator: " ")
    return switch reason {
    case fieldNotListed: names.isEmpty ? "no field list sends the change" : "no field list sends \(names)"
    case nothingToSend: "nothing to send"
    case held: "another run was sending it"
    case preconditionFailed: "412, though nothing changed there"
    case parentMissing: "its parent is neither here nor on the server"
    case parentNotSent: "its parent was not sent"
    default: reason ?? ""
    }
  }
}
