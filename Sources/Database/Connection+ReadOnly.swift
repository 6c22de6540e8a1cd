#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

extension Connection {
  /// Restricts this connection to reading from now on, whatever SQL it is given: no writes, no
  /// schema changes, no PRAGMA, no ATTACH, no function that loads code. SQLite asks the authorizer
  /// about each access while it prepares a statement, so a sub-select or a `WITH` cannot hide one.
  /// Functions that cannot be interrupted for long get others in their place, which are faster or end with
  /// the statement.
  package func restrictToReading() throws(DatabaseError) {
    try execute("PRAGMA query_only = 1")
    guard csqlite_use_linear_functions(handle) == SQLITE_OK,
      csqlite_use_watched_functions(handle, &watchOfFunctions) == SQLITE_OK
    else { throw error(sql: nil) }
    let code = sqlite3_set_authorizer(
      handle,
      { _, action, first, second, _, _ in
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE, SQLITE_TRANSACTION: return SQLITE_OK
        case SQLITE_UPDATE:
          // Table-valued functions such as json_each need this while they declare their columns.
          // SQLite itself still rejects statements that would change the schema table.
          return first.map { String(cString: $0) } == "sqlite_master" ? SQLITE_OK : SQLITE_DENY
        case SQLITE_FUNCTION:
          let name = second.map { String(cString: $0).lowercased() }
          let isHarmful = name == "load_extension" || name == "fts3_tokenizer" || name == "sqlcipher_export"
          // FTS5's takes the square of the matches, and no other can take its place.
          return isHarmful || name == "snippet" && Connection.isMemoryLimited ? SQLITE_DENY : SQLITE_OK
        case SQLITE_PRAGMA:
          // The store checks whether the schema or its version changed, and FTS5 whether the data did. Reading
          // these pragmas changes nothing.
          let name = first.map { String(cString: $0).lowercased() }
          let isRead = name == "data_version" || name == "schema_version" || name == "user_version"
          return isRead && second == nil ? SQLITE_OK : SQLITE_DENY
        default: return SQLITE_DENY
        }
      }, nil)
    guard code == SQLITE_OK else { throw error(sql: nil) }
  }
}
