import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct SchemaTests {
  private func version(_ schema: PostgresSchema, _ connection: PostgresConnection) throws -> Int64 {
    try connection.query("SELECT version FROM \(schema.sql).info").only().int64(0)
  }

  /// A build with further migrations, or with fewer.
  private func schema(_ name: String, _ migrations: [String], store: [String] = []) -> PostgresSchema {
    PostgresSchema(name, migrations: migrations, storeMigrations: store)
  }

  @Test func open_byManyHostsAtOnce_createsOneSchemaAndOneStore() throws {
    let cluster = try PostgresCluster.running(), schema = PostgresSchema(PostgresFixture.newSchemaName())
    let found = Mutex<(stores: [PostgresSchema.Store], errors: [String])>(([], []))
    DispatchQueue.concurrentPerform(iterations: 12) { _ in
      do {
        let connection = try cluster.connect()
        try schema.open(connection)
        let store = try schema.openStore(connection, org: "acme", user: "ada", name: "main")
        found.withLock { $0.stores.append(store) }
      } catch {
        found.withLock { $0.errors.append("\(error)") }
      }
    }
    let (stores, errors) = found.withLock { $0 }
    #expect(errors == [])
    #expect(stores.count == 12)
    #expect(Set(stores.map(\.schema)).count == 1)
    let connection = try cluster.connect()
    #expect(try schema.stores(connection) == [stores[0]])
    #expect(try connection.query("SELECT count(*) FROM \(PostgresName.quoted(stores[0].schema)).leases").only().int64(0) == 0)
  }

  @Test func open_intoAnEmptySchema_usesItOnceForAllHosts() throws {
    let cluster = try PostgresCluster.running(), schema = PostgresSchema(PostgresFixture.newSchemaName())
    try cluster.connect().execute("CREATE SCHEMA \(schema.sql)")
    let errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      do { try schema.open(try cluster.connect()) } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try version(schema, try cluster.connect()) == Int64(ControlSchema.migrations.count))
  }

  @Test func open_olderSchema_isMigratedOnceByAllHosts() throws {
    let cluster = try PostgresCluster.running(), name = PostgresFixture.newSchemaName(), connection = try cluster.connect()
    let old = schema(name, ["CREATE TABLE {s}.one (n int)"])
    let new = schema(name, old.migrations + ["CREATE TABLE {s}.two (n int)", "INSERT INTO {s}.two VALUES (2)"])
    try old.open(connection)
    let errors = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      do { try new.open(try cluster.connect()) } catch { errors.withLock { $0.append("\(error)") } }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(try connection.query("SELECT count(*) FROM \(new.sql).two").only().int64(0) == 1)
    #expect(try version(new, connection) == 3)
  }

  @Test func open_newerSchema_isRefusedAndLeftAsItIs() throws {
    let connection = try PostgresCluster.running().connect(), name = PostgresFixture.newSchemaName()
    let old = schema(name, ["CREATE TABLE {s}.one (n int)"]),
      new = schema(name, old.migrations + ["CREATE TABLE {s}.two (n int)"])
    try new.open(connection)
    let error = failure { try old.open(connection) }
    #expect(error?.code == .newerSchema)
    #expect(
      error?.message
        == "the schema '\(name)' was written by a newer Tureen (version 2, this build supports 1); update Tureen to use it")
    #expect(try version(new, connection) == 2)
  }

  @Test func openStore_olderAndNewer_areMigratedOrRefused() throws {
    let connection = try PostgresCluster.running().connect(), name = PostgresFixture.newSchemaName()
    let control = ControlSchema.migrations
    let old = schema(name, control, store: ["CREATE TABLE {s}.one (n int)"])
    let new = schema(name, control, store: old.storeMigrations + ["CREATE TABLE {s}.two (n int)"])
    try old.open(connection)
    let store = try old.openStore(connection, org: "acme", user: "", name: "global")
    #expect(try new.openStore(connection, org: "acme", user: "", name: "global") == store)
    #expect(try connection.query("SELECT count(*) FROM \(PostgresName.quoted(store.schema)).two").only().int64(0) == 0)
    #expect(code { _ = try old.openStore(connection, org: "acme", user: "", name: "global") } == .newerSchema)
  }

  /// Version 3 had no history.
  @Test func openStore_ofVersionThree_getsAHistoryAndAnId() throws {
    let connection = try PostgresCluster.running().connect(), name = PostgresFixture.newSchemaName()
    let old = schema(name, ControlSchema.migrations, store: Array(StoreTables.migrations.prefix(3)))
    try old.open(connection)
    let store = try old.openStore(connection, org: "acme", user: "", name: "main"), tables = PostgresName.quoted(store.schema)
    try connection.execute("UPDATE \(tables).state SET seq = 7")
    let new = PostgresSchema(name)
    _ = try new.openStore(connection, org: "acme", user: "", name: "main")
    let row = try connection.query("SELECT seq, runs, length(id::text)::bigint FROM \(tables).state").only()
    #expect(try row.int64(0) == 7 && row.int64(1) == 0 && row.int64(2) == 36)
    let rows = try connection.query("SELECT \(tables).attempt('INSERT INTO \(tables).nowhere VALUES (1)')").only()
    #expect(try rows.string(0).contains("nowhere"), "a failure is returned")
    let other = try new.openStore(connection, org: "acme", user: "", name: "other")
    let ids = try [store, other].map {
      try connection.query("SELECT id::text FROM \(PostgresName.quoted($0.schema)).state").only().string(0)
    }
    #expect(ids[0] != ids[1])
  }

  /// Up to version 2, one table had the uploads in flight and what the server has after earlier ones.
  @Test func openStore_ofVersionTwo_sortsTheUploadsOut() throws {
    let connection = try PostgresCluster.running().connect(), name = PostgresFixture.newSchemaName()
    let old = schema(name, ControlSchema.migrations, store: Array(StoreTables.migrations.prefix(2)))
    try old.open(connection)
    let store = try old.openStore(connection, org: "acme", user: "", name: "main"), tables = PostgresName.quoted(store.schema)
    try connection.execute(
      """
      INSERT INTO \(tables).soup_attrs (soupName, loading) VALUES ('s', 'boot:1:2 a b');
      INSERT INTO \(tables).outbox (soup, entry, version, sync, fence, operation, sentAt, resendAt, sent)
        VALUES (1, 1, 2, 0, 7, 'echo', 5, 1234, NULL), (1, 9, 0, 0, 8, 'echo', 0, NULL, 'gone');
      INSERT INTO \(tables).outbox (soup, entry, version, sync, fence, operation, sentAt, inDoubt, sent)
        VALUES (1, 2, 2, 3, 4, 'customCreate', 5, false, '{"key":{}}'), (1, 3, 2, 3, 4, 'create', 5, true, '{}'),
        (1, 4, 2, 3, 4, 'update', 5, false, NULL);
      INSERT INTO \(tables).outbox_arrivals VALUES (1, 5);
      INSERT INTO \(tables).soup_members VALUES (1, 1, -5), (1, 1, 2);
      """)
    _ = try PostgresSchema(name).openStore(connection, org: "acme", user: "", name: "main")
    func row(_ sql: String) throws -> String { try connection.query(sql).only().string(0) }
    #expect(
      try row("SELECT string_agg(entry || operation || state, ' ' ORDER BY entry) FROM \(tables).uploads")
        == "2createrepeatable 3createinDoubt 4updatesent")
    #expect(
      try row(
        "SELECT string_agg(concat(entry, '/', version, '/', sequence, '/', stamp, '/', deletedId), ' ' ORDER BY entry) FROM \(tables).uploaded"
      ) == "1/2/7/1234/ 9/0/8//gone")
    #expect(try row("SELECT (entry)::text FROM \(tables).arrivals") == "5")
    #expect(try row("SELECT concat(entry, '/', sync) FROM \(tables).soup_creators") == "1/5")
    #expect(try row("SELECT concat(entry, '/', owner) FROM \(tables).soup_members") == "1/2")
    #expect(try row("SELECT loading FROM \(tables).soup_attrs") == "boot:1:2 - a b")
  }

  @Test(arguments: [
    "CREATE TABLE %.customers (n int)", "CREATE TYPE %.mood AS ENUM ('glad')",
    "CREATE FUNCTION %.f() RETURNS int LANGUAGE sql AS 'SELECT 1'",
    "CREATE TABLE %.info (program text, version int, only_row boolean); INSERT INTO %.info VALUES ('Other', 1, true)",
  ])
  func open_schemaOfAnotherProgram_isRefusedAndLeftAsItIs(_ content: String) throws {
    let connection = try PostgresCluster.running().connect(), schema = PostgresSchema(PostgresFixture.newSchemaName())
    try connection.execute("CREATE SCHEMA \(schema.sql)")
    try connection.execute(content.split(separator: "%", omittingEmptySubsequences: false).joined(separator: schema.sql))
    let error = failure { try schema.open(connection) }
    #expect(error?.code == .foreignSchema)
    #expect(error?.message.contains("choose another one with ?schema=NAME") == true)
    let tables = try connection.query(
      "SELECT count(*) FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND n.nspname = $1 AND relname = 'jobs'",
      [.text(schema.name)])
    #expect(try tables.only().int64(0) == 0)
  }

  @Test func openStore_schemaOfThatNameExists_isRefused() throws {
    let fixture = try PostgresFixture(), next = "\(fixture.schema.name)_\(fixture.store.id + 1)"
    try fixture.connection.execute("CREATE SCHEMA \(PostgresName.quoted(next))")
    #expect(
      code { _ = try fixture.schema.openStore(fixture.connection, org: "acme", user: "ada", name: "other") } == .foreignSchema)
    #expect(try fixture.schema.stores(fixture.connection).count == 1)
  }

  @Test func open_withoutPrivilege_saysWhatToGrant() throws {
    let cluster = try PostgresCluster.running(), admin = try cluster.connect()
    try admin.execute("DROP ROLE IF EXISTS humble; CREATE ROLE humble LOGIN")
    let schema = PostgresSchema(PostgresFixture.newSchemaName())
    let connection = try PostgresConnector(cluster.address(user: "humble")).connect()
    let error = failure { try schema.open(connection) }
    #expect(error?.code == .notPermitted)
    #expect(error?.message.contains("CREATE SCHEMA \(schema.name) AUTHORIZATION") == true)
    try admin.execute("CREATE SCHEMA \(schema.sql) AUTHORIZATION humble")
    try schema.open(connection)
    #expect(try version(schema, connection) == Int64(ControlSchema.migrations.count))
  }

  @Test func stores_ofTwoControlSchemas_areApart() throws {
    let one = try PostgresFixture(), two = try PostgresFixture()
    #expect(one.store.schema != two.store.schema)
    #expect(try one.schema.stores(one.connection) == [one.store])
    let second = try one.schema.openStore(one.connection, org: "acme", user: "bob", name: "main")
    #expect(try one.schema.stores(one.connection) == [one.store, second])
    #expect(try one.schema.removeStore(one.connection, one.store))
    #expect(try !one.schema.removeStore(one.connection, one.store))
    #expect(try one.schema.stores(one.connection) == [second])
    #expect(failure { _ = try one.count("\(PostgresName.quoted(one.store.schema)).leases") }?.sqlState == "42P01")
  }
}
