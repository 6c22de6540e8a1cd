/// Query results that did not fit into one page. The rows are fixed when the query runs: later
/// inserts do not appear.
struct CursorTable {
  struct Cursor {
    let plan: RecordPlan
    let rows: [Int64]
    /// The user who ran the query; others may not continue it.
    let userId: String
    /// True for the rows of a child query below one row. These have a separate pool, so that many
    /// of them do not evict the query they belong to.
    var isNested = false
  }
  private struct Entry {
    let cursor: Cursor
    /// Seconds since 1970 UTC.
    let opened: Int64
  }

  private var entries: [String: Entry] = [:]
  /// Ids in order of use, the most recent last, separately for nested cursors.
  private var usage: [Bool: [String]] = [:]
  private var sequence: Int64 = 0

  /// - Returns: The 18-character id with which a locator starts.
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

  /// Resolves a locator, `<id>-<index of the next row>`. It can be read repeatedly, at any index.
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
  /// - Returns: The id with which its locators start.
  func openCursor(_ cursor: CursorTable.Cursor) -> String { cursors.open(cursor, now: configuration.clock.now()) }

  /// - Throws: ``SandboxError`` `INVALID_QUERY_LOCATOR` if it is unknown, expired, another user's,
  ///   or past the end.
  func cursor(_ locator: String, userId: String) throws(SandboxError) -> (id: String, cursor: CursorTable.Cursor, start: Int) {
    try cursors.find(locator, userId: userId, now: configuration.clock.now())
  }
}
