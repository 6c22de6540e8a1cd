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

  package var description: String { sql.map { "\(message) in: \($0)" } ?? message }
}
