import Support
import Synchronization

#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// One open SQLite database. Not thread-safe: its owner uses it from one thread at a time.
package final class Connection {
  /// The access mode. `immutable` reads only the database file: no locks, no write-ahead log, and
  /// no side file is read or created.
  package enum Mode: Sendable { case readWriteCreate, readWrite, readOnly, immutable }

  package enum TransactionKind: String, Sendable { case deferred = "DEFERRED", immediate = "IMMEDIATE" }

  /// The statements that every transaction needs.
  private enum Verb: Equatable {
    case begin(TransactionKind), commit, rollback, schemaVersion

    var sql: String {
      switch self {
      case .begin(let kind): "BEGIN \(kind.rawValue)"
      case .commit: "COMMIT"
      case .rollback: "ROLLBACK"
      case .schemaVersion: "PRAGMA schema_version"
      }
    }
  }

  let handle: OpaquePointer
  /// Whether the file is encrypted.
  package let isEncrypted: Bool
  private var cache: [String: Statement] = [:]
  /// Prepared once. There are few, so a linear search is enough.
  private var verbs: [(verb: Verb, statement: Statement)] = []
  private var isOpen = true
  /// Decides whether the running statement may continue. SQLite holds an unretained pointer to it.
  var watch: StepWatch?
  /// Leads the functions of a reading connection to the watch. SQLite owns it.
  var watchOfFunctions: UnsafeMutablePointer<csqlite_watch>?

  /// Capacity of the statement cache. Soups, paths and masks of changed columns need a few dozen;
  /// smart SQL can need more.
  private static let cachedStatements = 256

  /// - Parameters:
  ///   - path: A file, or `:memory:`.
  ///   - key: The encryption key; nil for an unencrypted file. SQLCipher copies it.
  ///     ``isWrongKey()`` detects a wrong one.
  /// - Throws: ``DatabaseError``, for example if the folder does not exist, or if there is a key
  ///   and this build cannot encrypt. A file that is not a database fails only at the first
  ///   statement.
  package init(path: String, mode: Mode, key: UnsafeRawBufferPointer? = nil) throws(DatabaseError) {
    let flags: Int32 =
      switch mode {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    let path = mode == .immutable ? Connection.immutableAddress(path) : path
    var handle: OpaquePointer?
    let code = sqlite3_open_v2(path, &handle, flags | SQLITE_OPEN_NOMUTEX, nil)
    guard code == SQLITE_OK, let handle else {
      let message = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
      sqlite3_close(handle)
      throw DatabaseError(code: code, message: message)
    }
    sqlite3_extended_result_codes(handle, 1)
    self.handle = handle
    isEncrypted = key != nil
    if let key { try unlock(key) }
  }

  deinit { close() }

  /// Turns off SQLite's memory statistics, which take a lock at every allocation. This affects the
  /// whole process: only programs that own it may call this, before the first connection; later
  /// calls have no effect.
  package static func leaveMemoryUncounted() { _ = csqlite_config_memory_status(0) }

  private static let memoryLimit = Atomic(false)

  /// Whether this process runs untrusted queries. Their intermediate results stay in memory, because
  /// files would fill the disk.
  package static var isMemoryLimited: Bool { memoryLimit.load(ordering: .acquiring) }

  /// Limits the memory of all connections of the process to what they have and some more. Statements that
  /// need more fail, and results that do not fit go to no file. Memory has to be counted: this must come
  /// before the first connection if ``leaveMemoryUncounted()`` did. Later calls have no effect, nor has one
  /// of a program that has set a lower limit itself.
  package static func limitMemory(_ bytes: Int64) {
    guard !memoryLimit.exchange(true, ordering: .acquiringAndReleasing) else { return }
    _ = csqlite_config_memory_status(1)
    let most = sqlite3_memory_used() + bytes, own = sqlite3_hard_heap_limit64(-1)
    if own <= 0 || own > most { _ = sqlite3_hard_heap_limit64(most) }
  }

  /// Finalizes every statement and closes the file. A second call has no effect.
  package func close() {
    guard isOpen else { return }
    isOpen = false
    for statement in cache.values { statement.finalize() }
    cache.removeAll()
    for known in verbs { known.statement.finalize() }
    verbs.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Waits up to `milliseconds` for another connection's lock.
  package func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// Runs one or more statements and ignores their rows.
  package func execute(_ sql: String) throws(DatabaseError) {
    var message: UnsafeMutablePointer<CChar>?
    let code = sqlite3_exec(handle, sql, nil, nil, &message)
    guard code != SQLITE_OK else { return }
    let text = message.map { String(cString: $0) } ?? String(cString: sqlite3_errmsg(handle))
    sqlite3_free(message)
    let extended = sqlite3_extended_errcode(handle)
    throw DatabaseError(code: extended, message: located(text, extended), sql: sql)
  }

  /// Returns a prepared statement, reset and without bound values; from the cache if possible.
  package func statement(_ sql: String) throws(DatabaseError) -> Statement {
    // Canonically equivalent texts are the same key, but not the same statement.
    if let cached = cache[sql], cached.hasText(sql) {
      cached.reset()
      cached.clearBindings()
      return cached
    }
    if cache.count >= Connection.cachedStatements { forgetStatements() }
    let statement = try prepare(sql)
    cache[sql] = statement
    return statement
  }

  /// Prepares a statement that only the caller holds.
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

  /// Returns whether anything but white space follows the statement. A comment counts: it may hide
  /// SQL that was meant to run.
  private static func hasMore(_ tail: UnsafePointer<CChar>) -> Bool {
    var p = tail
    while UInt8(bitPattern: p.pointee).isASCIIWhitespace { p += 1 }
    return p.pointee != 0
  }

  /// Empties the statement cache: before DDL, and when the cache is full. Statements in use stay
  /// valid.
  package func forgetStatements() { cache.removeAll() }

  /// Runs `body` in a transaction: commits when it returns, rolls back when it throws.
  package func transaction<T>(_ kind: TransactionKind, _ body: () throws -> T) throws -> T {
    try statement(.begin(kind)).run()
    do {
      let result = try body()
      try statement(.commit).run()
      return result
    } catch {
      // SQLite rolls back by itself on errors such as a full disk.
      if isInTransaction { try? statement(.rollback).run() }
      throw error
    }
  }

  private func statement(_ verb: Verb) throws(DatabaseError) -> Statement {
    if let known = verbs.first(where: { $0.verb == verb }) { return known.statement }
    let statement = try prepare(verb.sql)
    verbs.append((verb, statement))
    return statement
  }

  /// Returns a number that changes whenever any connection changes the schema. In a transaction,
  /// the number belongs to the schema that the transaction sees.
  package func schemaVersion() throws(DatabaseError) -> Int64 {
    let statement = try statement(.schemaVersion)
    defer { statement.reset() }
    return try statement.step() ? statement.int64(0) : 0
  }

  /// Returns how many virtual machine instructions the statements have run since the last call: a
  /// measure of work that does not depend on the machine.
  package func takeStepCount() -> Int {
    var steps = 0, statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      steps += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_VM_STEP, 1))
      statement = sqlite3_next_stmt(handle, current)
    }
    return steps
  }

  /// The number of statements that are prepared and not finalized; each takes SQLite memory.
  package var statementCount: Int {
    var count = 0, statement = sqlite3_next_stmt(handle, nil)
    while let current = statement {
      count += 1
      statement = sqlite3_next_stmt(handle, current)
    }
    return count
  }

  package var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }
  package var changes: Int { Int(sqlite3_changes64(handle)) }
  package var lastInsertRowID: Int64 { sqlite3_last_insert_rowid(handle) }

  /// Returns the first value of the first row; nil if there is no row.
  package func firstValue(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) -> SQLValue? {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    return try statement.step() ? statement.value(0) : nil
  }

  /// Runs one statement with bound values to completion.
  package func run(_ sql: String, _ values: [SQLValue] = []) throws(DatabaseError) {
    let statement = try statement(sql)
    try statement.bind(values)
    defer { statement.reset() }
    while try statement.step() {}
  }

  func error(sql: String?) -> DatabaseError {
    let code = sqlite3_extended_errcode(handle), message = String(cString: sqlite3_errmsg(handle))
    // SQLCipher has no message of its own for a page that fails its check.
    if isEncrypted, code == SQLITE_ERROR, message == String(cString: sqlite3_errstr(SQLITE_ERROR)) {
      return DatabaseError(code: SQLITE_CORRUPT, message: "a page cannot be decrypted", sql: sql)
    }
    return DatabaseError(code: code, message: located(message, code), sql: sql)
  }

  /// Adds the file to messages about the disk, which is what a person has to look at.
  private func located(_ message: String, _ code: Int32) -> String {
    guard [SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_CANTOPEN].contains(code & 0xff),
      let name = sqlite3_db_filename(handle, "main"), name.pointee != 0
    else { return message }
    return "\(message): \(String(cString: name))"
  }
}
