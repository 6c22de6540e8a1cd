import JSON
import PostgresStore
import SmartStore
import Support
import TestSupport
import Testing

/// Copies of stores between files and PostgreSQL.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct StoreCopyTests {
  private let folder: TemporaryFolder
  private let files: SQLiteEngines
  private let database: PostgresEngines
  private let schema: String

  init() throws {
    folder = try TemporaryFolder()
    files = SQLiteEngines(
      userDirectory: folder.path + "/user", globalDirectory: folder.path + "/global", recovery: .refuse, key: { nil })
    schema = PostgresFixture.newSchemaName()
    let connector = PostgresConnector(try PostgresCluster.running().address(schema: schema))
    database = PostgresEngines(connector, org: "acme", user: "ada")
  }

  private func path(_ name: String) -> String { "\(folder.path)/user/\(name)/store.sqlite" }

  private func open(_ name: String, _ engines: any StoreEngines) throws -> Store {
    Store(name: name, isGlobal: false, engine: try engines.open(name, isGlobal: false))
  }

  private struct Stop: Error {}

  @discardableResult
  private func copy(
    _ source: Store, to name: String, _ engines: any StoreEngines, of original: String = "the source",
    report: @escaping (StoreCopy.Progress) throws -> Void = { _ in }
  ) throws -> StoreCopy.Summary {
    let target = Store(name: name, isGlobal: false, engine: try engines.openCopy(name, isGlobal: false, of: original))
    defer { target.close() }
    return try StoreCopy(from: source, to: target, isRunning: { _ in false }, report: report).run()
  }

  private func storeError(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  @Test(arguments: [1, 2] as [UInt64]) func copy_toPostgresAndBack_equalsTheOriginal(seed: UInt64) throws {
    let source = try open("source", files)
    try FilledStore.fill(source, seed: seed)
    let there = try copy(source, to: "main", database)
    source.close()
    let middle = try open("main", database)
    let back = try copy(middle, to: "back", files)
    middle.close()
    #expect(there.rows == back.rows && there.entries == 180, "\(there) \(back)")
    let original = try FilledStore.dump(path("source")), copied = try FilledStore.dump(path("back"))
    #expect(original.count > 250)
    #expect(copied == original)
    database.close()
  }

  /// The copy answers queries as the original does, also by a path that only the server evaluates.
  @Test func copy_toPostgres_findsTheSame() throws {
    let source = try open("source", files)
    defer { source.close() }
    try FilledStore.fill(source, seed: 3)
    try copy(source, to: "main", database)
    let copied = try open("main", database)
    defer { copied.close() }
    for sql in [
      "SELECT {contacts:Id}, {contacts:n}, {contacts:_soupEntryId} FROM {contacts} ORDER BY {contacts:Id}",
      "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:j} = 'A' ORDER BY 1",
      "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:Name} = 'edited' ORDER BY 1",
      "SELECT {contacts:Id} FROM {contacts} WHERE {contacts:late} IS NULL ORDER BY 1",
    ] {
      let wanted = try source.rows(sql), found = try copied.rows(sql)
      #expect(wanted == found, "\(sql)")
    }
    let ids = try copied.upsert(Array(#"[{"Id":"next"}]"#.utf8), into: "contacts", externalIdPath: "Id")
    #expect(String(decoding: ids, as: UTF8.self).contains("\"_soupEntryId\":65"))
  }

  @Test(arguments: [1, 12, 30, 36]) func copy_interrupted_cannotBeOpenedAndContinues(after count: Int) throws {
    let source = try open("source", files)
    defer { source.close() }
    try FilledStore.fill(source, seed: 4)
    var calls = 0
    #expect(throws: Stop.self) {
      try copy(source, to: "main", database) { _ in
        calls += 1
        if calls == count { throw Stop() }
      }
    }
    let error = storeError { _ = try open("main", database) }
    #expect(error?.code == .unfinishedCopy)
    #expect(error?.message.contains("unfinished copy of the source; run `tureen store copy` again") == true)
    #expect(try database.names(isGlobal: false) == [])
    #expect(try database.unfinishedCopies(isGlobal: false) == ["main"])
    #expect(storeError { try copy(source, to: "main", database, of: "another") }?.code == .storeExists)
    let summary = try copy(source, to: "main", database)
    #expect(summary.found > 0)
    #expect(try database.names(isGlobal: false) == ["main"])
    #expect(storeError { try copy(source, to: "main", database) }?.code == .storeExists)
    let copied = try open("main", database)
    try copy(copied, to: "back", files)
    copied.close()
    #expect(try FilledStore.dump(path("back")) == FilledStore.dump(path("source")))
  }

  @Test func copy_unfinished_canBeRemoved() throws {
    let source = try open("source", files)
    defer { source.close() }
    try FilledStore.fill(source, seed: 5)
    #expect(throws: Stop.self) { try copy(source, to: "main", database) { _ in throw Stop() } }
    try database.remove("main", isGlobal: false)
    #expect(try database.unfinishedCopies(isGlobal: false) == [])
    let store = try open("main", database)
    #expect(try store.soupNames() == [])
    store.close()
  }

  /// Two commands that write the same copy would each finish it for the other.
  @Test func copy_whileAnotherCommandCopies_isRefused() throws {
    let source = try open("source", files)
    defer { source.close() }
    try FilledStore.fill(source, seed: 5)
    let error = storeError {
      try copy(source, to: "main", database) { _ in _ = try copy(source, to: "main", database) }
    }
    #expect(error?.code == .storeInUse)
    #expect(error?.message.contains("another command copies into store 'main'") == true)
  }

  @Test func copy_fullText_isRefusedAndNamesTheSoup() throws {
    let source = try open("source", files)
    defer { source.close() }
    try source.registerSoup("plain", indexSpecs: [IndexSpec(path: "Id", type: .string)])
    try source.registerSoup("notes", indexSpecs: [IndexSpec(path: "Body", type: .fullText)])
    let error = storeError { try copy(source, to: "main", database) }
    #expect(error?.code == .notOnThisEngine)
    #expect(error?.message.hasPrefix("soup 'notes' has a full_text index") == true)
  }

  /// A value that the server refuses, deep in a batch.
  @Test func copy_damagedEntry_isNamed() throws {
    let source = try open("source", files)
    defer { source.close() }
    try FilledStore.fill(source, seed: 6)
    // The index would refuse it, too.
    try FilledStore.tamper(path("source"), "DROP INDEX TABLE_1_4_idx; UPDATE TABLE_1 SET soup = '{\"Id\":' WHERE id = 37")
    let error = storeError { try copy(source, to: "main", database) }
    #expect(error?.code == .postgres)
    #expect(error?.message.hasPrefix("entry 37 of soup 'contacts' cannot be copied: ") == true, "\(error?.message ?? "no error")")
    try FilledStore.tamper(path("source"), "UPDATE TABLE_1 SET soup = CAST(x'7b22612e223a22ff227d' AS TEXT) WHERE id = 37")
    let encoded = storeError { try copy(source, to: "main", database) }
    #expect(encoded?.message == "entry 37 of soup 'contacts' cannot be copied: its text is not valid UTF-8")
    try source.remove([37], from: "contacts")
    try copy(source, to: "main", database)
  }

  /// PostgreSQL as the source: the commit of another host is noticed as well.
  @Test func copy_fromPostgresWrittenMeanwhile_isNotFinished() throws {
    let source = try open("source", database), other = try open("source", database)
    defer {
      source.close()
      other.close()
    }
    try FilledStore.fill(source, seed: 8)
    var calls = 0
    let error = storeError {
      try copy(source, to: "back", files) { _ in
        calls += 1
        if calls == 2 { _ = try other.upsert(Array(#"[{"Id":"meanwhile"}]"#.utf8), into: "contacts", externalIdPath: "Id") }
      }
    }
    #expect(error?.code == .storeInUse)
    #expect(storeError { _ = try open("back", files) }?.code == .unfinishedCopy)
    let summary = try copy(source, to: "back", files)
    #expect(summary.found > 0)
  }
}
