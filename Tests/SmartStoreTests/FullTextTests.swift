import JSON
import TestSupport
import Testing

@testable import SmartStore

extension IndexSpec {
  static func fullText(_ path: String) -> IndexSpec { IndexSpec(path: path, type: .fullText) }
}

extension Store {
  /// Returns the rows of the full-text table of `s`: rowid, then its columns.
  func words() throws -> String { try rows("SELECT rowid, * FROM {s}_fts ORDER BY rowid") }

  /// Returns the rows in which the full-text table of `s` differs from the soup.
  func strays(_ column: String) throws -> String {
    try rows(
      "SELECT 1 FROM (SELECT id, \(column) FROM {s} EXCEPT SELECT rowid, \(column) FROM {s}_fts) UNION ALL "
        + "SELECT 2 FROM (SELECT rowid, \(column) FROM {s}_fts EXCEPT SELECT id, \(column) FROM {s})")
  }
}

/// The full-text index, and its consistency with the entries.
@Suite(.enabled(if: TestEngine.isSQLite, "PostgreSQL has no FTS5 tables"))
struct FullTextTests {
  private func soup() throws -> TemporaryStore {
    try TemporaryStore(soup: "s", [.string("Id"), .fullText("a"), .json1("j"), .fullText("b.c")])
  }

  private func tables(_ store: Store) throws -> String {
    try store.rows(
      "SELECT name FROM sqlite_master WHERE name LIKE 'TABLE%fts%' AND name NOT LIKE '%fts\\_%' ESCAPE '\\' ORDER BY 1")
  }

  @Test func register_fullText_makesAnFTS5TableOfItsColumns() throws {
    let temporary = try soup(), store = temporary.store
    #expect(
      try store.rows("SELECT sql FROM sqlite_master WHERE name = 'TABLE_1_fts'")
        == #"[["CREATE VIRTUAL TABLE TABLE_1_fts USING fts5(TABLE_1_1, TABLE_1_3)"]]"#)
    #expect(try store.rows("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'") == "[[3]]")
    #expect(try store.indexNames() == #"[["TABLE_1_0_idx"],["TABLE_1_1_idx"],["TABLE_1_2_idx"],["TABLE_1_3_idx"]]"#)
    #expect(try store.indexSpecs(ofSoup: "s").map(\.type) == [.string, .fullText, .json1, .fullText])
  }

