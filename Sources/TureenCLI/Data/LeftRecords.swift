import JSON
import Tureen

/// The records that a sync has left behind: entries that are not on the server although a sync up ended, and unusable items.
struct LeftRecords {
  private let entries: [JSONValue]
  private let warnings: [String]
  private let flagged: Int64
  private let conflicting: Bool
  private let hint: String

  /// The entries, and the warnings, that are named.
  private static let named = 3

  /// - Parameters:
  ///   - sync: A sync that has ended.
  ///   - options: Those that the printed command needs as well.
  init(_ sync: SyncSummary, _ calls: BridgeCalls, options: [String]) throws {
    flagged = sync.state.figure("flagged")
    warnings = flagged > 0 ? (sync.state["warnings"]?.arrayValue ?? []).compactMap(\.stringValue) : []
    conflicting = sync.state.figure("conflicting") > 0 || sync.state.figure("failed") > 0
    var found: [JSONValue] = []
    if sync.isUp {
      let all = try calls.value("mobilesync", "getDirtyEntries").arrayValue ?? []
      let soups = Self.soups(sync)
      found = all.filter { entry in
        guard let soup = entry["soupName"]?.stringValue, let state = entry["state"]?.stringValue else { return false }
        return soups.contains(soup) && ["refused", "skipped", "inDoubt", "conflict", "held"].contains(state)
      }
    }
    entries = found
    hint = (["tureen dirty"] + options).joined(separator: " ")
  }

  /// The soups that a sync up sends.
  static func soups(_ sync: SyncSummary) -> [String] {
    let target = sync.state["target"]
    let related = ["parent", "children"].compactMap { target?[$0]?["soupName"]?.stringValue }
    return [sync.soup] + related
  }

  var isEmpty: Bool { entries.isEmpty && flagged == 0 && !conflicting }

  /// Names the first ones on stderr.
  func say() {
    for warning in warnings.prefix(Self.named) { complain("unusable: \(warning)", .warning) }
    if Int(flagged) > Self.named { complain("and \(Int(flagged) - Self.named) more items could not be used", .warning) }
    for entry in entries.prefix(Self.named) {
      let state = DirtyText.word(entry["state"]?.stringValue ?? ""), title = entry["title"]?.stringValue.map { " (\($0))" } ?? ""
      let place = "\(entry["soupName"]?.stringValue ?? "") \(entry.figure("entryId"))\(title)"
      complain("\(state): \(place): \(entry["reason"]?["text"]?.stringValue ?? "")", .warning)
    }
    let more = entries.count - Self.named
    if !entries.isEmpty { complain((more > 0 ? "and \(more) more; " : "") + "see: \(hint)", .warning) }
  }
}
