import Database

/// The tables that every store has besides those of its soups, and the migrations of older files.
enum Schema {
  /// The `PRAGMA user_version` of files that this build writes.
  static let version: Int64 = 6

  /// The first version with an id of the store.
  static let firstWithId: Int64 = 6

  /// An SQL expression for a new UUID of version 4.
  static let newId = """
    (SELECT lower(substr(h, 1, 8) || '-' || substr(h, 9, 4) || '-4' || substr(h, 14, 3) || '-'
      || substr('89ab', 1 + (abs(random()) % 4), 1) || substr(h, 18, 3) || '-' || substr(h, 21, 12))
      FROM (SELECT hex(randomblob(16)) AS h))
    """

  /// Checks, before anything is changed, that this build may write to the file. An empty file
  /// passes.
  static func check(_ connection: Connection, path: String) throws {
    let found = try current(connection)
    if let source = try copySource(connection) { throw StoreError.unfinishedCopy(path, of: source.isEmpty ? nil : source) }
    guard found <= version else { throw newer(found, path) }
    guard found == 0, try connection.firstValue("SELECT 1 FROM sqlite_master LIMIT 1") != nil else { return }
    // Another process may have created the tables just now; the version is set in the same
    // transaction.
    guard try current(connection) == 0 else { return }
    throw StoreError(.notADatabase, "\(path) is another program's database, not a store. It was left unchanged")
  }

  private static func newer(_ found: Int64, _ path: String) -> StoreError {
    StoreError(
      .newerSchema,
      "\(path) was written by a newer Tureen (schema \(found), this build supports \(version)); update Tureen to open it")
  }

  /// Configures a new writing connection. The page size takes effect on an empty file only. An
  /// encrypted file keeps SQLCipher's default, because the file does not record the size and other
  /// tools must be able to open it with the key alone.
  static func configureWriter(_ connection: Connection) throws {
    if !connection.isEncrypted { try connection.execute("PRAGMA page_size = \(Tuning.pageSize)") }
    try connection.execute("PRAGMA journal_mode = WAL")
    try connection.execute("PRAGMA synchronous = FULL")
    try setCache(connection, kibibytes: Tuning.writerCacheKiB)
    try connection.execute("PRAGMA wal_autocheckpoint = \(Tuning.walAutoCheckpoint)")
    // Otherwise statements that change many rows keep their undo journal in a file.
    try connection.execute("PRAGMA temp_store = MEMORY")
  }

  static func setCache(_ connection: Connection, kibibytes: Int) throws {
    try connection.execute("PRAGMA cache_size = -\(kibibytes)")
  }

  static func configureReader(_ connection: Connection) throws {
    try setCache(connection, kibibytes: Tuning.readerCacheKiB)
    if Connection.isMemoryLimited { try connection.execute("PRAGMA temp_store = MEMORY") }
    connection.setLimit(.valueBytes, Tuning.queryValueBytes)
    // The wrapper around smart SQL, and column names in place of paths, add to its length.
    connection.setLimit(.sqlBytes, Tuning.querySqlBytes * 2)
    connection.setLimit(.expressionDepth, Tuning.queryExpressionDepth)
    connection.setLimit(.instructions, Tuning.queryInstructions)
    connection.setLimit(.likePatternBytes, Tuning.queryLikePatternBytes)
    connection.setLimit(.attachedDatabases, 0)
    try connection.restrictToReading()
  }

  /// Creates missing tables. If two processes do this at the same time, the second one waits and
  /// finds it done.
  static func migrate(_ connection: Connection, path: String) throws {
    guard try current(connection) != version else { return }
    try connection.transaction(.immediate) {
      let found = try current(connection)
      guard found <= version else {
        throw newer(found, path)
      }
      for (i, step) in migrations.enumerated() where found <= i { try connection.execute(step) }
      try connection.execute("PRAGMA user_version = \(version)")
    }
  }

  static func current(_ connection: Connection) throws -> Int64 {
    guard case .integer(let version)? = try connection.firstValue("PRAGMA user_version") else { return 0 }
    return version
  }

