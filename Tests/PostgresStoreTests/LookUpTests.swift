import JSON
import SmartStore
import TestSupport
import Testing

@testable import PostgresStore

/// Look-ups and updates of many rows at once.
@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct LookUpTests {
  /// A store whose soup `s` has an index, and no statistics.
  private struct Bench {
    let store: Store

    init() throws {
      store = try Hosts().store()
      try store.registerSoup("s", indexSpecs: [IndexSpec(path: "Id", type: .string), IndexSpec(path: "n", type: .integer)])
    }

    /// Runs `body` in a transaction.
    /// - Returns: How often its statements read the whole table.
    func scans(_ body: (PostgresTransaction) throws -> Void) throws -> Int64 {
      try store.writeBlocking(.pulled) { transaction in
        let transaction = try #require(transaction as? PostgresTransaction)
        let before = try counted(transaction)
        try body(transaction)
        return try counted(transaction) - before
      }
    }

    /// How often this connection has read the whole table: sends what waits, too.
    private func counted(_ transaction: PostgresTransaction) throws -> Int64 {
      let row = try transaction.query(
        """
        SELECT (SELECT seq_scan FROM pg_stat_xact_all_tables WHERE relid = '\(transaction.table("s").sql)'::regclass),
        current_setting('enable_seqscan'), current_setting('enable_hashjoin'), current_setting('enable_mergejoin')
        """
      ).only()
      for setting in 1...3 { #expect(try row.string(setting) == "on") }
      return try row.int64(0)
    }
  }

  private static func entries(_ range: Range<Int>, _ more: String = "") -> [UInt8] {
    Array("[\(range.map { "{\"Id\":\"id\($0)\",\"n\":\($0)\(more)}" }.joined(separator: ","))]".utf8)
  }

  /// The server knows nothing about a table that is being filled, and would read all of it for each page.
  @Test func pages_beforeStatisticsExist_neverReadTheWholeTable() throws {
    let bench = try Bench()
    defer { bench.store.close() }
    for first in [0, 100, 200, 300, 400, 500, 0, 100] {
      let scans = try bench.scans { transaction in
        let plan = PagePlan(
          soup: "s", specs: try transaction.indexSpecs(of: "s"), idPath: "Id", extraPaths: [], ownedKeys: [])
        _ = try transaction.storeRecords(
          try plan.scan(ByteArrayPage(Self.entries(first..<(first + 100), #","x":1"#)), recordsKey: nil), in: "s",
          PageStorage(idPath: "Id", members: [:], keepDirty: false, owner: 1, expectedTotal: nil))
      }
      #expect(scans == 0, "page \(first)")
    }
    #expect(try bench.store.rows("SELECT count(*), min({s:n}), max({s:n}) FROM {s}") == "[[600,0,599]]")
  }

  /// A server may send a record several times; the last one counts.
  @Test func page_withRecordsSeveralTimes_storesEachOnce() throws {
    let bench = try Bench()
    defer { bench.store.close() }
    for (round, keepsDirty) in [false, true, false].enumerated() {
      let records = (0..<900).map { "{\"Id\":\"id\($0 % 3 == 0 ? 0 : $0 / 2)\",\"n\":\($0 + round)}" }
      try bench.store.writeBlocking(.pulled) { transaction in
        let transaction = try #require(transaction as? PostgresTransaction)
        let plan = PagePlan(
          soup: "s", specs: try transaction.indexSpecs(of: "s"), idPath: "Id", extraPaths: [], ownedKeys: [])
        let outcome = try transaction.storeRecords(
          try plan.scan(ByteArrayPage(Array("[\(records.joined(separator: ","))]".utf8)), recordsKey: nil), in: "s",
          PageStorage(idPath: "Id", members: [:], keepDirty: keepsDirty, owner: 1, expectedTotal: nil))
        #expect(outcome.stored == 900 && outcome.keptDirty == 0)
      }
      let last = Dictionary(records.enumerated().map { ($0.offset % 3 == 0 ? 0 : $0.offset / 2, $0.offset + round) }) { $1 }
      #expect(
        try bench.store.rows("SELECT count(*), count(DISTINCT {s:Id}), sum({s:n}) FROM {s}")
          == "[[\(last.count),\(last.count),\(last.values.reduce(0, +))]]")
    }
  }

  @Test func upserts_byAnIndexedPath_neverReadTheWholeTable() throws {
    let bench = try Bench()
    defer { bench.store.close() }
    for path in ["Id", "n"] {
      for first in [0, 100, 200, 50] {
        let scans = try bench.scans { transaction in
          _ = try transaction.upsert(Self.entries(first..<(first + 100), #","by":"\#(path)""#), into: "s", externalIdPath: path)
        }
        #expect(scans == 0, "page \(first) by \(path)")
      }
    }
    #expect(try bench.store.rows("SELECT count(*), count(DISTINCT {s:Id}) FROM {s}") == "[[300,300]]")
  }

  @Test func dirtyEntries_areFoundByTheirIndex() throws {
    let store = try Hosts().store(), local = SoupField.local
    defer { store.close() }
    try store.registerSoup("s", indexSpecs: [IndexSpec(path: "Id", type: .string), IndexSpec(path: local, type: .string)])
    let entries = (0..<3000).map { "{\"Id\":\"id\($0)\",\"\(local)\":\($0 % 1000 == 7)}" }
    try store.upsert("[\(entries.joined(separator: ","))]", into: "s")
    try store.writeBlocking(.pulled) { transaction in
      let transaction = try #require(transaction as? PostgresTransaction), table = try transaction.table("s")
      for condition in [table.isDirty, "\(table.value("Id").selected) IS NOT NULL AND \(table.isDirty)"] {
        let plan = try transaction.query("EXPLAIN SELECT id FROM \(table.sql) WHERE \(condition)")
        let lines = try (0..<plan.count).map { try plan[$0].string(0) }
        #expect(!lines.contains { $0.contains("Seq Scan") }, "\(lines)")
      }
      #expect(try transaction.dirtyEntryIds(in: "s") == [8, 1008, 2008])
      #expect(try transaction.externalIds(in: "s", path: "Id", ownedBy: nil, dirty: true) == ["id7", "id1007", "id2007"])
      #expect(try transaction.externalIds(in: "s", path: "Id", ownedBy: nil, dirty: false).count == 2997)
    }
  }

  @Test func lookUps_byAnyPath_findTheSame() throws {
    let bench = try Bench()
    defer { bench.store.close() }
    try bench.store.upsert(#"[{"Id":"a","n":1,"x":"p"},{"Id":"b","n":2,"x":"p"},{"Id":"a","n":3,"x":"q"},{"n":4}]"#, into: "s")
    let found = try bench.store.readBlocking { snapshot in
      try [("Id", ["b", "a", "b", "c"]), ("x", ["q", "p", "", "p"])].map { path, keys in
        try snapshot.entryIds(in: "s", where: path, equalsEach: keys.map { .text($0) })
      } + [snapshot.entryIds(in: "s", where: "n", equalsEach: [.integer(4), .null, .integer(9), .real(2)])]
    }
    #expect(found == [[[2], [1, 3], [2], []], [[3], [1, 2], [], [1, 2]], [[4], [], [], [2]]])
  }
}
