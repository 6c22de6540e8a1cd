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
}
