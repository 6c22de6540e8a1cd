import CSQLite

/// One open SQLite database. Not thread-safe: whoever owns it uses it from one thread at a time.
package final class Connection {
  package enum Mode: Sendable { case readWriteCreate, readWrite, readOnly }

  package enum TransactionKind: String, Sendable { case deferred = "DEFERRED", immediate = "IMMEDIATE" }

  let handle: OpaquePointer
  private var cache: [String: Statement] = [:]
  private var isOpen = true

  /// Statements kept prepared. Soups, paths and masks of changed columns make a few dozen; smart SQL can make more.
  private static let cachedStatements = 256

  /// - Parameter path: A file, or `:memory:`.
  /// - Throws: ``DatabaseError``, for example when the folder does not exist. A file that is no database is only noticed by the
  ///   first statement.
  package init(path: String, mode: Mode) throws(DatabaseError) {
    let flags: Int32 =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close(handle)
      throw DatabaseError(code: code, message: message)
    }
    sqlite3_extended_result_codes(handle, 1)
    self.handle = handle
  }

  deinit { close() }

  /// Ends every statement and closes the file. Safe to call twice.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    for statement in cache.values { statement.finalize() }
    cache.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Waits up to `milliseconds` for another connection's lock.
  package func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// Runs one or more statements without looking at their rows.
  package func execute(_ sql: String) throws(DatabaseError) {
    var message: UnsafeMutablePointer<CChar>?
    let code = sqlite3_exec(handle, sql, nil, nil, &message)
    guard code != SQLITE_OK else { return }
    let text = message.map { String(cString: $0) } ?? String(cString: sqlite3_errmsg(handle))
    sqlite3_free(message)
    throw DatabaseError(code: sqlite3_extended_errcode(handle), message: text, sql: sql)
  }

  /// A prepared statement, from the cache when its text was seen before: reset and without bound values.
  package func statement(_ sql: String) throws(DatabaseError) -> Statement {
    // Strings that only look the same are one key, but not one statement.
    if let cached = cache[sql], cached.sql.utf8.elementsEqual(sql.utf8) {
      cached.reset()
      cached.clearBindings()
      return cached
    }
    if cache.count >= Connection.cachedStatements { forgetStatements() }
    let statement = try prepare(sql)
    cache[sql] = statement
    return statement
  }

  /// A prepared statement that the caller alone holds.
  package func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var handle: OpaquePointer?
    let (code, hasMore) = sql.withCString { text in
      var tail: UnsafePointer<CChar>?
      let code = sqlite3_prepare_v3(self.handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
      return (code, tail.map { Connection.hasMore($0) } ?? false)
    }
    guard code == SQLITE_OK else { throw error(sql: sql) }
    guard !hasMore else {
      sqlite3_finalize(handle)
      throw DatabaseError(code: SQLITE_ERROR, message: "there is more than one statement", sql: sql)
    }
    guard let handle else { throw DatabaseError(code: SQLITE_MISUSE, message: "empty statement", sql: sql) }
    return Statement(handle: handle, connection: self, sql: sql)
  }

  /// Whether anything but white space is left behind a statement. A comment counts: what it hides was meant to run.
  private static func hasMore(_ tail: UnsafePointer<CChar>) -> Bool {
    var p = tail
    while p.pointee == 0x20 || (p.pointee >= 0x09 && p.pointee <= 0x0d) { p += 1 }
    return p.pointee != 0
  }

  /// Ends the cached statements that nobody holds; before DDL, and when the cache is full.
  package func forgetStatements() { cache.removeAll() }

  /// Runs `body` inside a transaction: committed when it returns, rolled back when it throws.
  package func transaction<T>(_ kind: TransactionKind, _ body: () throws -> T) throws -> T {
    try execute("BEGIN \(kind.rawValue)")
    do {
      let result = try body()
      try execute("COMMIT")
      return result
    } catch {
      // A full disk and the like roll back by themselves; then there is nothing left to roll back.
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  package var changes: Int { Int(sqlite3_changes64(handle)) }
  package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// The first value of the first row, nil without a row.
  package func firstValue(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> SQLValue? {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    return try statement.step() ? statement.value(0) : nil
  }

  /// Runs one statement with bound values to its end.
  package func run(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() {}
  }

  func error(sql: String?) -> DatabaseError {
    DatabaseError(
      code: sqlite3_extended_errcode(handle), message: String(cString: sqlite3_errmsg(handle)), sql: sql)
  }
}
