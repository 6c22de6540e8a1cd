import Glibc
import JSON
import Support
import Tureen

/// A saved sync and the outcome of its last run, for display.
struct SyncSummary {
  let state: JSONValue

  var name: String { state["name"]?.stringValue ?? "" }
  var id: Int64 { state["syncId"]?.integerValue ?? state["_soupEntryId"]?.integerValue ?? 0 }
  var status: String { state["status"]?.stringValue ?? "" }
  var soup: String { state["soupName"]?.stringValue ?? "" }
  var isUp: Bool { state["type"]?.stringValue == "syncUp" }

  private func count(_ key: String) -> Int64 { state[key]?.integerValue ?? 0 }

  /// The column `NAME` of a table.
  var title: String { name.isEmpty ? "#\(id)" : name }

  /// When the last run ended, or began if it still runs; nil before the first.
  var lastRun: String? {
    let time = status == "RUNNING" ? count("startTime") : count("endTime")
    return time > 0 ? TimeText.minute(time) : nil
  }

  /// `5000 fetched, 3 conflicting in 1.2 s`
  var figures: String {
    guard count("startTime") > 0 else { return "" }
    let shown = isUp ? ["succeeded", "failed"] : ["fetched", "removed"]
    var parts = ["\(count(shown[0])) \(isUp ? "sent" : "fetched")"]
    if count(shown[1]) > 0 { parts.append("\(count(shown[1])) \(isUp ? "refused" : "removed")") }
    for (key, word) in [("merged", "merged"), ("conflicting", "in conflict"), ("inDoubt", "in doubt"), ("flagged", "unusable")]
    where count(key) > 0 { parts.append("\(count(key)) \(word)") }
    if state["hasMore"]?.boolValue == true { parts.append("more pages follow") }
    let milliseconds = count("endTime") - count("startTime")
    let time = status != "RUNNING" && milliseconds >= 0 ? " in \(milliseconds / 1000).\(milliseconds % 1000 / 100) s" : ""
    return parts.joined(separator: ", ") + time
  }

  /// How long ago the last run succeeded; nil if that is not known, as after a failure.
  var lastSuccess: String? { state["lastSuccess"]?.integerValue.flatMap { $0 > 0 ? Ago.text($0) : nil } }

  /// `15 stored, 15 conflicts`, or why the last run failed and when.
  var outcome: String {
    guard count("startTime") > 0 else { return status == "NEW" ? "never ran" : "" }
    if let error { return count("endTime") > 0 ? "\(Ago.text(count("endTime"))): \(error)" : error }
    if status == "ABANDONED" { return "\(Ago.text(count("startTime"))): its process ended in the middle" }
    if status == "RUNNING" {
      let pid = state["owner"]?["pid"]?.integerValue
      return "\(count("progress")) %" + (pid.map { ", in process \($0)" } ?? "")
    }
    let words =
      isUp
      ? [
        ("succeeded", "sent"), ("failed", "refused"), ("conflicting", "in conflict"), ("inDoubt", "in doubt"),
        ("skipped", "skipped"),
      ]
      : [
        ("stored", "stored"), ("removed", "removed"), ("merged", "merged"), ("conflicting", "in conflict"),
        ("flagged", "unusable"),
      ]
    var parts = words.compactMap { key, word in shown(key) > 0 ? "\(shown(key)) \(word)" : nil }
    if state["hasMore"]?.boolValue == true { parts.append("more pages follow") }
    return parts.isEmpty ? (isUp ? "nothing to send" : "nothing new") : parts.joined(separator: ", ")
  }

  /// The engine counts a conflict of an upload as skipped, too.
  private func shown(_ key: String) -> Int64 {
    key == "skipped" ? count("skipped") - min(count("skipped"), count("conflicting")) : count(key)
  }

  /// Why the last run failed; nil if it did not.
  var error: String? {
    guard status == "FAILED", let text = state["error"]?.stringValue, !text.isEmpty else { return nil }
    let parsed = try? JSONValue(parsing: text)
    return (parsed?.arrayValue?.first ?? parsed)?["message"]?.stringValue ?? text
  }
}

/// Formats points in time.
enum TimeText {
  /// Ms since 1970 UTC.
  static var now: Int64 { SystemClock.millisecondsSince1970() }

  /// `2026-11-26 19:05Z`
  /// - Parameter milliseconds: Since 1970 UTC.
  static func minute(_ milliseconds: Int64) -> String {
    var seconds = time_t(milliseconds / 1000), parts = tm()
    gmtime_r(&seconds, &parts)
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let date = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
    return "\(date) \(two(parts.tm_hour)):\(two(parts.tm_min))Z"
  }
}

extension BridgeCalls {
  /// Returns the states of the saved syncs, in the order of creation, and those of the configuration files. A sync whose process
  /// died is ABANDONED.
  /// - Parameter isComplete: Whether to include syncs without a name.
  func syncs(isComplete: Bool = false) throws(CallFailure) -> [SyncSummary] {
    let all = try storeOverview()["syncs"]?.arrayValue ?? []
    return all.map { SyncSummary(state: $0) }.filter { isComplete || !$0.name.isEmpty }
  }
}