  /// The i-th migration takes a file from version i to i + 1.
  private static let migrations = [
    """
    CREATE TABLE soup_attrs (id INTEGER PRIMARY KEY AUTOINCREMENT, soupName TEXT, loading TEXT);
    CREATE INDEX soup_attrs_0 ON soup_attrs ( soupName );
    CREATE TABLE soup_index_map (soupName TEXT, path TEXT, columnName TEXT, columnType TEXT);
    CREATE INDEX soup_index_map_0 ON soup_index_map ( soupName );
    CREATE TABLE long_operations_status (
      id INTEGER PRIMARY KEY AUTOINCREMENT, type TEXT, details TEXT, status TEXT, created INTEGER, lastModified INTEGER);
    CREATE TABLE soup_members (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, owner INTEGER NOT NULL, PRIMARY KEY (soup, entry, owner)) WITHOUT ROWID;
    CREATE TABLE soup_bases (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, base TEXT NOT NULL, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    CREATE TABLE outbox (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, version INTEGER NOT NULL, sync INTEGER NOT NULL,
      operation TEXT NOT NULL, sentAt INTEGER NOT NULL, inDoubt INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    CREATE TABLE leases (
      name TEXT PRIMARY KEY, owner TEXT NOT NULL, fence INTEGER NOT NULL, expiresAt INTEGER NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE soup_conflicts (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, sync INTEGER NOT NULL, state TEXT NOT NULL, server TEXT,
      idField TEXT NOT NULL, dateField TEXT NOT NULL, detectedAt INTEGER NOT NULL, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    """,
    """
    ALTER TABLE outbox ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE outbox ADD COLUMN clockOffset INTEGER;
    ALTER TABLE outbox ADD COLUMN resendAt INTEGER;
    ALTER TABLE outbox ADD COLUMN sent TEXT;
    CREATE INDEX outbox_creates ON outbox (soup) WHERE operation = 'create';
    CREATE TABLE outbox_arrivals (soup INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    """,
    """
    CREATE TABLE sync_pages (sync INTEGER NOT NULL, page TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (sync, page))
      WITHOUT ROWID;
    """,
    """
    CREATE TABLE uploads (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, version INTEGER NOT NULL, operation TEXT NOT NULL,
      state TEXT NOT NULL, sync INTEGER NOT NULL, fence INTEGER NOT NULL, sentAt INTEGER NOT NULL, clockOffset INTEGER,
      resendAt INTEGER, sent TEXT, earlier TEXT, entryText TEXT, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    CREATE INDEX uploads_creates ON uploads (soup) WHERE operation = 'create';
    -- Up to version 4, a create that may be repeated with its key was stored as a customCreate with a text.
    INSERT INTO uploads SELECT soup, entry, version, iif(operation = 'customCreate' AND sent IS NOT NULL, 'create', operation),
      CASE WHEN operation = 'customCreate' AND sent IS NOT NULL THEN 'repeatable' WHEN inDoubt THEN 'inDoubt' ELSE 'sent' END,
      sync, fence, sentAt, clockOffset, resendAt, sent, NULL, NULL FROM outbox WHERE operation <> 'echo';
    CREATE TABLE uploaded (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, version INTEGER NOT NULL, sequence INTEGER NOT NULL, stamp INTEGER,
      sent TEXT, deletedId TEXT, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    INSERT INTO uploaded SELECT soup, entry, version, fence, resendAt, NULL, sent FROM outbox WHERE operation = 'echo';
    DROP TABLE outbox;
    CREATE TABLE arrivals (soup INTEGER NOT NULL, entry INTEGER NOT NULL, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    INSERT INTO arrivals SELECT soup, entry FROM outbox_arrivals;
    DROP TABLE outbox_arrivals;
    CREATE TABLE soup_creators (
      soup INTEGER NOT NULL, entry INTEGER NOT NULL, sync INTEGER NOT NULL, PRIMARY KEY (soup, entry)) WITHOUT ROWID;
    INSERT OR IGNORE INTO soup_creators SELECT soup, entry, -owner FROM soup_members WHERE owner < 0;
    DELETE FROM soup_members WHERE owner < 0;
    CREATE TABLE assigned_ids (
      soup INTEGER NOT NULL, localId TEXT NOT NULL, id TEXT NOT NULL, arrivedAt INTEGER NOT NULL, PRIMARY KEY (soup, localId))
      WITHOUT ROWID;
    INSERT INTO assigned_ids SELECT CAST(substr(name, 7) AS INTEGER), substr(name, 7 + instr(substr(name, 7), ' ')), owner,
      expiresAt FROM leases WHERE name >= 'id of ' AND name < 'id of!';
    CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO counters SELECT 'uploads', fence FROM leases WHERE name = 'uploads written back';
    DELETE FROM leases WHERE name >= 'id of ' AND name < 'id of!' OR name = 'uploads written back';
    -- The owner of a bulk load is one connection of the process.
    UPDATE soup_attrs SET loading = substr(loading, 1, instr(loading, ' ')) || '- ' || substr(loading, instr(loading, ' ') + 1)
      WHERE loading IS NOT NULL;
    """,
    """
    CREATE TABLE actors (
      id INTEGER PRIMARY KEY, kind TEXT NOT NULL, name TEXT, host TEXT NOT NULL, uid INTEGER, version TEXT NOT NULL);
    CREATE TABLE sync_runs (
      id INTEGER PRIMARY KEY, sync INTEGER NOT NULL, name TEXT, kind TEXT NOT NULL, status TEXT NOT NULL, pid INTEGER,
      actor INTEGER NOT NULL, job TEXT, startedAt INTEGER NOT NULL, endedAt INTEGER, state TEXT, plan TEXT);
    -- A plan is applied once.
    CREATE UNIQUE INDEX sync_runs_plan ON sync_runs (plan) WHERE plan IS NOT NULL;
    CREATE TABLE run_events (
      id INTEGER PRIMARY KEY, run INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL, soup INTEGER, rows INTEGER,
      bytes INTEGER, server TEXT, method TEXT, path TEXT, status INTEGER, attempt INTEGER, ms INTEGER, error TEXT);
    CREATE TABLE entry_log (
      id INTEGER PRIMARY KEY, at INTEGER NOT NULL, run INTEGER, actor INTEGER NOT NULL, soup INTEGER NOT NULL,
      entry INTEGER NOT NULL, version INTEGER NOT NULL, cause TEXT NOT NULL, reason TEXT, fields TEXT, recordId TEXT,
      before TEXT, sent TEXT);
    CREATE TABLE store_id (id TEXT NOT NULL);
    INSERT INTO store_id VALUES (\(newId));
    """,
  ]
}
