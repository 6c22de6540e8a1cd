/// Query results that did not fit one page. The rows are fixed when the query runs: later inserts do not appear.
struct CursorTable {
  struct Cursor {
    let plan: RecordPlan
    let rows: [Int64]
  }

  private var cursors: [String: Cursor] = [:]
  /// Ids, the one used last at the end.
  private var usage: [String] = []
  private var sequence: Int64 = 0

  /// - Returns: The 18-character id a locator starts with.
  mutating func open(_ cursor: Cursor) -> String {
    sequence += 1
    let id = RecordID.make(prefix: "0r8", sequence: sequence)
    cursors[id] = cursor
    usage.append(id)
    if usage.count > Tuning.openCursors { cursors[usage.removeFirst()] = nil }
    return id
  }

  /// Finds what a locator, `<id>-<index of the next row>`, stands for. It may be read again and again.
  mutating func find(_ locator: String) throws(SandboxError) -> (id: String, cursor: Cursor, start: Int) {
    let parts = locator.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let start = Int(parts[1]), let cursor = cursors[String(parts[0])], start >= 0,
      start < cursor.rows.count
    else { throw SandboxError(status: 400, code: "INVALID_QUERY_LOCATOR", message: "invalid query locator") }
    let id = String(parts[0])
    usage.removeAll { $0 == id }
    usage.append(id)
    return (id, cursor, start)
  }

  mutating func removeAll() {
    cursors.removeAll()
    usage.removeAll()
  }
}