  @Test func removeSoup_fullText_dropsItsTablesAndTriggers() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"a":"x"}]"#, into: "s")
    try store.removeSoup("s")
    #expect(try store.rows("SELECT name FROM sqlite_master WHERE name LIKE '%fts%'") == "[]")
    try store.registerSoup("s", indexSpecs: [.fullText("a")])
    #expect(try store.words() == "[]")
  }

  @Test func upsert_new_fillsBothAlsoWithoutText() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(
      #"[{"Id":"1","a":"one two","b":[{"c":"x"},{"c":"y"}]},{"Id":"2"},{"Id":"3","a":true,"b":{"c":7}}]"#, into: "s")
    #expect(try store.words() == #"[[1,"one two","[\"x\",\"y\"]"],[2,null,null],[3,"true","7"]]"#)
    #expect(try store.rows("SELECT TABLE_1_1 FROM {s} ORDER BY id") == #"[["one two"],[null],["true"]]"#)
  }

  @Test func upsert_again_changesBoth() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"Id":"1","a":"old"},{"Id":"2","a":"stays"}]"#, into: "s")
    try store.upsert(#"[{"Id":"1","a":"new","b":{"c":"more"}}]"#, into: "s", by: "Id")
    #expect(try store.words() == #"[[1,"new","more"],[2,"stays",null]]"#)
    #expect(try store.rows("SELECT rowid FROM {s}_fts WHERE {s}_fts MATCH 'old'") == "[]")
    #expect(try store.rows("SELECT rowid FROM {s}_fts WHERE {s}_fts MATCH 'new'") == "[[1]]")
  }

  @Test func upsert_textUnchanged_leavesTheFullTextTableAlone() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"Id":"1","a":"x"}]"#, into: "s")
    let blocks = "SELECT count(*), max(id) FROM TABLE_1_fts_data"
    let before = try store.rows(blocks)
    try store.upsert(#"[{"Id":"1","a":"x","j":2,"b":{}}]"#, into: "s", by: "Id")
    #expect(try store.rows(blocks) == before)
    try store.upsert(#"[{"Id":"1","a":"y"}]"#, into: "s", by: "Id")
    #expect(try store.rows(blocks) != before)
  }

  @Test func upsert_failing_leavesNoWords() throws {
    let temporary = try soup(), store = temporary.store
    #expect(code { try store.upsert(#"[{"a":"lost"},{"a":"x","_soupEntryId":99}]"#, into: "s") } == .noSuchEntry)
    #expect(try store.words() == "[]")
  }

  @Test func patchAndRemove_keepBothInStep() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"a":"one"},{"a":"two"},{"a":"three"}]"#, into: "s")
    _ = try store.writeBlocking(.synced) { try $0.patch(2, in: "s", setting: ["a": "patched"]) }
    try store.remove([1, 77], from: "s")
    #expect(try store.words() == #"[[2,"patched",null],[3,"three",null]]"#)
    #expect(try store.strays("TABLE_1_1") == "[]")
  }

  @Test func clear_emptiesBothAndGoesOn() throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"a":"one"},{"a":"two"}]"#, into: "s")
    try store.clearSoup("s")
    #expect(try store.words() == "[]")
    try store.upsert(#"[{"a":"three"}]"#, into: "s")
    #expect(try store.words() == #"[[3,"three",null]]"#)
  }

  @Test func sync_pages_fillBothAndFindAtOnce() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"1","a":"alpha"},{"Id":"2","a":"beta"}]"#, into: "s")
    try store.sync(#"[{"Id":"2","a":"gamma"},{"Id":"3","a":"delta"}]"#, into: "s")
    #expect(try store.words() == #"[[1,"alpha",null],[2,"gamma",null],[3,"delta",null]]"#)
  }

  @Test func sync_largeFirstLoad_fillsTheWordsAtItsEnd() throws {
    let temporary = try soup(), store = temporary.store
    try store.sync(#"[{"Id":"1","a":"alpha"},{"Id":"2","a":"beta"}]"#, into: "s", expecting: 50_000)
    #expect(try store.words() == "[]", "found nothing yet, and no error")
    try store.sync(#"[{"Id":"2","a":"again"},{"Id":"3"}]"#, into: "s", expecting: 50_000)
    try store.finishBulkLoad("s")
    #expect(try store.words() == #"[[1,"alpha",null],[3,"again",null],[4,null,null]]"#)
    try store.upsert(#"[{"Id":"1","a":"edited"}]"#, into: "s", by: "Id")
    #expect(try store.rows("SELECT rowid FROM {s}_fts WHERE {s}_fts MATCH 'edited'") == "[[1]]")
    #expect(try store.strays("TABLE_1_1") == "[]")
  }

  @Test func removeByMatch_moreThanAPage_leavesNoOrphansAndTouchesNoOther() throws {
    let temporary = try soup(), store = temporary.store
    let entries = (1...25).map { "{\"Id\":\"\($0)\",\"a\":\"\($0 % 2 == 0 ? "even" : "odd") number\"}" }
    try store.upsert("[\(entries.joined(separator: ","))]", into: "s")
    let odd = try spec(#"{"queryType":"match","indexPath":"a","matchKey":"odd","orderPath":"_soupEntryId","pageSize":5}"#)
    try store.removeEntries(matching: odd, from: "s")
    #expect(try store.count(odd, soup: "s") == 8)
    #expect(try store.rows("SELECT min(rowid), count(*) FROM {s}_fts WHERE {s}_fts MATCH 'odd'") == "[[11,8]]")
    #expect(try store.rows("SELECT count(*) FROM {s}_fts WHERE {s}_fts MATCH 'even'") == "[[12]]")
    #expect(try store.strays("TABLE_1_1") == "[]")
  }

  @Test(arguments: [
    ("goktug", #"[[1]]"#), ("GÖKTUĞ", "[[1]]"), ("서울", "[[2]]"), ("서*", "[[2]]"), ("two", "[[3]]"), (#""two words""#, "[[3]]"),
    (#""words two""#, "[]"),
  ])
  func match_anyScript_foldsCaseAndMarks(_ key: String, _ ids: String) throws {
    let temporary = try soup(), store = temporary.store
    try store.upsert(#"[{"a":"Göktuğ"},{"a":"서울 시"},{"a":"[two-words]"}]"#, into: "s")
    #expect(try store.rows("SELECT rowid FROM {s}_fts WHERE {s}_fts MATCH '\(key)'") == ids)
  }

  @Test func match_manyRows_findsTheRightOnes() throws {
    let temporary = try soup(), store = temporary.store, count = 1000
    let entries = (1...count).map { "{\"a\":\"word\($0) \($0 % 25 == 0 ? "many" : "few")\"}" }
    try store.upsert("[\(entries.joined(separator: ","))]", into: "s")
    #expect(try store.count(try spec(#"{"queryType":"match","indexPath":"a","matchKey":"word\#(count / 2)"}"#), soup: "s") == 1)
    #expect(try store.count(try spec(#"{"queryType":"match","matchKey":"many"}"#), soup: "s") == count / 25)
    #expect(
      try store.count(try spec(#"{"queryType":"match","matchKey":"word* NOT many"}"#), soup: "s") == count - count / 25)
  }
}
