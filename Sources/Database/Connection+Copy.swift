#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

extension Connection {
  /// Replaces the contents of another database with those of this one: completely or, if this
  /// throws, not at all.
  ///
  /// Neither database may be in a transaction or encrypted. Statements of the other connection that
  /// are being read fail afterwards.
  package func copy(to other: Connection) throws(DatabaseError) {
    other.forgetStatements()
    guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
      throw DatabaseError(code: sqlite3_extended_errcode(other.handle), message: String(cString: sqlite3_errmsg(other.handle)))
    }
    sqlite3_backup_step(backup, -1)
    let code = sqlite3_backup_finish(backup)
    guard code == SQLITE_OK else { throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code))) }
  }

  /// Copies this database, as it is now, into another one that is empty, in steps. Others may write to this one meanwhile: the
  /// copy shows one moment. A write-ahead log does not shrink until this returns.
  ///
  /// Both databases are encrypted with the same key, or neither is. If this throws, the other one is useless.
  /// - Parameters:
  ///   - pages: The number of pages of one step.
  ///   - onStep: Called after each step with the pages copied so far, and all.
  package func backUp(
    to other: Connection, pages: Int32, onStep: (_ done: Int64, _ total: Int64) throws -> Void
  ) throws {
    other.forgetStatements()
    // Without a transaction of its own the backup begins anew whenever another process writes.
    try transaction(.deferred) {
      _ = try firstValue("SELECT count(*) FROM sqlite_master")
      guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
        throw DatabaseError(
          code: sqlite3_extended_errcode(other.handle), message: String(cString: sqlite3_errmsg(other.handle)))
      }
      var code = SQLITE_OK
      do {
        repeat {
          code = sqlite3_backup_step(backup, pages)
          guard code == SQLITE_OK || code == SQLITE_DONE else { break }
          let total = Int64(sqlite3_backup_pagecount(backup))
          try onStep(total - Int64(sqlite3_backup_remaining(backup)), total)
        } while code == SQLITE_OK
      } catch {
        sqlite3_backup_finish(backup)
        throw error
      }
      let end = sqlite3_backup_finish(backup)
      guard code == SQLITE_DONE, end == SQLITE_OK else {
        let failure = code == SQLITE_DONE || code == SQLITE_OK ? end : code
        throw DatabaseError(code: failure, message: String(cString: sqlite3_errstr(failure)))
      }
    }
  }
}
