import Dispatch
import JSON
import SmartStore
import Support
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// Properties of stores in PostgreSQL that a file does not have: several hosts, and a network in between.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct EngineTests {
  private static let specs = [IndexSpec(path: "a", type: .string), IndexSpec(path: "n", type: .integer)]

  private func code(_ body: () throws -> Void) -> StoreError.Code? { failure(body)?.code }

  private func failure(_ body: () throws -> Void) -> StoreError? {
    do {
      try body()
      return nil
    } catch {
      return error as? StoreError
    }
  }

  /// Rows are read as they arrive: the result as a whole, of 10^12 rows, would fit into no memory.
  @Test func page_moreBytesThanItMayHave_isRefusedBeforeTheRestArrives() throws {
    let store = try Hosts().store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    try store.upsert("[\((0..<1000).map { "{\"n\":\($0)}" }.joined(separator: ","))]", into: "s")
    let endless = QuerySpec.smart("SELECT a.{s:n} FROM {s} a, {s} b, {s} c, {s} d", pageSize: Int(Int32.max))
    let error = failure {
      try store.readBlocking { snapshot in
        let snapshot = try #require(snapshot as? PostgresSnapshot)
        _ = try snapshot.smartRows(endless, from: 0, as: PageForm(row: .columns, limit: 10_000), lookingAhead: true)
      }
    }
    #expect(error?.code == .queryLimit)
    #expect(error?.message.contains("has more than 10000 bytes; ask for fewer rows with 'pageSize'") == true)
    #expect(try store.rows("SELECT count(*) FROM {s}") == "[[1000]]")
  }

  @Test func write_fromSeveralHostsAtOnce_losesNothing() throws {
    let hosts = try Hosts(), stores = try (0..<3).map { _ in try hosts.store() }
    defer { for store in stores { store.close() } }
    try stores[0].registerSoup("s", indexSpecs: Self.specs)
    let failures = Mutex<[String]>([])
    DispatchQueue.concurrentPerform(iterations: 3) { host in
      for n in 0..<20 {
        do {
          _ = try stores[host].upsert(#"[{"a":"\#(host)","n":\#(n)},{"a":"shared","n":\#(n)}]"#, into: "s", by: "n")
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    // The second entry of each call replaces the first one: they have the same n.
    #expect(failures.withLock { $0 } == [])
    for store in stores {
      #expect(try store.rows("SELECT count(*), count(DISTINCT {s:n}), max({s:a}) FROM {s}") == #"[[20,20,"shared"]]"#)
      #expect(try store.rows("SELECT max({s:_soupEntryId}) FROM {s}") == "[[20]]")
    }
    let versions = try stores[1].readBlocking { try $0.versions(of: Array(1...20), in: "s").values.reduce(0, +) }
    #expect(versions == 3 * 20 * 2)
  }

  @Test func soup_alteredByAnotherHost_isSeenAtOnce() throws {
    let hosts = try Hosts(), first = try hosts.store(), second = try hosts.store()
    defer {
      first.close()
      second.close()
    }
    try first.registerSoup("s", indexSpecs: Self.specs)
    _ = try second.upsert(#"[{"a":"x","n":7}]"#, into: "s")
    #expect(try second.rows("SELECT {s:n} FROM {s}") == "[[7]]")
    try first.alterSoup(
      "s", indexSpecs: [IndexSpec(path: "n", type: .string), IndexSpec(path: "b", type: .string)], reIndexData: true)
    #expect(try second.rows("SELECT {s:n} FROM {s}") == #"[["7"]]"#)
    _ = try second.upsert(#"[{"b":"y","n":"z"}]"#, into: "s")
    #expect(try first.rows("SELECT {s:b}, {s:n} FROM {s} ORDER BY {s:_soupEntryId}") == #"[[null,"7"],["y","z"]]"#)
    try first.removeSoup("s")
    #expect(code { _ = try second.rows("SELECT {s:n} FROM {s}") } == .noSuchSoup)
  }

  /// The reader's snapshot is older than the altered soup's table, where it would see no rows.
  @Test func soup_alteredDuringARead_isReadAsItWas() throws {
    let hosts = try Hosts(), first = try hosts.store(), second = try hosts.store(), watcher = try hosts.cluster.connect()
    defer {
      first.close()
      second.close()
    }
    try first.registerSoup("s", indexSpecs: Self.specs)
    _ = try second.upsert(#"[{"a":"x","n":7}]"#, into: "s")
    let altering = DispatchGroup(), hasEnded = Mutex(false)
    try second.readBlocking { snapshot in
      let schema = try #require(snapshot as? PostgresSnapshot).schema
      DispatchQueue.global().async(group: altering) {
        #expect(throws: Never.self) {
          try first.alterSoup("s", indexSpecs: [IndexSpec(path: "n", type: .string)], reIndexData: true)
        }
        hasEnded.withLock { $0 = true }
      }
      let waiting = "SELECT FROM pg_locks WHERE relation = '\(schema).soup_attrs'::regclass AND NOT granted"
      try waitUntil { try watcher.query(waiting).count > 0 || hasEnded.withLock { $0 } }
      #expect(try snapshot.storedEntries([1], in: "s").count == 1)
      #expect(try snapshot.entryIds(in: "s", where: "a", equalsEach: [.text("x")]) == [[1]])
    }
    altering.wait()
    #expect(try second.rows("SELECT {s:n} FROM {s}") == #"[["7"]]"#)
  }

  /// Equal for Swift, but not for a database.
  @Test func texts_canonicallyEquivalent_areDifferent() throws {
    let store = try Hosts().store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    _ = try store.upsert("[{\"a\":\"\u{e9}\",\"n\":1},{\"a\":\"e\u{301}\",\"n\":2}]", into: "s")
    for _ in 1...2 {
      #expect(try store.rows("SELECT {s:n} FROM {s} WHERE {s:a} = '\u{e9}'") == "[[1]]")
      #expect(try store.rows("SELECT {s:n} FROM {s} WHERE {s:a} = 'e\u{301}'") == "[[2]]")
    }
  }

  /// The connection is cut at many bytes of a call's exchange. An error means that nothing was written, and success that
  /// it was, once.
  @Test(arguments: [CuttingProxy.Direction.toServer, .toClient])
  func write_connectionCutAnywhere_isDoneOnceOrFails(_ direction: CuttingProxy.Direction) throws {
    let hosts = try Hosts(), proxy = CuttingProxy(to: hosts.cluster.port), store = try hosts.store(port: proxy.port)
    defer {
      store.close()
      proxy.close()
    }
    try store.registerSoup("s", indexSpecs: Self.specs)
    proxy.set(nil)
    _ = try store.upsert(#"[{"a":"x","n":0}]"#, into: "s")
    // Later connections sign in, and prepare their statements anew.
    let size = proxy.passed(direction) * 3 + 3000
    var written = 1, failed = 0
    for position in stride(from: 1, through: size, by: max(1, size / 60)) {
      proxy.set(.cut(direction, after: position))
      let error = failure { _ = try store.upsert(#"[{"a":"x","n":\#(position)}]"#, into: "s") }
      if let error {
        failed += 1
        #expect(error.isRetryable, "\(error)")
      } else {
        written += 1
      }
      proxy.set(nil)
      #expect(try store.rows("SELECT count(*) FROM {s}") == "[[\(written)]]", "cut \(direction) after \(position)")
    }
    #expect(failed > 5)
    #expect(written > 3)
  }

  @Test func remove_storeOpenOnAnotherHost_isRefused() throws {
    let hosts = try Hosts(), store = try hosts.store(), engines = hosts.engines()
    defer { engines.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    #expect(code { try engines.remove("main", isGlobal: false) } == .storeInUse)
    #expect(try engines.names(isGlobal: false) == ["main"])
    store.close()
    try engines.remove("main", isGlobal: false)
    #expect(try engines.names(isGlobal: false) == [])
    try engines.remove("main", isGlobal: false)
  }

  @Test func open_longName_isRefusedInWords() throws {
    let engines = try Hosts().engines(), longest = String(repeating: "é", count: 500)
    defer { engines.close() }
    try engines.open(longest, isGlobal: false).close()
    #expect(try engines.names(isGlobal: false) == [longest])
    let error = failure { _ = try engines.open(longest + "s", isGlobal: true) }
    #expect(error?.code == .invalidStoreName)
    #expect(error?.message == "a store name in PostgreSQL has at most 1000 bytes, not 1001")
  }

  @Test func write_anotherWriterHoldsTheStore_isRetryable() throws {
    let hosts = try Hosts(), store = try hosts.store(), impatient = try hosts.store { $0.lockTimeoutMs = 50 }
    defer {
      impatient.close()
      store.close()
    }
    try store.registerSoup("s", indexSpecs: Self.specs)
    let other = try hosts.cluster.connect()
    try other.execute("BEGIN; UPDATE \(hosts.schema)_1.state SET seq = seq")
    let error = failure { _ = try impatient.upsert(#"[{"a":"x"}]"#, into: "s") }
    #expect(error?.isRetryable == true)
    #expect(error?.message.contains("another host is writing to store 'main'") == true)
    #expect(try store.rows("SELECT count(*) FROM {s}") == "[[0]]")
    try other.execute("ROLLBACK")
    _ = try store.upsert(#"[{"a":"x"}]"#, into: "s")
  }

  /// Such as one that builds the indexes of a large soup.
  @Test func write_anotherWriterHoldsTheStoreForLong_waits() throws {
    // It waits for longer than this test can take.
    let hosts = try Hosts(), first = try hosts.store()
    try first.registerSoup("s", indexSpecs: Self.specs)
    first.close()
    let store = try hosts.store {
      $0.lockTimeoutMs = 50
      $0.lockAttempts = .max
    }
    defer { store.close() }
    let other = try hosts.cluster.connect(), watcher = try hosts.cluster.connect(), writing = DispatchGroup()
    try other.execute("BEGIN; UPDATE \(hosts.schema)_1.state SET seq = seq")
    DispatchQueue.global().async(group: writing) {
      #expect(throws: Never.self) { _ = try store.upsert(#"[{"a":"x"}]"#, into: "s") }
    }
    let blocked = """
      SELECT l.virtualtransaction FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
      WHERE NOT l.granted AND starts_with(a.query, 'UPDATE') AND a.query LIKE '%"\(hosts.schema)_1".state %'
      """
    var attempts: Set<String> = []
    try waitUntil {
      attempts.formUnion(try watcher.query(blocked).map { try $0.string(0) })
      return attempts.count >= 2
    }
    try other.execute("ROLLBACK")
    writing.wait()
    #expect(try store.rows("SELECT count(*) FROM {s}") == "[[1]]")
  }

  @Test func query_thatTakesLong_isCancelled() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    let entries = (0..<500).map { #"{"n":\#($0)}"# }.joined(separator: ",")
    _ = try store.upsert("[\(entries)]", into: "s")
    let query = QueryCancellation(), ended = DispatchSemaphore(value: 0), result = Mutex<StoreError.Code?>(nil)
    let thread = DispatchQueue(label: "query")
    thread.async {
      let found = self.code {
        _ = try store.query(.smart("SELECT count(*) FROM {s} a, {s} b, {s} c, {s} d"), cancellation: query)
      }
      result.withLock { $0 = found }
      ended.signal()
    }
    // The statement is running once the server says so.
    let watcher = try hosts.cluster.connect()
    try waitUntil {
      try watcher.query(
        """
        SELECT FROM pg_stat_activity
        WHERE state = 'active' AND query LIKE '%\(hosts.schema)_1%AS q LIMIT%' AND pid <> pg_backend_pid()
        """
      ).count > 0
    }
    query.cancel()
    ended.wait()
    #expect(result.withLock { $0 } == .cancelled)
    #expect(try store.rows("SELECT count(*) FROM {s}") == "[[500]]")
  }

  @Test func text_withNUL_isFoundAndKept() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs + [IndexSpec(path: "j", type: .json1)])
    let stored = try store.upsert(#"[{"a":"x\u0000y","j":"\u0000","other":"\u0000z"}]"#, into: "s")
    #expect(stored[0]["a"] == "x\0y")
    for path in ["a", "j", "other"] {
      var spec = QuerySpec(kind: .exact)
      (spec.indexPath, spec.matchKey) = (path, stored[0][path])
      let found = try JSONValue(parsing: store.query(spec, soup: "s")).arrayValue
      #expect(found == stored, "\(path)")
    }
  }

  /// A text that does not fit into an index of PostgreSQL.
  @Test func text_ofManyKilobytes_isIndexed() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "a", type: .string), IndexSpec(path: "j", type: .json1)])
    var random = SeededGenerator(state: 9)
    let head = (0..<4000).map { _ in "\(UInt64.random(in: 0 ... .max, using: &random))" }.joined()
    for tail in ["b", "a", "c"] {
      _ = try store.upsert(#"[{"a":"\#(head)\#(tail)","j":"\#(head)\#(tail)"}]"#, into: "s")
    }
    for path in ["a", "j"] {
      var spec = QuerySpec(kind: .exact)
      (spec.indexPath, spec.matchKey, spec.selectPaths) = (path, .string(head + "a"), ["_soupEntryId"])
      #expect(String(decoding: try store.query(spec, soup: "s"), as: UTF8.self) == "[[2]]")
      spec.kind = .range
      (spec.beginKey, spec.orderPath, spec.order) = (.string(head + "b"), path, .descending)
      #expect(String(decoding: try store.query(spec, soup: "s"), as: UTF8.self) == "[[3],[1]]")
    }
  }

  @Test func observe_anotherHost_tellsWhichEntriesChanged() throws {
    let hosts = try Hosts(), mine = try hosts.store(), other = try hosts.store()
    defer {
      mine.close()
      other.close()
    }
    try mine.registerSoup("s", indexSpecs: Self.specs)
    let news = DispatchSemaphore(value: 0)
    let observer = try mine.observe(soups: ["s"], onNews: { _ in news.signal() })
    _ = try other.upsert(#"[{"a":"x"},{"a":"y"}]"#, into: "s")
    #expect(news.wait(timeout: .now() + 900) == .success)
    let changes = observer.take()
    #expect(changes.map(\.created) == [[1, 2]])
    #expect(changes.map(\.isAll) == [false])
  }

  @Test func lease_ofAnotherHost_isRespectedAndItsClockDoesNotMatter() throws {
    let hosts = try Hosts(), mine = try hosts.store(), other = try hosts.store()
    defer {
      mine.close()
      other.close()
    }
    func acquire(_ store: Store, _ owner: String, now: Int64) throws -> Lease? {
      try store.writeBlocking(.synced) { try $0.acquireLease("sync", owner: owner, now: now, duration: 60_000) { _ in false } }
    }
    let before = SystemClock.millisecondsSince1970()
    let held = try #require(try acquire(mine, "a", now: 0))
    let after = SystemClock.millisecondsSince1970()
    // A host whose clock is far ahead.
    #expect(try acquire(other, "b", now: 1 << 50) == nil)
    let seen = try #require(try other.readBlocking { try $0.lease("sync") })
    #expect(seen.owner == "a" && seen.fence == held.fence)
    // A minute after the moment of the call, which the server's clock rounds in another way.
    #expect(seen.expiresAt >= before + 60_000 - 2 && seen.expiresAt <= after + 60_000 + 2)
    let stolen = try other.writeBlocking(.synced) {
      try $0.acquireLease("sync", owner: "b", now: 0, duration: 60_000) { $0.owner == "a" }
    }
    #expect(stolen?.fence == held.fence + 1)
    #expect(code { try mine.writeBlocking(.synced) { try $0.verify(held) } } == .leaseLost)
    #expect(code { _ = try mine.writeBlocking(.synced) { try $0.renewLease(held, now: 0, duration: 1) } } == .leaseLost)
  }

  @Test func lookUps_byAPathWithoutColumn_useTheirIndex() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    let entries = (0..<500).map { #"{"a":"x","ref":"r\#($0)"}"# }.joined(separator: ",")
    _ = try store.upsert("[\(entries)]", into: "s")
    try store.writeBlocking(.synced) { try $0.indexLookups(by: "ref", in: "s") }
    #expect(try store.readBlocking { try $0.hasLookupIndex("ref", in: "s") })
    let found = try store.readBlocking {
      try $0.entryIds(in: "s", where: "ref", equalsEach: [.text("r7"), .text("r8"), .text("none"), .integer(7)])
    }
    #expect(found == [[8], [9], [], []])
    let connection = try hosts.cluster.connect()
    let table = SoupTable(Soup(name: "s", number: 1, specs: Self.specs, bulkLoad: nil), "\(hosts.schema)_1")
    var parameters = Parameters()
    let condition = table.value("ref").condition(.equal, .text("r7"), &parameters)
    try connection.execute("ANALYZE \(table.sql)")
    let plan = try connection.query("EXPLAIN SELECT id FROM \(table.sql) WHERE \(condition)", parameters.list)
    #expect(try plan.map { try $0.string(0) }.joined().contains("table_1_lookup_"))
  }

  @Test func match_andFullText_areRefused() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "t", type: .fullText)])
    _ = try store.upsert(#"[{"t":"two words"}]"#, into: "s")
    var spec = QuerySpec(kind: .match)
    (spec.indexPath, spec.matchKey) = ("t", "words")
    let error = failure { _ = try store.query(spec, soup: "s") }
    #expect(error?.code == .notOnThisEngine)
    #expect(error?.message == "a store in PostgreSQL does not support full-text queries ('match')")
    #expect(try store.rows("SELECT {s:t} FROM {s}") == #"[["two words"]]"#)
  }

  @Test func page_ofManyRecords_isStoredAndStoredAgain() throws {
    let hosts = try Hosts(), store = try hosts.store()
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: Self.specs)
    let records = (0..<2000).map { #"{"a":"r\#($0)","n":\#($0)}"# }.joined(separator: ",")
    for expected in [StoreOutcome(stored: 2000, created: 2000), StoreOutcome(stored: 2000)] {
      let outcome = try store.writeBlocking(.pulled) { transaction in
        let plan = try transaction.pagePlan(soup: "s", idPath: "a", ownedKeys: [])
        let page = try plan.scan(ByteArrayPage(Array("[\(records)]".utf8)), recordsKey: nil)
        return try transaction.storeRecords(
          page, in: "s", PageStorage(idPath: "a", members: [:], keepDirty: true, owner: 1))
      }
      #expect(outcome == expected)
    }
    #expect(try store.rows("SELECT count(*), sum({s:n}) FROM {s}") == "[[2000,1999000]]")
    #expect(try store.databaseSize() > 0)
  }
}
