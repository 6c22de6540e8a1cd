/// The texts of the command's progress display.
package enum ProgressTexts {
  /// Shown before the first response.
  package static let asking = "asking the server"
  package static let queued = "waiting for another sync of the soup"

  /// - Parameter name: The sync's name; nil if it has none.
  package static func title(name: String?, soup: String, isUp: Bool) -> String { name ?? "\(soup) \(isUp ? "up" : "down")" }

  package static func count(_ done: Int64, of total: Int64) -> String { "\(done) of \(total)" }

  /// The progress through a list of unknown length.
  package static func soFar(pages: Int64, records: Int64) -> String {
    "\(counted(pages, "page")), \(counted(records, "record")) so far"
  }

  /// A complete line for outputs that are not a terminal.
  package static func line(_ title: String, _ percent: Int64?, _ counts: String) -> String {
    "sync '\(title)': " + (percent.map { "\($0)%, " } ?? "") + counts
  }

  package static func done(_ title: String, records: Int64, pages: Int64, milliseconds: Int64) -> String {
    "sync '\(title)': done, \(amount(records, pages)) in \(seconds(milliseconds))"
  }

  package static func stopped(_ title: String, records: Int64, pages: Int64, hasMore: Bool) -> String {
    hasMore
      ? "sync '\(title)': \(amount(records, pages)), and the list continues"
      : "sync '\(title)': stopped after \(amount(records, pages))"
  }

  package static func failed(_ title: String, _ reason: String) -> String { "sync '\(title)' failed: \(reason)" }

  package static func warning(_ title: String, _ text: String) -> String { "warning: sync \(title): \(text)" }

  /// A line about a copy of a store, such as `copying contacts: 40%, 400 of 1000`.
  package static func copy(_ progress: StoreTransfer.Progress) -> String {
    let percent = progress.total > 0 ? "\(progress.done * 100 / progress.total)%, " : ""
    return "\(progress.phase) \(progress.soup ?? "the rest"): \(percent)\(count(progress.done, of: progress.total))"
  }

  private static func amount(_ records: Int64, _ pages: Int64) -> String {
    counted(records, "record") + (pages > 0 ? " on " + counted(pages, "page") : "")
  }

  private static func counted(_ count: Int64, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

  private static func seconds(_ milliseconds: Int64) -> String {
    "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
  }
}
