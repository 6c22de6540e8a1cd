import JSON
import SmartStore
import TestSupport
import Testing

@testable import PostgresStore

/// Looking into stores of a database creates nothing, writes no row, and keeps nobody from removing a store.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct LookTests {
  private func code(_ body: () throws -> Void) -> StoreError.Code? {
    do {
      try body()
      return nil
    } catch {
      return (error as? StoreError)?.code
    }
  }

  private func looking(_ hosts: Hosts) -> PostgresEngines {
    PostgresEngines(PostgresConnector(hosts.cluster.address(schema: hosts.schema)), org: "acme", user: "ada", looksOnly: true)
  }

  /// The rows that a look could change.
  private func rows(_ hosts: Hosts) throws -> String {
    let connection = try hosts.cluster.connect()
    defer { connection.close() }
    let s = PostgresName.quoted(hosts.schema)
    let store = PostgresName.quoted(hosts.schema + "_1")
    return try connection.query(
      """
      SELECT (SELECT string_agg(w::text, ';' ORDER BY id) FROM \(s).writers w)
        || (SELECT string_agg(t::text, ';' ORDER BY id) FROM \(s).stores t) || (SELECT t::text FROM \(store).state t)
        || coalesce((SELECT string_agg(l::text, ';' ORDER BY name) FROM \(store).leases l), '')
      """
    ).only().string(0)
  }

  @Test func look_store_readsAllAndChangesNoRow() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("notes", indexSpecs: [IndexSpec(path: "name", type: .string)])
    try store.upsert(#"[{"name":"a","__local__":true},{"name":"b"}]"#, into: "notes")
    try store.writeBlocking(.synced) {
      _ = try $0.acquireLease("sync:1", owner: "other", now: 0, duration: 60_000, takeover: { _ in false })
    }
    let before = try rows(hosts), engines = looking(hosts)
    defer { engines.close() }
    #expect(try engines.names(isGlobal: false) == ["main"])
    let look = Store(looking: try engines.look("main", isGlobal: false), name: "main", isGlobal: false)
    defer { look.close() }
    #expect(try look.rows("SELECT {notes:name} FROM {notes} ORDER BY 1") == #"[["a"],["b"]]"#)
    #expect(try look.readBlocking { try $0.dirtyEntryIds(in: "notes") } == [1])
    #expect(try look.sizes().bytes > 0)
    #expect(code { try look.upsert("[{}]", into: "notes") } == .notReadOnly)
    #expect(try rows(hosts) == before)
  }

  @Test func look_databaseWithoutSchema_createsNone() throws {
    let hosts = try Hosts(), engines = looking(hosts)
    defer { engines.close() }
    #expect(try engines.names(isGlobal: false) == [] && engines.allStores() == [])
    #expect(code { _ = try engines.look("main", isGlobal: false) } == .cannotOpenStore)
    let connection = try hosts.cluster.connect()
    defer { connection.close() }
    #expect(try connection.query("SELECT FROM pg_namespace WHERE nspname = $1", [.text(hosts.schema)]).count == 0)
  }

  /// The session itself refuses to write, whatever a statement says.
  @Test func session_ofALook_isReadOnly() throws {
    let hosts = try Hosts()
    let session = PostgresSession(PostgresConnector(hosts.cluster.address(schema: hosts.schema)).looking)
    defer { session.close() }
    #expect(try session.query("SELECT current_setting('transaction_read_only')").only().string(0) == "on")
    #expect(try session.query("SELECT current_setting('statement_timeout')").only().string(0) != "0")
    #expect(throws: PostgresError.self) { _ = try session.query("CREATE TABLE public.never (a int)") }
  }

  /// A forgotten viewer.
  @Test func remove_besideALook_removes() throws {
    let hosts = try Hosts()
    try hosts.store().close()
    let engines = looking(hosts), others = hosts.engines()
    defer {
      engines.close()
      others.close()
    }
    let look = Store(looking: try engines.look("main", isGlobal: false), name: "main", isGlobal: false)
    defer { look.close() }
    #expect(try look.soupNames() == [])
    try others.remove("main", isGlobal: false)
    #expect(try engines.names(isGlobal: false) == [])
  }

  @Test func look_roleWithoutRights_isAnError() throws {
    let hosts = try Hosts()
    try hosts.store().close()
    let admin = try hosts.cluster.connect()
    defer { admin.close() }
    try admin.execute(
      """
      DO $$ BEGIN CREATE ROLE onlooker LOGIN; EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$
      """)
    var address = hosts.cluster.address(schema: hosts.schema)
    address.user = "onlooker"
    let engines = PostgresEngines(PostgresConnector(address), org: "acme", user: "ada", looksOnly: true)
    defer { engines.close() }
    #expect(code { _ = try engines.names(isGlobal: false) } == .postgres)
    #expect(code { _ = try engines.look("main", isGlobal: false) } == .postgres)
  }

  @Test(arguments: [1, 2]) func look_olderStore_isReadAsAMigratedOne(version: Int) throws {
    let hosts = try Hosts(), connection = try hosts.cluster.connect()
    defer { connection.close() }
    let older = PostgresSchema(
      hosts.schema, migrations: ControlSchema.migrations, storeMigrations: Array(StoreTables.migrations.prefix(version)))
    try older.open(connection)
    let store = try older.openStore(connection, org: "acme", user: "ada", name: "main")
    let s = PostgresName.quoted(store.schema)
    try connection.execute(
      """
      INSERT INTO \(s).soup_attrs (soupName, lastId) VALUES ('notes', 2);
      CREATE TABLE \(s).s_probe (a int);
      INSERT INTO \(s).outbox (soup, entry, version, sync, operation, sentAt, inDoubt, fence, resendAt) VALUES
        (1, 1, 2, 1, 'create', 1234, false, 3, 5678), (1, 2, 1, 1, 'update', 1234, true, 3, NULL),
        (1, 3, 1, 1, 'echo', 0, false, 7, 99);
      INSERT INTO \(s).outbox_arrivals VALUES (1, 2)
      """)
    let engines = looking(hosts)
    defer { engines.close() }
    func facts(_ store: Store) throws -> [String] {
      try store.readBlocking { snapshot in
        [
          "\(try snapshot.soupNames())", "\(try snapshot.unsettledUploads(in: "notes"))",
          "\(try snapshot.unsettledCreates(in: "notes"))", "\(try snapshot.uploaded(of: [3], in: "notes"))",
          "\(try snapshot.arrivals(in: "notes"))",
        ]
      }
    }
    let look = Store(looking: try engines.look("main", isGlobal: false), name: "main", isGlobal: false)
    let seen = try facts(look)
    look.close()
    #expect(try connection.query("SELECT version FROM \(older.sql).stores").only().int64(0) == Int64(version))
    let migrated = try hosts.store()
    defer { migrated.close() }
    #expect(try facts(migrated) == seen)
    #expect(seen[1].contains("inDoubt"), "\(seen)")
  }

  @Test func look_newerStore_isNewerSchema() throws {
    let hosts = try Hosts()
    try hosts.store().close()
    let connection = try hosts.cluster.connect()
    defer { connection.close() }
    try connection.execute("UPDATE \(PostgresName.quoted(hosts.schema)).stores SET version = 99")
    let engines = looking(hosts)
    defer { engines.close() }
    #expect(code { _ = try engines.look("main", isGlobal: false) } == .newerSchema)
  }
}
