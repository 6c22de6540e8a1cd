#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

extension Connection {
  /// From now on this connection refuses everything but reading, whatever the text of a statement says: no writes, no schema
  /// changes, no PRAGMA, no ATTACH, no function that loads code. SQLite asks for each thing a statement would do while it is
  /// prepared, so nothing hides in a sub-select or a `WITH`.
  package func restrictToReading() throws(DatabaseError) {
    try execute("PRAGMA query_only = 1")
    let code = sqlite3_set_authorizer(
      handle,
      { _, action, first, second, _, _ in
        switch action {
        case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE, SQLITE_TRANSACTION: return SQLITE_OK
        case SQLITE_UPDATE:
          // Table-valued functions such as json_each ask for this while they declare their columns. A statement that would
          // really change the schema is refused all the same: SQLite keeps that table from being written to.
          return first.map { String(cString: $0) } == "sqlite_master" ? SQLITE_OK : SQLITE_DENY
        case SQLITE_FUNCTION:
          let name = second.map { String(cString: $0).lowercased() }
          let isHarmful = name == "load_extension" || name == "fts3_tokenizer" || name == "sqlcipher_export"
          return isHarmful ? SQLITE_DENY : SQLITE_OK
        case SQLITE_PRAGMA:
          // The store looks whether the schema changed, FTS5 whether the data did: reading those two changes nothing.
          let name = first.map { String(cString: $0).lowercased() }
          return (name == "data_version" || name == "schema_version") && second == nil ? SQLITE_OK : SQLITE_DENY
        default: return SQLITE_DENY
        }
      }, nil)
    guard code == SQLITE_OK else { throw error(sql: nil) }
  }
}
