#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// An SQLite error. Carries the statement with its placeholders, never the bound values.
package struct DatabaseError: Error, Sendable, Equatable, CustomStringConvertible {
  /// SQLite's extended result code.
  package let code: Int32
  package let message: String
  package let sql: String?

  package init(code: Int32, message: String, sql: String? = nil) {
    self.code = code
    self.message = message
    self.sql = sql
  }

  package var primaryCode: Int32 { code & 0xff }

  /// True if another connection holds a lock; the same call may succeed later.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

  /// True if a reader could not create or extend the files that the readers and writers of a database
  /// share, such as in a read-only folder or on a full disk, or may not open the database.
  package var cannotShareMemory: Bool {
    [SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_IOERR, SQLITE_FULL, SQLITE_PERM].contains(primaryCode)
  }

  /// True if the file is not a database or is damaged.
  package var isCorrupt: Bool { primaryCode == SQLITE_NOTADB || primaryCode == SQLITE_CORRUPT }

  /// True if a watch interrupted the statement.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  /// True if the authorizer of this connection rejected the statement.
  package var isForbidden: Bool {
    primaryCode == SQLITE_AUTH || (primaryCode == SQLITE_ERROR && message.hasPrefix("not authorized"))
  }

  /// True if a limit of the connection or of SQLite was exceeded: the size of a text or statement,
  /// the depth of an expression, or memory.
  package var isLimit: Bool {
    switch primaryCode {
    case SQLITE_TOOBIG, SQLITE_NOMEM: true
    case SQLITE_ERROR: DatabaseError.limitMessages.contains { message.hasPrefix($0) }
    default: false
    }
  }

  /// Whether a code says that a value or a statement exceeds the connection's limit.
  package static func isTooLarge(_ code: Int32?) -> Bool { code.map { $0 & 0xff } == SQLITE_TOOBIG }

  /// Messages of limit errors that have no code of their own. Source: SQLite 3.40; a test pins
  /// them.
  private static let limitMessages = [
    "Expression tree is too large", "parser stack overflow", "LIKE or GLOB pattern too complex", "string or blob too big",
    "fts5: parser stack overflow", "fts5 expression tree is too large", "too many columns", "too many terms",
    "too many SQL variables", "too many references", "too many FROM clause", "at most ",
  ]

  /// True if the statement itself, or a value that it processes, is invalid.
  package var isMistake: Bool { [SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_MISUSE].contains(primaryCode) }

  package var description: String { sql.map { "\(message) in: \($0)" } ?? message }
}
