import JSON

/// The limits of `tureen status --check`, and what is beyond them. It needs nothing but the result of `getOverview`, so that a
/// monitor never writes.
package struct OverviewCheck: Sendable, Equatable {
  /// How old the last success of a named sync may be, in ms; nil for no limit, as for the others.
  package private(set) var age: JobInterval?
  /// How long an entry may wait.
  package private(set) var dirty: JobInterval?
  package private(set) var failed: Int64?
  package private(set) var refused: Int64?
  package private(set) var conflicts: Int64?
  package private(set) var newConflicts: Int64?

  /// The limits of `--check` alone.
  package static let standard = "age=1d,dirty=1d,failed=0,refused=0,newConflicts=0"

  package struct Problem: Error, CustomStringConvertible { package let description: String }

  /// - Parameter text: Such as `age=2h,conflicts=50`. A figure that is not named has no limit.
  package init(_ text: String) throws(Problem) {
    let names = ["age", "dirty", "failed", "refused", "conflicts", "newConflicts"]
    for word in text.split(separator: ",", omittingEmptySubsequences: false) {
      let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      guard parts.count == 2, names.contains(parts[0]) else {
        let hint = NearestName.hint(for: parts[0], among: names)
        throw Problem(description: "'\(word)' is not a limit such as age=2h or conflicts=50\(hint)")
      }
      let key = parts[0], value = parts[1]
      if key == "age" || key == "dirty" {
        guard let time = JobInterval(value) else {
          throw Problem(description: "\(key)=\(value): the limit must be \(JobInterval.shape)")
        }
        if key == "age" { age = time } else { dirty = time }
        continue
      }
      guard let number = Int64(value), number >= 0 else {
        throw Problem(description: "\(key)=\(value): the limit must be a whole number, 0 or more")
      }
      switch key {
      case "failed": failed = number
      case "refused": refused = number
      case "conflicts": conflicts = number
      default: newConflicts = number
      }
    }
  }

  /// Returns what is beyond the limits, in words; empty if nothing is.
  /// - Parameters:
  ///   - overview: The result of `getOverview`.
  ///   - now: Ms since 1970 UTC.
  package func findings(_ overview: JSONValue, now: Int64) -> [String] {
    let stores = overview["stores"]?.arrayValue ?? []
    let syncs = stores.flatMap { $0["syncs"]?.arrayValue ?? [] }, soups = stores.flatMap { $0["soups"]?.arrayValue ?? [] }
    func total(_ key: String) -> Int64 { soups.reduce(0) { $0 + ($1[key]?.integerValue ?? 0) } }
    var found: [String] = []
    let failing = Int64(syncs.count { ["FAILED", "ABANDONED"].contains($0["status"]?.stringValue) })
    if let failed, failing > failed { found.append("\(failing) sync\(failing == 1 ? "" : "s") failed") }
    if let age {
      for sync in syncs where sync["name"]?.stringValue != nil && Self.isOlder(sync, than: now - age.milliseconds) {
        let never = sync["startTime"]?.integerValue ?? 0 <= 0
        found.append("\(sync["name"]?.stringValue ?? "") " + (never ? "never ran" : "older than \(age)"))
      }
    }
    if let dirty {
      let late = soups.filter { $0["oldestWaiting"]?.integerValue.map { $0 < now - dirty.milliseconds } ?? false }
      let names = late.compactMap { $0["soup"]?.stringValue }
      if !names.isEmpty { found.append("entries of \(names.joined(separator: ", ")) wait longer than \(dirty)") }
    }
    let all = total("conflicts"), fresh = total("newConflicts"), denied = total("refused")
    if let newConflicts, fresh > newConflicts {
      found.append("\(fresh) new conflict\(fresh == 1 ? "" : "s")" + (all > fresh ? " (\(all) in all)" : ""))
    }
    if let conflicts, all > conflicts { found.append("\(all) conflict\(all == 1 ? "" : "s")") }
    if let refused, denied > refused { found.append("\(denied) refused") }
    return found
  }

  /// Whether the last success of a sync was certainly before a time. Without a history that is not known after a failure, but
  /// it was before the last run began.
  private static func isOlder(_ sync: JSONValue, than time: Int64) -> Bool {
    if let success = sync["lastSuccess"]?.integerValue { return success < time }
    return (sync["startTime"]?.integerValue ?? 0) < time
  }
}
