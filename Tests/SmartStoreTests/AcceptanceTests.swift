import Foundation
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Behaviour of the Mobile SDK's stores that no other suite covers; `scripts/dev/acceptance` has
/// the whole list.
struct AcceptanceTests {
  @Test func soupExists_throughEveryChange_isRight() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    func exist(_ names: String...) throws {
      #expect(try store.soupNames() == names)
      for name in ["a", "b"] { #expect(try store.soupExists(name) == names.contains(name)) }
    }
    try exist()
    try store.registerSoup("b", indexSpecs: [.string("x")])
    try exist("b")
    try store.registerSoup("a", indexSpecs: [.string("x")])
    try exist("a", "b")
    try store.removeSoup("b")
    try exist("a")
    try store.registerSoup("b", indexSpecs: [.string("x")])
    try store.upsert(#"[{"x":"1"}]"#, into: "b")
    try store.removeAllSoups()
    try exist()
    guard TestEngine.isSQLite else { return }
    #expect(try store.rows("SELECT count(*) FROM sqlite_master WHERE name LIKE 'TABLE%'") == "[[0]]")
  }

  @Test func indexSpecs_equal_whenPathAndTypeAre() {
    #expect(IndexSpec(path: "a", type: .json1) == .json1("a"))
    #expect(IndexSpec.string("a") != .string("b"))
    #expect(IndexSpec.string("a") != .integer("a"))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "reads SQLite's schema"))
  func configuration_allTypes_makesTheirColumns() throws {
    let indexes = ["string", "integer", "floating", "json1", "full_text"].map { #"{"path":"\#($0)_path","type":"\#($0)"}"# }
      .joined(separator: ",")
    let soups = ["first", "second"].map { #"{"soupName":"\#($0)","indexes":[\#(indexes)]}"# }.joined(separator: ",")
    let temporary = try TemporaryStore(), text = #"{"soups":[\#(soups)]}"#
    try StoreConfiguration(JSONFile(name: "globalstore.json", text: Array(text.utf8))).apply(to: temporary.store)
    let columns = try temporary.store.rows("SELECT soupName, columnName FROM soup_index_map ORDER BY rowid")
    let wanted = [("first", 1), ("second", 2)].map { name, n in
      [
        #"["\#(name)","TABLE_\#(n)_0"],["\#(name)","TABLE_\#(n)_1"],["\#(name)","TABLE_\#(n)_2"]"#,
        #"["\#(name)","json_extract(soup, '$.json1_path')"],["\#(name)","TABLE_\#(n)_4"]"#,
      ].joined(separator: ",")
    }
    #expect(columns == "[\(wanted.joined(separator: ","))]")
  }

  @Test func storeNames_asStoresComeAndGo_tellWhatExists() throws {
    let folder = try TemporaryFolder()
    let registry = try TestEngine.registry(in: folder.path)
    defer { registry.close() }
    for isGlobal in [false, true] {
      #expect(try registry.storeNames(isGlobal: isGlobal) == [])
      let names = (1...7).map { "store\($0)" }
      for name in names { try registry.store(named: name, isGlobal: isGlobal).registerSoup("s", indexSpecs: [.string("a")]) }
      #expect(try registry.storeNames(isGlobal: isGlobal) == names)
      try registry.remove(named: "store4", isGlobal: isGlobal)
      #expect(try registry.storeNames(isGlobal: isGlobal) == names.filter { $0 != "store4" })
    }
    try registry.removeAll(isGlobal: false)
    #expect(try registry.storeNames(isGlobal: false) == [])
    #expect(try registry.storeNames(isGlobal: true).count == 6)
  }

  @Test func stores_ofTwoUsers_areApart() throws {
    let folder = try TemporaryFolder()
    let users = try ["first", "second"].map { try TestEngine.registry(in: folder.path, user: $0) }
    defer { for user in users { user.close() } }
    for (i, user) in users.enumerated() {
      let store = try user.store(named: "same")
      try store.registerSoup("s", indexSpecs: [.string("a")])
      for _ in 0...i { try store.upsert(#"[{"a":"x"}]"#, into: "s") }
    }
    #expect(try users.map { try $0.store(named: "same").count(of: "s") } == [1, 2])
    try users[0].removeAll(isGlobal: false)
    #expect(try users.map { try $0.storeNames(isGlobal: false).count } == [0, 1])
    #expect(try users[1].store(named: "same").count(of: "s") == 2)
  }

  @Test(.enabled(if: TestEngine.isSQLite, "asks SQLite"))
  func engine_hasWhatStoresNeed() throws {
    let temporary = try TemporaryStore()
    #expect(
      try temporary.store.rows("SELECT sqlite_compileoption_used('ENABLE_FTS5'), json_extract('{\"a\":1}', '$.a')") == "[[1,1]]")
  }

  /// A multi-byte character at each position around the block sizes in which files and buffers are
  /// read.
  @Test func upsert_wideCharacterAroundABlock_comesBack() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .json1("j")]), store = temporary.store
    for size in [4096, 8192, 65_536] {
      for before in (size - 90)...size {
        let text = String(repeating: "x", count: before) + "한é"
        let stored = try store.upsert(JSONValue.array([["k": .string(text)]]).text, into: "s", by: "k")
        let entry = try JSONValue(parsing: store.retrieve(store.ids(stored), from: "s")).arrayValue?.first
        #expect(entry?["k"]?.stringValue == text, "\(before)")
      }
    }
  }

  @Test func query_asEntriesArrive_countsItsPages() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    let all = try spec(#"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":8}"#)
    for batch in 1...32 {
      let fields = (0..<128).map { #""f\#($0)":"v\#($0)""# }.joined(separator: ",")
      try store.upsert("[" + (0..<8).map { #"{"k":"\#(batch)-\#($0)",\#(fields)}"# }.joined(separator: ",") + "]", into: "s")
      let cursor = try JSONValue(parsing: store.openCursor(all, soup: "s"))
      #expect(cursor["totalPages"] == .integer(Int64(batch)))
      #expect(cursor["currentPageOrderedEntries"]?.arrayValue?.count == 8)
      store.closeCursor(cursor["cursorId"]?.integerValue ?? 0)
    }
  }

  /// Entries of several widths under one or ten indexes, read in pages of several sizes: none is
  /// missed or read twice.
  @Test(arguments: [(1, 1, 20), (1, 1, 1000), (1, 10, 20), (10, 10, 20)] as [(Int, Int, Int)], [IndexType.string, .json1])
  func query_aThousandEntries_pagesHoldEachOnce(_ shape: (Int, Int, Int), _ type: IndexType) throws {
    let (indexes, fields, characters) = shape
    let temporary = try TemporaryStore(soup: "s", (0..<indexes).map { IndexSpec(path: "k\($0)", type: type) })
    let store = temporary.store
    for batch in 0..<10 {
      let entries = (0..<100).map { i -> JSONValue in
        let number = String(batch * 100 + i), value = String(repeating: "v", count: characters - number.count) + number
        return .object(JSONObject((0..<fields).map { ("k\($0)", .string(value)) }))
      }
      try store.upsert(JSONValue.array(entries).text, into: "s")
    }
    for (key, total) in [("%", 1000), ("%v77", 1), ("%7", 100), ("%v7_", 10), ("none", 0)] {
      for size in [1, 10, 100] where size > 1 || total <= 10 {
        let like = try spec(#"{"queryType":"like","indexPath":"k0","likeKey":"\#(key)","orderPath":"k0","pageSize":\#(size)}"#)
        #expect(try store.count(like, soup: "s") == total)
        var seen: Set<Int64> = []
        for page in 0..<(total + size - 1) / size {
          let entries = try JSONValue(parsing: store.query(like, soup: "s", pageIndex: page)).arrayValue ?? []
          seen.formUnion(store.ids(entries))
        }
        #expect(seen.count == total, "\(key) in pages of \(size)")
      }
    }
  }
}
