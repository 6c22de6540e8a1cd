#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// Why SQLite refused. Carries the statement with its placeholders, never the bound values.
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

  /// Another connection holds a lock: the same call may succeed later.
  package var isBusy: Bool { primaryCode == SQLITE_BUSY || primaryCode == SQLITE_LOCKED }

  /// The file is no database, or a damaged one.
  package var isCorrupt: Bool { primaryCode == SQLITE_NOTADB || primaryCode == SQLITE_CORRUPT }

  /// A statement was not allowed to go on.
  package var isInterrupted: Bool { primaryCode == SQLITE_INTERRUPT }

  /// The statement would do what this connection is kept from.
  package var isForbidden: Bool {
    primaryCode == SQLITE_AUTH || (primaryCode == SQLITE_ERROR && message.hasPrefix("not authorized"))
  }

  /// A limit of the connection or SQLite's own: of a text, a statement, its expressions, or memory.
  package var isLimit: Bool {
    switch primaryCode {
    case SQLITE_TOOBIG, SQLITE_NOMEM: true
    case SQLITE_ERROR: DatabaseError.limitMessages.contains { message.hasPrefix($0) }
    default: false
    }
  }

  /// SQLite has no code for these. Source: the texts of 3.40, pinned by a test.
  private static let limitMessages = [
    "Expression tree is too large", "parser stack overflow", "LIKE or GLOB pattern too complex", "string or blob too big",
    "too many columns", "too many terms", "too many SQL variables", "too many references", "too many FROM clause", "at most ",
  ]

  /// The statement is wrong: what it says, or a value it meets.
  package var isMistake: Bool { [SQLITE_ERROR, SQLITE_MISMATCH, SQLITE_RANGE, SQLITE_MISUSE].contains(primaryCode) }

  package var description: String { sql.map { "\(message) in: \($0)" } ?? message }
}
