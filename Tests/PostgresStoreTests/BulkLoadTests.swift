import JSON
import SmartStore
import Support
import TestSupport
import Testing

@testable import PostgresStore

/// First loads of many records, which build most indexes in the end.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct BulkLoadTests {
  private static let large = 20_000
  private static let specs = ["Id", "Name", "Phone"].map { IndexSpec(path: $0, type: .string) }

  /// A store with an empty soup `s` that one host has open, and the server.
  private struct Bench {
    let hosts: Hosts
    let store: Store
    let connection: PostgresConnection
    /// The quoted schema of the store.
    let schema: String

    init() throws {
      hosts = try Hosts()
      store = try hosts.store()
      try store.registerSoup("s", indexSpecs: specs)
      connection = try hosts.cluster.connect()
      schema = "\"\(hosts.schema)_1\""
    }

    /// The numbers of the specs whose indexes exist.
    var indexes: String {
      get throws {
        try connection.query(
          """
          SELECT coalesce(string_agg(split_part(relname, '_', 3), ' ' ORDER BY relname), '') FROM pg_class
          WHERE relnamespace = $1::text::regnamespace AND relname LIKE 'table\\_1\\_%\\_idx'
          """, [.text(schema)]
        ).only().string(0)
      }
    }

    var mark: String? { get throws { try connection.query("SELECT loading FROM \(schema).soup_attrs").only().optionalString(0) } }

    func mark(as process: ProcessIdentity) throws {
      let text = BulkLoad(idPath: "Id", owner: BulkLoad.Owner(process: process, connection: "x")).text
      _ = try connection.query("UPDATE \(schema).soup_attrs SET loading = $1", [.text(text)])
      _ = try connection.query("UPDATE \(schema).state SET soups = soups + 1")
    }

    @discardableResult
    func sync(_ records: String, expecting total: Int = large, keepDirty: Bool = false) throws -> StoreOutcome {
      try store.writeBlocking(.pulled) { transaction in
        let plan = PagePlan(
          soup: "s", specs: try transaction.indexSpecs(of: "s"), idPath: "Id", extraPaths: [], ownedKeys: [])
        return try transaction.storeRecords(
          try plan.scan(ByteArrayPage(Array(records.utf8)), recordsKey: nil), in: "s",
          PageStorage(idPath: "Id", members: [:], keepDirty: keepDirty, owner: 1, expectedTotal: total))
      }
    }

    func finish() throws { try store.writeBlocking(.synced) { try $0.finishBulkLoad(soup: "s") } }

    func close() {
      store.close()
      connection.close()
    }
  }

  @Test func load_large_buildsOtherIndexesInTheEnd() throws {
    let bench = try Bench()
    defer { bench.close() }
    #expect(try bench.indexes == "0 1 2")
    try bench.sync(#"[{"Id":"a","Name":"1"},{"Id":"b","Name":"2"}]"#)
    #expect(try bench.indexes == "0")
    #expect(try bench.store.readBlocking { try $0.isBulkLoading(soup: "s") })
    let second = try bench.sync(#"[{"Id":"b","Name":"3"},{"Id":"c","Name":"4"}]"#)
    #expect(second == StoreOutcome(stored: 2, created: 1, keptDirty: 0), "a record that comes again is found")
    #expect(try bench.indexes == "0")
    for _ in 0..<2 { try bench.finish() }
    #expect(try bench.indexes == "0 1 2")
    #expect(try bench.mark == nil)
    #expect(try bench.store.rows("SELECT {s:Id}, {s:Name} FROM {s} ORDER BY 1") == #"[["a","1"],["b","3"],["c","4"]]"#)
  }

  @Test func load_smallOrIntoAFilledSoup_keepsIndexes() throws {
    let bench = try Bench()
    defer { bench.close() }
    try bench.sync(#"[{"Id":"a"}]"#, expecting: Self.large - 1)
    try bench.sync(#"[{"Id":"b"}]"#, expecting: 1_000_000)
    #expect(try bench.indexes == "0 1 2")
    try bench.store.clearSoup("s")
    try bench.sync(#"[{"Id":"a"}]"#)
    #expect(try bench.indexes == "0", "a cleared soup is as empty as a new one")
  }

  /// Dropping an index waits for everybody who reads the soup; a long query must not stop a sync.
  @Test func load_whileSomebodyReads_keepsIndexes() throws {
    let bench = try Bench(), reader = try bench.hosts.cluster.connect()
    defer {
      reader.close()
      bench.close()
    }
    try reader.execute("BEGIN; SELECT FROM \(bench.schema).table_1")
    try bench.sync(#"[{"Id":"a"}]"#)
    #expect(try bench.indexes == "0 1 2")
    #expect(try bench.mark == nil)
  }

  @Test func load_queriedByAPath_buildsIndexesAtTheNextPage() throws {
    let bench = try Bench()
    defer { bench.close() }
    func found(_ path: String, _ key: String) throws -> Int {
      var spec = QuerySpec(kind: .exact)
      spec.indexPath = path
      spec.matchKey = .string(key)
      return try bench.store.count(spec, soup: "s")
    }
    try bench.sync(#"[{"Id":"a","Name":"x"},{"Id":"b"}]"#)
    #expect(try found("Id", "b") == 1)
    try bench.sync(#"[{"Id":"c"}]"#)
    #expect(try bench.indexes == "0", "the path that finds the records has its index")
    #expect(try found("Name", "x") == 1)
    #expect(try bench.indexes == "0", "who reads changes nothing")
    try bench.sync(#"[{"Id":"d"}]"#)
    #expect(try bench.indexes == "0 1 2")
    #expect(try bench.store.rows("SELECT count(*) FROM {s}") == "[[4]]")
  }

  @Test func load_thatWaits_buildsIndexesAhead() throws {
    let bench = try Bench()
    defer { bench.close() }
    func buildAhead(_ least: Int) throws -> Bool {
      try bench.store.writeBlocking(.pulled) { try $0.buildIndexAhead(soup: "s", whileMissing: least) }
    }
    #expect(try !buildAhead(1), "nothing is being loaded")
    try bench.sync(#"[{"Id":"a"}]"#)
    #expect(try !buildAhead(3), "two are missing")
    #expect(try buildAhead(2))
    #expect(try !buildAhead(2))
    #expect(try bench.indexes == "0 1")
    try bench.sync(#"[{"Id":"b"}]"#)
    #expect(try buildAhead(1))
    #expect(try !buildAhead(1))
    try bench.finish()
    #expect(try bench.indexes == "0 1 2")
  }

  @Test(arguments: ["upsert", "alter"])
  func load_anotherHostWrites_isFinishedFirst(_ call: String) throws {
    let bench = try Bench(), other = try bench.hosts.store()
    defer {
      other.close()
      bench.close()
    }
    try bench.sync(#"[{"Id":"a"}]"#)
    if call == "upsert" {
      try other.upsert(#"[{"Id":"a","Name":"edit","__local__":true}]"#, into: "s", by: "Id")
    } else {
      try other.alterSoup("s", indexSpecs: Self.specs + [IndexSpec(path: "Fax", type: .string)], reIndexData: true)
    }
    #expect(try bench.indexes == (call == "upsert" ? "0 1 2" : "0 1 2 3"))
    #expect(try bench.mark == nil)
    let next = try bench.sync(#"[{"Id":"a","Name":"x"},{"Id":"b"}]"#, keepDirty: true)
    #expect(next.created == 1 && next.keptDirty == (call == "upsert" ? 1 : 0))
    #expect(try bench.mark == nil)
  }

  /// Who loads is known by its process on this host, and by what it wrote last on others.
  @Test(arguments: [("ended", true), ("runs", false), ("wrote just now", false), ("is silent", true)])
  func open_unfinishedLoad_isFinishedIfItsProcessIsGone(_ loader: String, _ isFinished: Bool) throws {
    let bench = try Bench()
    defer { bench.close() }
    try bench.sync(#"[{"Id":"a"}]"#)
    let here = ProcessIdentity.current, far = ProcessIdentity(bootId: "elsewhere", pid: 7, startTicks: 7)
    switch loader {
    case "ended": try bench.mark(as: ProcessIdentity(bootId: here.bootId, pid: here.pid, startTicks: here.startTicks + 1))
    case "runs": try bench.mark(as: here)
    default:
      let age = loader == "is silent" ? Tuning.endedLoadS + 1 : 0
      _ = try bench.connection.query(
        """
        INSERT INTO "\(bench.hosts.schema)".writers (id, host, seen)
        VALUES ($1, 'far', clock_timestamp() - $2 * interval '1 s')
        """, [.text(Writer.id(of: far)), .double(Double(age))])
      try bench.mark(as: far)
    }
    try bench.hosts.store().close()
    #expect(try bench.indexes == (isFinished ? "0 1 2" : "0"))
    #expect(try (bench.mark == nil) == isFinished)
  }
}
