import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Filling index columns from the entries.
struct ReIndexTests {
  private func values(_ store: Store, _ path: String) throws -> String {
    try store.rows("SELECT {s:\(path)} FROM {s} ORDER BY {s:_soupEntryId}")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads the tables of FTS5"))
  func reIndex_onePathAtATime_fillsThatOne() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("name")]), store = temporary.store
    try store.upsert(
      #"[{"name":"A","address":{"city":"SF","street":"1 market"}},{"name":"B","address":{"city":"LA"}},{"name":"C"}]"#, into: "s")
    try store.alterSoup(
      "s", indexSpecs: [.string("name"), .string("address.city"), .fullText("address.street")], reIndexData: false)
    let stamps = try store.rows("SELECT created, lastModified, version FROM {s}")
    #expect(try values(store, "address.city") == "[[null],[null],[null]]")
    try store.reIndexSoup("s", paths: ["address.city"])
    #expect(try values(store, "address.city") == #"[["SF"],["LA"],[null]]"#)
    #expect(try values(store, "address.street") == "[[null],[null],[null]]")
    #expect(try store.words() == "[[1,null],[2,null],[3,null]]")
    try store.reIndexSoup("s", paths: ["address.street"])
    #expect(try values(store, "address.street") == #"[["1 market"],[null],[null]]"#)
    #expect(try store.count(try spec(#"{"queryType":"match","indexPath":"address.street","matchKey":"market"}"#), soup: "s") == 1)
    #expect(try store.rows("SELECT created, lastModified, version FROM {s}") == stamps)
    #expect(try values(store, "name") == #"[["A"],["B"],["C"]]"#)
  }

  @Test func reIndex_pathsWithoutColumn_areLeftOut() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .json1("j")]), store = temporary.store
    try store.upsert(#"[{"a":"x","j":1}]"#, into: "s")
    for paths in [[], ["j"], ["unknown", "a'b"], ["_soupEntryId"]] { try store.reIndexSoup("s", paths: paths) }
    try store.reIndexSoup("s", paths: ["unknown", "a"])
    #expect(try values(store, "a") == #"[["x"]]"#)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads the tables of FTS5"))
  func reIndex_wordsMissing_putsThemBack() throws {
    let temporary = try TemporaryStore(soup: "s", [.fullText("a")]), store = temporary.store
    try store.upsert(#"[{"a":"one"},{"a":"two"}]"#, into: "s")
    try store.writeBlocking(.synced) { try $0.connection.execute("DELETE FROM TABLE_1_fts WHERE rowid = 1") }
    try store.reIndexSoup("s", paths: ["a"])
    #expect(try store.words() == #"[[1,"one"],[2,"two"]]"#)
    try store.upsert(#"[{"_soupEntryId":2,"a":"three"}]"#, into: "s")
    #expect(try store.words() == #"[[1,"one"],[2,"three"]]"#)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "damages an entry in SQLite's file"))
  func reIndex_entryThatIsNoJSON_isSkipped() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"one"},{"a":"two"},{"a":"three"}]"#, into: "s")
    try store.writeBlocking(.synced) {
      try $0.connection.execute("UPDATE TABLE_1 SET TABLE_1_0 = NULL; UPDATE TABLE_1 SET soup = '{\"a\":]' WHERE id = 2")
    }
    try store.reIndexSoup("s", paths: ["a"])
    #expect(try values(store, "a") == #"[["one"],[null],["three"]]"#)
  }

  @Test func reIndex_manyLargeEntries_fillsAll() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    let long = String(repeating: "x", count: 20_000)
    for batch in 0..<3 {
      let entries = (0..<100).map { "{\"long\":\"\(long)\",\"n\":\(batch * 100 + $0)}" }
      try store.upsert("[\(entries.joined(separator: ","))]", into: "s")
    }
    try store.alterSoup("s", indexSpecs: [.string("a"), .integer("n")], reIndexData: false)
    try store.reIndexSoup("s", paths: ["n"])
    #expect(
      try store.rows("SELECT count({s:n}), min({s:n}), max({s:n}), sum({s:_soupEntryId} - {s:n}) FROM {s}") == "[[300,0,299,300]]"
    )
  }

  @Test func reIndex_systemPaths_areTheStampedValues() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"one"}]"#, into: "s")
    try store.alterSoup(
      "s", indexSpecs: [.integer("_soupLastModifiedDate"), .string("a")], reIndexData: true)
    #expect(try store.rows("SELECT TABLE_1_0 = lastModified FROM {s}") == "[[1]]")
  }
}
