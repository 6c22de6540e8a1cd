/// Query results that did not fit one page. The rows are fixed when the query runs: later inserts do not appear.
struct CursorTable {
  struct Cursor {
    let plan: RecordPlan
    let rows: [Int64]
    /// The user who ran the query; others may not read on.
    let userId: String
    /// The rows of a child query below one row. They have a pool of their own, so that many of them do not push out the query
    /// they belong to.
    var isNested = false
  }
  private struct Entry {
    let cursor: Cursor
    /// Seconds since 1970 UTC.
    let opened: Int64
  }

  private var entries: [String: Entry] = [:]
  /// Ids, the one used last at the end; nested ones apart.
  private var usage: [Bool: [String]] = [:]
  private var sequence: Int64 = 0

  /// - Returns: The 18-character id a locator starts with.
  mutating func open(_ cursor: Cursor, now: Int64) -> String {
    sequence += 1
    let id = RecordID.make(prefix: "0r8", sequence: sequence)
    entries[id] = Entry(cursor: cursor, opened: now)
    var list = usage[cursor.isNested] ?? []
    list.append(id)
    if list.count > (cursor.isNested ? Tuning.openNestedCursors : Tuning.openCursors) {
      entries[list.removeFirst()] = nil
    }
    usage[cursor.isNested] = list
    return id
  }

  /// Finds what a locator, `<id>-<index of the next row>`, stands for. It may be read again and again, at any index.
  mutating func find(
    _ locator: String, userId: String, now: Int64
  ) throws(SandboxError) -> (id: String, cursor: Cursor, start: Int) {
    let parts = locator.split(separator: "-", maxSplits: 1)
    guard parts.count == 2, let start = Int(parts[1]), let entry = entries[String(parts[0])],
      entry.cursor.userId == userId, now - entry.opened < Tuning.cursorSeconds, start >= 0, start < entry.cursor.rows.count
    else { throw SandboxError(status: 400, code: "INVALID_QUERY_LOCATOR", message: "invalid query locator") }
    let id = String(parts[0])
    let isNested = entry.cursor.isNested
    usage[isNested]?.removeAll { $0 == id }
    usage[isNested]?.append(id)
    return (id, entry.cursor, start)
  }

  mutating func removeAll() {
    entries.removeAll()
    usage.removeAll()
  }
}

extension Org {
  /// - Returns: The id its locators start with.
  func openCursor(_ cursor: CursorTable.Cursor) -> String { cursors.open(cursor, now: configuration.clock.now()) }

  /// - Throws: ``SandboxError`` `INVALID_QUERY_LOCATOR` for one that is unknown, expired, another user's or beyond the end.
  func cursor(_ locator: String, userId: String) throws(SandboxError) -> (id: String, cursor: CursorTable.Cursor, start: Int) {
    try cursors.find(locator, userId: userId, now: configuration.clock.now())
  }
}
