import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Changing the index specs of a soup with entries.
struct AlterTests {
  /// Returns what an alteration must not change.
  private func kept(_ store: Store) throws -> [String] {
    try [
      "SELECT id, soup, created, lastModified, version, owner FROM {s} ORDER BY id",
      "SELECT soup, entry, owner FROM soup_members ORDER BY 1, 2, 3", "SELECT soup, entry, base FROM soup_bases ORDER BY 1, 2",
      "SELECT soup, entry, version, sync, operation, sentAt, fence, sent FROM uploads ORDER BY 1, 2",
    ].map { try store.rows($0) }
  }

  private func columns(_ store: Store) throws -> String {
    try store.rows("SELECT substr(sql, instr(sql, 'TABLE_1_0')) FROM sqlite_master WHERE name = 'TABLE_1'")
  }

  private func values(_ store: Store, _ path: String) throws -> String {
    try store.rows("SELECT {s:\(path)} FROM {s} ORDER BY {s:_soupEntryId}")
  }

  private let cities = #"""
    [{"lastName":"Doe","address":{"city":"San Francisco","street":"1 market"}},
     {"lastName":"Jackson","address":{"city":"Los Angeles","street":"100 mission"}},
     {"lastName":"Watson","address":{"city":"London","street":"50 market"}}]
    """#

  @Test func alter_withoutReIndexing_keepsKeptPathsAndLeavesNewOnesEmpty() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("lastName"), .string("address.city")]), store = temporary.store
    try store.upsert(cities, into: "s")
    let before = try kept(store)
    try store.alterSoup("s", indexSpecs: [.string("address.street"), .string("lastName")], reIndexData: false)
    #expect(try store.indexSpecs(ofSoup: "s") == [.string("address.street"), .string("lastName")])
    if TestEngine.isSQLite {
      #expect(try columns(store) == #"[["TABLE_1_0 TEXT, TABLE_1_1 TEXT, version INTEGER NOT NULL DEFAULT 1, owner INTEGER)"]]"#)
      #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"]]"#)
    }
    #expect(try values(store, "lastName") == #"[["Doe"],["Jackson"],["Watson"]]"#)
    #expect(try values(store, "address.street") == "[[null],[null],[null]]")
    #expect(try kept(store) == before)
    #expect(try store.unfinishedAlterations() == "[[0]]")
    try store.reIndexSoup("s", paths: ["address.street"])
    #expect(try values(store, "address.street") == #"[["1 market"],["100 mission"],["50 market"]]"#)
    #expect(try kept(store) == before)
  }

  @Test func alter_withReIndexing_fillsNewPaths() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("lastName")]), store = temporary.store
    try store.upsert(cities, into: "s")
    let before = try kept(store)
    try store.alterSoup(
      "s", indexSpecs: [.string("lastName"), .string("address.street"), .json1("address.city")], reIndexData: true)
    #expect(try values(store, "address.street") == #"[["1 market"],["100 mission"],["50 market"]]"#)
    #expect(try values(store, "address.city") == #"[["San Francisco"],["Los Angeles"],["London"]]"#)
    #expect(try kept(store) == before)
    let found = try store.found(
      #"{"queryType":"exact","indexPath":"address.street","matchKey":"50 market","selectPaths":["lastName"]}"#, in: "s")
    #expect(found == #"[["Watson"]]"#)
  }

  @Test func alter_anything_leavesWhatSyncsKeep() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")]), store = temporary.store
    try store.sync(#"[{"Id":"1"},{"Id":"2"}]"#, into: "s", owner: 7)
    try store.sync(#"[{"Id":"1"}]"#, into: "s", owner: 8)
    try store.upsert(#"[{"Id":"2","__local__":true}]"#, into: "s", by: "Id")
    try store.writeBlocking(.synced) {
      try $0.journal([UploadRecord(entryId: 2, version: 2, syncId: 7, operation: .update, sentAt: 5)], in: "s")
    }
    let before = try kept(store)
    #expect(before.allSatisfy { $0 != "[]" })
    try store.alterSoup("s", indexSpecs: [.string("Id"), .string("__local__")], reIndexData: true)
    #expect(try kept(store) == before)
    #expect(try store.readBlocking { try $0.dirtyEntryIds(in: "s") } == [2])
    try store.sync(#"[{"Id":"1","n":1}]"#, into: "s", overlay: ["__local__": false], owner: 7)
    #expect(try store.version(1, in: "s") == 3)
  }

  @Test func alter_afterRemoving_doesNotUseIdsAgain() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"1"},{"a":"2"},{"a":"3"}]"#, into: "s")
    try store.remove([2, 3], from: "s")
    try store.alterSoup("s", indexSpecs: [.json1("a")], reIndexData: false)
    #expect(try store.ids(store.upsert(#"[{"a":"4"}]"#, into: "s")) == [4])
    try store.clearSoup("s")
    try store.alterSoup("s", indexSpecs: [.string("a")], reIndexData: true)
    #expect(try store.ids(store.upsert(#"[{"a":"5"}]"#, into: "s")) == [5])
    try store.registerSoup("never", indexSpecs: [.string("a")])
    try store.alterSoup("never", indexSpecs: [.string("b")], reIndexData: false)
    #expect(try store.ids(store.upsert("[{}]", into: "never")) == [1])
  }

  @Test func alter_stringToInteger_ordersAsNumbersOnceReIndexed() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("n")]), store = temporary.store
    try store.upsert(#"[{"n":20},{"n":3},{"n":100}]"#, into: "s")
    let ordered = #"{"queryType":"range","orderPath":"n","selectPaths":["_soupEntryId"]}"#
    #expect(try store.found(ordered, in: "s") == "[[3],[1],[2]]")
    try store.alterSoup("s", indexSpecs: [.integer("n")], reIndexData: false)
    #expect(try values(store, "n") == "[[null],[null],[null]]")
    try store.alterSoup("s", indexSpecs: [.integer("n")], reIndexData: true)
    #expect(try values(store, "n") == "[[null],[null],[null]]", "the path and its type are not new")
    try store.reIndexSoup("s", paths: ["n"])
    #expect(try store.found(ordered, in: "s") == "[[2],[1],[3]]")
    try store.alterSoup("s", indexSpecs: [.floating("n")], reIndexData: true)
    #expect(try values(store, "n") == "[[20.0],[3.0],[100.0]]")
  }

  /// Values of every kind, and below the contents of each type's column.
  private let kinds = #"[{"v":"text"},{"v":7},{"v":1.5},{"v":true},{"v":[1,"a/b"]},{"v":null},{"w":1}]"#

  @Test(arguments: IndexType.allCases, IndexType.allCases)
  func alter_typeChange_withReIndexingIsLikeRegisteringAnew(_ old: IndexType, _ new: IndexType) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("x"), IndexSpec(path: "v", type: old)]), store = temporary.store
    try store.upsert(kinds, into: "s")
    try store.alterSoup("s", indexSpecs: [IndexSpec(path: "v", type: new)], reIndexData: true)
    let fresh = try TemporaryStore(soup: "s", [IndexSpec(path: "v", type: new)])
    try fresh.store.upsert(kinds, into: "s")
    #expect(try values(store, "v") == values(fresh.store, "v"))
    guard TestEngine.isSQLite else { return }
    let schema = "SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE '%fts\\_%' ESCAPE '\\' ORDER BY 1, 2"
    #expect(try store.rows(schema) == fresh.store.rows(schema))
    let map = "SELECT * FROM soup_index_map"
    #expect(try store.rows(map) == fresh.store.rows(map))
    if new == .fullText { #expect(try store.words() == fresh.store.words()) }
  }

  @Test(arguments: [IndexType.string, .integer, .floating, .fullText])
  func alter_json1ToColumn_isFilledAtOnce(_ new: IndexType) throws {
    let temporary = try TemporaryStore(soup: "s", [.json1("v")]), store = temporary.store
    try store.upsert(kinds, into: "s")
    try store.alterSoup("s", indexSpecs: [IndexSpec(path: "v", type: new)], reIndexData: false)
    let fresh = try TemporaryStore(soup: "s", [IndexSpec(path: "v", type: new)])
    try fresh.store.upsert(kinds, into: "s")
    #expect(try values(store, "v") == values(fresh.store, "v"))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads the tables of FTS5"))
  func alter_stringAndFullText_keepValuesAndSearchAtOnce() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .string("b")]), store = temporary.store
    try store.upsert(#"[{"a":"one","b":"two words"},{"b":"three"},{}]"#, into: "s")
    try store.alterSoup("s", indexSpecs: [.string("a"), .fullText("b")], reIndexData: false)
    #expect(try store.words() == #"[[1,"two words"],[2,"three"],[3,null]]"#)
    #expect(try store.count(try spec(#"{"queryType":"match","indexPath":"b","matchKey":"words"}"#), soup: "s") == 1)
    try store.alterSoup("s", indexSpecs: [.fullText("a"), .fullText("b")], reIndexData: false)
    #expect(try store.words() == #"[[1,"one","two words"],[2,null,"three"],[3,null,null]]"#)
    try store.upsert(#"[{"_soupEntryId":3,"a":"late"}]"#, into: "s")
    #expect(try store.count(try spec(#"{"queryType":"match","matchKey":"late"}"#), soup: "s") == 1)
    try store.alterSoup("s", indexSpecs: [.string("a"), .string("b")], reIndexData: false)
    #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%fts%'") == "[]")
    #expect(try values(store, "b") == #"[["two words"],["three"],[null]]"#)
    try store.remove([1], from: "s")
  }

  @Test(
    .enabled(if: TestEngine.isSQLite, "drops an index of SQLite"),
    arguments: [IndexType.string, .json1, .fullText])
  func alter_sameSpecs_rebuildsTheTableAndItsIndexes(_ type: IndexType) throws {
    let temporary = try TemporaryStore(soup: "s", [IndexSpec(path: "a", type: type)]), store = temporary.store
    try store.upsert(#"[{"a":"one"},{"a":"two"}]"#, into: "s")
    let before = try kept(store), indexes = try store.indexNames()
    try store.writeBlocking(.synced) { try $0.connection.execute("DROP INDEX TABLE_1_0_idx") }
    if type == .fullText { try store.writeBlocking(.synced) { try $0.connection.execute("DELETE FROM TABLE_1_fts") } }
    #expect(try store.indexNames() == "[]")
    try store.alterSoup("s", indexSpecs: [IndexSpec(path: "a", type: type)], reIndexData: false)
    #expect(try store.indexNames() == indexes && indexes.contains("TABLE_1_0_idx"))
    #expect(try kept(store) == before)
    #expect(try values(store, "a") == #"[["one"],["two"]]"#)
    if type == .fullText { #expect(try store.words() == #"[[1,"one"],[2,"two"]]"#) }
  }

  @Test(arguments: [
    [], [IndexSpec.string("a"), .json1("a")], [.string("")], [.string("a'b")], [.string("a"), .json1("b[")],
  ])
  func alter_badSpecs_changeNothing(_ specs: [IndexSpec]) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"one"}]"#, into: "s")
    let schema = try store.schemaText()
    #expect(code { try store.alterSoup("s", indexSpecs: specs, reIndexData: true) } == .invalidIndexSpec)
    #expect(try store.schemaText() == schema)
    #expect(try store.unfinishedAlterations() == "[[0]]")
    #expect(try values(store, "a") == #"[["one"]]"#)
  }

  @Test func alterAndReIndex_unknownSoup_areErrors() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    let alter = failure { try store.alterSoup("s", indexSpecs: [.string("a")], reIndexData: true) }
    #expect(alter?.code == .noSuchSoup && alter?.message == "Soup: s does not exist")
    #expect(code { try store.reIndexSoup("s", paths: ["a"]) } == .noSuchSoup)
    #expect(try store.unfinishedAlterations() == "[[0]]")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads the tables of FTS5"))
  func alter_failingOnTheWay_leavesTheOldSoup() throws {
    struct Stop: Error {}
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .fullText("b")]), store = temporary.store
    try store.upsert(#"[{"a":"one","b":"two"}]"#, into: "s")
    let schema = try store.rows("SELECT * FROM sqlite_master")
    for step in AlterStep.allCases {
      #expect(throws: Stop.self) {
        try store.alterSoup("s", indexSpecs: [.integer("c")], reIndexData: true) { if $0 == step { throw Stop() } }
      }
      #expect(try store.rows("SELECT * FROM sqlite_master") == schema, "\(step)")
      #expect(try store.unfinishedAlterations() == "[[0]]")
      #expect(try store.words() == #"[[1,"two"]]"#)
      try store.upsert(#"[{"a":"one","b":"two"}]"#, into: "s", by: "a")
    }
    #expect(try store.version(1, in: "s") == Int64(AlterStep.allCases.count + 1))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads the tables of FTS5"))
  func alter_meanwhile_readersSeeTheOldSoup() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .fullText("b")]), store = temporary.store
    let other = try temporary.another()
    defer { other.close() }
    try store.upsert(#"[{"a":"one","b":"two"}]"#, into: "s")
    var seen: [String] = []
    try store.alterSoup("s", indexSpecs: [.string("b"), .string("c")], reIndexData: true) { _ in
      for reader in [store, other] {
        seen.append(try reader.rows("SELECT {s:a} FROM {s}") + (try reader.words()))
        #expect(try reader.indexSpecs(ofSoup: "s") == [.string("a"), .fullText("b")])
      }
    }
    #expect(seen.count == 14 && Set(seen) == [#"[["one"]][[1,"two"]]"#])
    for reader in [store, other] { #expect(try reader.rows("SELECT {s:b} FROM {s}") == #"[["two"]]"#) }
    try other.upsert(#"[{"b":"x"}]"#, into: "s", by: "b")
    #expect(try store.count(of: "s") == 2)
  }

  @Test func alter_betweenPagesOfASync_refusesTheNextPageClearly() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")]), store = temporary.store
    let plan = try store.readBlocking { try $0.pagePlan(soup: "s", idPath: "Id", ownedKeys: []) }
    let page = try plan.scan(ByteArrayPage(Array(#"[{"Id":"1"}]"#.utf8)), recordsKey: nil)
    try store.alterSoup("s", indexSpecs: [.string("Id"), .string("Name")], reIndexData: false)
    let error = failure {
      _ = try store.writeBlocking(.pulled) {
        try $0.storeRecords(page, in: "s", PageStorage(idPath: "Id", members: [:], keepDirty: false, owner: 1))
      }
    }
    #expect(error?.code == .invalidIndexSpec)
    #expect(error?.message == "the index specs of soup s were altered during the sync; run it again")
    #expect(try store.count(of: "s") == 0)
  }

  @Test func alter_duringALargeFirstLoad_endsItFirst() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")]), store = temporary.store
    try store.sync(#"[{"Id":"1"},{"Id":"1","n":2}]"#, into: "s", expecting: 50_000)
    try store.alterSoup("s", indexSpecs: [.string("Id"), .integer("n")], reIndexData: true)
    #expect(try store.rows("SELECT {s:Id}, {s:n} FROM {s}") == #"[["1",2]]"#)
    if TestEngine.isSQLite { #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"]]"#) }
  }

  @Test(arguments: [IndexType.string, .json1])
  func alter_sixTimes_keepsAThousandEntries(_ type: IndexType) throws {
    func specs(_ range: Range<Int>) -> [IndexSpec] { range.map { IndexSpec(path: "k\($0)", type: type) } }
    let temporary = try TemporaryStore(soup: "s", specs(0..<1)), store = temporary.store
    let fields = (0..<10).map { "\"k\($0)\":\"\(String(repeating: "v", count: 18))\($0)\"" }.joined(separator: ",")
    try store.upsert("[\(repeatElement("{\(fields)}", count: 1000).joined(separator: ","))]", into: "s")
    for range in [0..<2, 0..<5, 0..<10, 3..<7, 7..<10, 0..<1] {
      try store.alterSoup("s", indexSpecs: specs(range), reIndexData: true)
      for path in ["k\(range.lowerBound)", "k\(range.upperBound - 1)"] {
        let key = String(repeating: "v", count: 18) + path.dropFirst()
        #expect(
          try store.count(try spec(#"{"queryType":"exact","indexPath":"\#(path)","matchKey":"\#(key)"}"#), soup: "s") == 1000)
      }
    }
  }
}
