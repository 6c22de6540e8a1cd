import Support

/// A table of the history. Rows are only appended, except that the row of a run gets its end.
package enum HistoryTable: String, CaseIterable, Sendable {
  case actors
  case runs = "sync_runs"
  case events = "run_events"
  case log = "entry_log"

  /// The integer columns, in the order of ``HistoryRow/integers``.
  package var integers: [String] {
    switch self {
    case .actors: ["id", "uid"]
    case .runs: ["id", "sync", "pid", "actor", "startedAt", "endedAt"]
    case .events: ["run", "at", "soup", "rows", "bytes", "status", "attempt", "ms"]
    case .log: ["at", "run", "actor", "soup", "entry", "version"]
    }
  }

  /// The text columns, in the order of ``HistoryRow/texts``.
  package var texts: [String] {
    switch self {
    case .actors: ["kind", "name", "host", "version"]
    case .runs: ["name", "kind", "status", "job", "state", "plan"]
    case .events: ["kind", "server", "method", "path", "error"]
    case .log: ["cause", "reason", "fields", "recordId", "before", "sent"]
    }
  }
}

/// A row of a table of the history.
package struct HistoryRow: Sendable, Equatable {
  /// The number of the row; 0 before it is written.
  package var id: Int64 = 0
  package var integers: [Int64?]
  package var texts: [String?]

  package init(id: Int64 = 0, integers: [Int64?], texts: [String?]) {
    self.id = id
    self.integers = integers
    self.texts = texts
  }
}

/// A question to one table of the history.
package struct HistoryQuery: Sendable {
  package let table: HistoryTable
  /// SQL that every engine understands, with `?` for each of the values.
  package var condition: String
  package var values: [SQLValue]
  package var isNewestFirst: Bool
  package var limit: Int
  /// Whether the columns `before` and `sent` are read: all values together may have many megabytes.
  package var readsValues = true

  /// All rows that meet the condition, or the oldest or newest of them.
  package init(
    _ table: HistoryTable, where condition: String = "1 = 1", _ values: [SQLValue] = [], newestFirst: Bool = false,
    limit: Int = .max
  ) {
    self.table = table
    self.condition = condition
    self.values = values
    isNewestFirst = newestFirst
    self.limit = limit
  }

  /// - Parameters:
  ///   - place: The table as the statement names it.
  ///   - mark: Returns the placeholder of the n-th value, from 1.
  package func sql(_ place: String, mark: (Int) -> String) -> String {
    var text = "", n = 0
    for part in condition.split(separator: "?", omittingEmptySubsequences: false) {
      if n > 0 { text += mark(n) }
      text += part
      n += 1
    }
    let texts = table.texts.map { !readsValues && ["before", "sent"].contains($0) ? "CAST(NULL AS text)" : $0 }
    let columns = (["id"] + table.integers + texts).joined(separator: ", ")
    return "SELECT \(columns) FROM \(place) WHERE \(text) ORDER BY id\(isNewestFirst ? " DESC" : "")"
      + (limit == .max ? "" : " LIMIT \(limit)")
  }
}
