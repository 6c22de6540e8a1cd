/// The control schema of a database: it knows the stores, the writers, the jobs and the budgets.
package struct PostgresSchema: Sendable {
  /// Its name, of a-z, 0-9 and `_`.
  package let name: String
  /// The steps that create this build's schemas; tests have older and newer builds.
  let migrations: [String], storeMigrations: [String]

  /// A store of the database.
  package struct Store: Sendable, Equatable {
    package let id: Int64
    package let org: String, user: String, name: String
    /// The schema with its tables.
    package let schema: String
    /// Whether it is an unfinished copy, which cannot be opened.
    package var isUnfinished = false
  }

  package init(_ name: String = PostgresAddress.defaultSchema) {
    self.init(name, migrations: ControlSchema.migrations, storeMigrations: StoreTables.migrations)
  }

  init(_ name: String, migrations: [String], storeMigrations: [String]) {
    self.name = name
    self.migrations = migrations
    self.storeMigrations = storeMigrations
  }

  /// The quoted name, for SQL.
  package var sql: String { PostgresName.quoted(name) }

  private static let program = "Tureen"
  private var version: Int64 { Int64(migrations.count) }
  var storeVersion: Int64 { Int64(storeMigrations.count) }

  // MARK: The control schema

  private enum Found {
    case missing, empty
    case version(Int64)
  }

  /// Creates the schema if it is missing, and migrates an older one. Each happens in one transaction;
  /// any number of hosts may do it at once, and all find it done in the end.
  /// - Throws: ``PostgresError`` `.newerSchema`, `.foreignSchema`, `.notPermitted`. Nothing is changed then.
  package func open(_ connection: PostgresConnection) throws {
    var attempts = 0
    while true {
      attempts += 1
      do {
        switch try inspect(connection) {
        case .version(version): return
        case .version: return try migrate(connection)
        case .missing: return try create(connection, isMissing: true)
        case .empty: return try create(connection, isMissing: false)
        }
      } catch let error as PostgresError {
        guard Self.isRace(error), attempts < Tuning.creationAttempts else { throw explained(error) }
      }
    }
  }

  /// Returns whether the schema is there, and creates nothing.
  /// - Throws: ``PostgresError`` `.newerSchema`, `.foreignSchema`.
  package func exists(_ connection: PostgresConnection) throws -> Bool {
    switch try inspect(connection) {
    case .missing, .empty: false
    case .version: true
    }
  }

  /// True if another host has created the same object meanwhile.
  private static func isRace(_ error: PostgresError) -> Bool {
    // Unique violation (in the system's tables), duplicate schema, table, function or object, and conflicts.
    ["23505", "42P06", "42P07", "42723", "42710", "40001", "40P01", "XX000"].contains(error.sqlState ?? "")
  }

  private func explained(_ error: PostgresError) -> PostgresError {
    guard error.code == .notPermitted else { return error }
    return PostgresError(
      .notPermitted,
      "\(error.message); let an administrator grant the user CREATE on the database, or create the schema: "
        + "CREATE SCHEMA \(name) AUTHORIZATION user", sqlState: error.sqlState)
  }

  private func inspect(_ connection: PostgresConnection) throws -> Found {
    let row = try connection.query(
      """
      SELECT n.oid IS NOT NULL, EXISTS (SELECT FROM pg_catalog.pg_class c WHERE c.relnamespace = n.oid)
          OR EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace = n.oid)
          OR EXISTS (SELECT FROM pg_catalog.pg_type t WHERE t.typnamespace = n.oid),
        (SELECT pg_catalog.count(*) FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON a.attrelid = c.oid
          WHERE c.relnamespace = n.oid AND c.relname = 'info' AND a.attname IN ('program', 'version', 'only_row'))
      FROM (SELECT) one LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $1
      """, [.text(name)]
    ).only()
    guard try row.bool(0) else { return .missing }
    guard try row.bool(1) else { return .empty }
    guard try row.int64(2) == 3 else { throw foreign() }
    return .version(try currentVersion(connection))
  }

  private func foreign() -> PostgresError {
    PostgresError(
      .foreignSchema,
      "the schema '\(name)' belongs to another program and was left unchanged; choose another one with ?schema=NAME in the "
        + "address"
    )
  }

  private func currentVersion(_ connection: PostgresConnection, locking: String = "") throws -> Int64 {
    guard let row = try connection.query("SELECT program::text, version FROM \(sql).info\(locking)").first,
      try row.string(0) == Self.program
    else { throw foreign() }
    let found = try row.int64(1)
    guard found <= version else { throw newer(name, found, version) }
    return found
  }

  private func newer(_ schema: String, _ found: Int64, _ supported: Int64) -> PostgresError {
    PostgresError(
      .newerSchema,
      "the schema '\(schema)' was written by a newer Tureen (version \(found), this build supports \(supported)); "
        + "update Tureen to use it")
  }

  private func create(_ connection: PostgresConnection, isMissing: Bool) throws {
    try connection.transaction {
      if isMissing { try connection.execute("CREATE SCHEMA \(sql)") }
      try connection.execute(
        """
        CREATE TABLE \(sql).info (
          program text NOT NULL, version int NOT NULL, created timestamptz NOT NULL DEFAULT clock_timestamp(),
          only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row));
        INSERT INTO \(sql).info (program, version) VALUES ('\(Self.program)', \(version))
        """)
      for step in migrations { try connection.execute(text(step, sql)) }
    }
  }

  private func migrate(_ connection: PostgresConnection) throws {
    try connection.transaction {
      let found = try currentVersion(connection, locking: " FOR UPDATE")
      for step in migrations.dropFirst(Int(found)) { try connection.execute(text(step, sql)) }
      _ = try connection.query("UPDATE \(sql).info SET version = $1::bigint", [.int64(version)])
    }
  }

  private func text(_ step: String, _ schema: String) -> String {
    step.split(separator: "{s}", omittingEmptySubsequences: false).joined(separator: schema)
  }

  // MARK: Stores

  /// Opens the store with this name; creates it, or migrates an older one, in one transaction.
  /// - Parameters:
  ///   - org: Empty for a store without an org.
  ///   - user: Empty for a global store.
  /// - Throws: ``PostgresError`` `.newerSchema`; `.foreignSchema` if its schema exists already.
  package func openStore(
    _ connection: PostgresConnection, org: String, user: String, name: String
  ) throws -> Store {
    var attempts = 0
    while true {
      attempts += 1
      do {
        let store = try connection.transaction { try openedStore(connection, org, user, name) }
        if let store { return store }
      } catch let error as PostgresError {
        guard ["40001", "40P01"].contains(error.sqlState ?? ""), attempts < Tuning.creationAttempts else {
          throw explained(error)
        }
      }
    }
  }

  private func openedStore(_ connection: PostgresConnection, _ org: String, _ user: String, _ name: String) throws -> Store? {
    let key: [PostgresParameter] = [.text(org), .text(user), .text(name)]
    let known = try connection.query(
      "SELECT id, version FROM \(sql).stores WHERE org = $1 AND usr = $2 AND name = $3 FOR NO KEY UPDATE", key)
    if let row = known.first {
      let store = Store(id: try row.int64(0), org: org, user: user, name: name, schema: schemaName(try row.int64(0)))
      try throwIfUnfinished(store, version: try row.int64(1), connection)
      try migrate(store, from: try row.int64(1), connection)
      return store
    }
    return try createStore(connection, org, user, name, version: storeVersion)
  }

  /// - Returns: nil if another host created the store just now.
  func createStore(
    _ connection: PostgresConnection, _ org: String, _ user: String, _ name: String, version: Int64
  ) throws -> Store? {
    let new = try connection.query(
      """
      INSERT INTO \(sql).stores (org, usr, name, version) VALUES ($1, $2, $3, $4::bigint) ON CONFLICT DO NOTHING RETURNING id
      """, [.text(org), .text(user), .text(name), .int64(version)])
    guard let row = new.first else { return nil }
    let store = Store(id: try row.int64(0), org: org, user: user, name: name, schema: schemaName(try row.int64(0)))
    let taken = try connection.query("SELECT FROM pg_catalog.pg_namespace WHERE nspname = $1", [.text(store.schema)])
    guard taken.count == 0 else {
      throw PostgresError(
        .foreignSchema, "the schema '\(store.schema)' exists and is not a store of '\(self.name)'; it was left unchanged")
    }
    try connection.execute("CREATE SCHEMA \(PostgresName.quoted(store.schema))")
    for step in storeMigrations { try connection.execute(text(step, PostgresName.quoted(store.schema))) }
    return store
  }

  func schemaName(_ id: Int64) -> String { "\(name)_\(id)" }

  private func migrate(_ store: Store, from found: Int64, _ connection: PostgresConnection) throws {
    guard found != storeVersion else { return }
    guard found < storeVersion else { throw newer(store.schema, found, storeVersion) }
    for step in storeMigrations.dropFirst(Int(found)) { try connection.execute(text(step, PostgresName.quoted(store.schema))) }
    _ = try connection.query(
      "UPDATE \(sql).stores SET version = $1::bigint WHERE id = $2::bigint", [.int64(storeVersion), .int64(store.id)])
  }

  /// Returns the store with this name and the version of its tables, without changing anything; nil if there
  /// is none.
  /// - Throws: ``PostgresError`` `.newerSchema`, `.unfinishedCopy`.
  package func existingStore(
    _ connection: PostgresConnection, org: String, user: String, name: String
  ) throws -> (store: Store, version: Int64)? {
    let rows = try connection.query(
      "SELECT id, version::bigint FROM \(sql).stores WHERE org = $1 AND usr = $2 AND name = $3",
      [.text(org), .text(user), .text(name)])
    guard let row = rows.first else { return nil }
    let store = Store(id: try row.int64(0), org: org, user: user, name: name, schema: schemaName(try row.int64(0)))
    let found = try row.int64(1)
    try throwIfUnfinished(store, version: found, connection)
    guard found <= storeVersion else { throw newer(store.schema, found, storeVersion) }
    return (store, found)
  }

  /// All stores, in the order of their creation.
  package func stores(_ connection: PostgresConnection) throws -> [Store] {
    try connection.query("SELECT id, org, usr, name, version::bigint FROM \(sql).stores ORDER BY id").map { row in
      Store(
        id: try row.int64(0), org: try row.string(1), user: try row.string(2), name: try row.string(3),
        schema: schemaName(try row.int64(0)), isUnfinished: try row.int64(4) >= PostgresSchema.unfinished)
    }
  }

  /// Removes a store with its jobs. Waits for transactions that use it.
  /// - Returns: False if there is no such store.
  @discardableResult
  package func removeStore(_ connection: PostgresConnection, _ store: Store) throws -> Bool {
    try removeStores(connection, [store]) == 1
  }

  /// Removes stores with their jobs, all in one transaction. Waits for transactions that use them.
  /// - Returns: The number of those that existed.
  @discardableResult
  package func removeStores(_ connection: PostgresConnection, _ stores: [Store]) throws -> Int {
    try connection.transaction {
      var count = 0
      for store in stores.sorted(by: { $0.id < $1.id }) {
        let rows = try connection.query("DELETE FROM \(sql).stores WHERE id = $1::bigint", [.int64(store.id)])
        guard rows.changes == 1 else { continue }
        try connection.execute("DROP SCHEMA \(PostgresName.quoted(store.schema)) CASCADE")
        count += 1
      }
      return count
    }
  }
}
