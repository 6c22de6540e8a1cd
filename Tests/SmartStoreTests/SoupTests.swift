import JSON
import SmartStore
import TestSupport
import Testing

struct SoupTests {
  @Test(.enabled(if: TestEngine.isSQLite, "reads SQLite's schema"))
  func register_newSoup_makesTableColumnsAndIndexes() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    try store.registerSoup("first", indexSpecs: [.string("a"), .integer("b.c"), .json1("d"), .floating("e")])
    try store.registerSoup("second", indexSpecs: [.string("a")])
    #expect(try store.soupNames() == ["first", "second"])
    #expect(try store.indexSpecs(ofSoup: "first") == [.string("a"), .integer("b.c"), .json1("d"), .floating("e")])
    #expect(
      try store.rows("SELECT columnName, columnType FROM soup_index_map WHERE soupName = 'first' ORDER BY rowid")
        == #"[["TABLE_1_0","string"],["TABLE_1_1","integer"],["json_extract(soup, '$.d')","json1"],["TABLE_1_3","floating"]]"#)
    #expect(
      try store.rows("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'TABLE_1' ORDER BY name")
        == #"[["CREATE INDEX TABLE_1_0_idx ON TABLE_1 ( TABLE_1_0 )"],["CREATE INDEX TABLE_1_1_idx ON TABLE_1 ( TABLE_1_1 )"],"#
        + #"["CREATE INDEX TABLE_1_2_idx ON TABLE_1 ( json_extract(soup, '$.d') )"],"#
        + #"["CREATE INDEX TABLE_1_3_idx ON TABLE_1 ( TABLE_1_3 )"]]"#)
  }

  @Test func register_again_changesNothing() throws {
    let store = try TemporaryStore(soup: "s", [.string("a")])
    try store.store.upsert(#"[{"a":"x"}]"#, into: "s")
    try store.store.registerSoup("s", indexSpecs: [.integer("b")])
    #expect(try store.store.indexSpecs(ofSoup: "s") == [.string("a")])
    #expect(try store.store.count(of: "s") == 1)
    #expect(try store.store.rows("SELECT count(*) FROM soup_attrs") == "[[1]]")
    #expect(code { try store.store.registerSoup("s", indexSpecs: []) } == .invalidIndexSpec)
  }

  @Test(arguments: ["", "a{b", "a}b", "a:b", "{", "\u{0}"])
  func register_badName_isRefused(_ name: String) throws {
    let temporary = try TemporaryStore()
    #expect(code { try temporary.store.registerSoup(name, indexSpecs: [.string("a")]) } == .invalidSoupName)
    #expect(try temporary.store.soupNames() == [])
  }

  @Test func register_nameWithAZeroByte_saysSo() throws {
    let temporary = try TemporaryStore()
    let error = failure { try temporary.store.registerSoup("a\u{0}b", indexSpecs: [.string("a")]) }
    #expect(error?.message.hasPrefix("soup name 'a\\0b' contains a zero byte") == true, "\(error?.message ?? "")")
  }

  @Test(arguments: ["123This should-be a_valid.soup+name!?100", "'; DROP TABLE soup_attrs; --", "\"", "Göktuğ", " ", "select"])
  func register_freeFormName_works(_ name: String) throws {
    let temporary = try TemporaryStore(soup: name, [.string("a")])
    try temporary.store.upsert(#"[{"a":"x"}]"#, into: name)
    #expect(
      try temporary.store.found(#"{"queryType":"exact","indexPath":"a","matchKey":"x","selectPaths":["a"]}"#, in: name)
        == #"[["x"]]"#)
    #expect(try temporary.store.soupExists(name))
  }

  @Test func register_namesThatOnlyLookAlike_areTwoSoups() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    try store.registerSoup("\u{e9}", indexSpecs: [.string("a")])
    try store.upsert(#"[{"a":"composed"}]"#, into: "\u{e9}")
    #expect(try store.soupExists("e\u{301}") == false)
    try store.registerSoup("e\u{301}", indexSpecs: [.string("a")])
    #expect(try store.count(of: "e\u{301}") == 0)
    #expect(try store.count(of: "\u{e9}") == 1)
  }

  @Test(arguments: [
    [], [IndexSpec.string("")], [.string("a"), .integer("a")], [.string("a'b")], [.string("a\nb")],
    [.json1("a[")], [.string("ok"), .json1("")],
  ])
  func register_badSpecs_areRefused(_ specs: [IndexSpec]) throws {
    let temporary = try TemporaryStore()
    #expect(code { try temporary.store.registerSoup("s", indexSpecs: specs) } == .invalidIndexSpec)
    #expect(try temporary.store.soupExists("s") == false)
  }

  @Test func indexSpecs_badJSON_namesPositionAndWord() {
    func message(_ text: String) -> String? { failure { _ = try IndexSpec.list(JSONValue(parsing: text)) }?.message }
    #expect(
      message(#"[{"path":"a","type":"string"},{"path":"b","type":"text"}]"#)?.contains("index spec 2 (b): unknown type 'text'")
        == true)
    #expect(message(#"[{"type":"string"}]"#)?.contains("'path'") == true)
    #expect(message(#"[{"path":"a"}]"#)?.contains("'type'") == true)
    #expect(message(#"{}"#)?.contains("object") == true)
    #expect(message(#"[3]"#) != nil)
    #expect(
      message(#"[{"path":"a","Type":"string"}]"#) == "index spec 1: 'Type' is not known here; did you mean 'type'?")
    #expect(message(#"[{"path":"a","type":"strng"}]"#)?.hasSuffix("; did you mean 'string'?") == true)
    #expect(message(#"[{"path":"a","type":"string","columnName":"TABLE_1_0"}]"#) == nil)
  }

  @Test func remove_soup_takesEverythingWithIt() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")]), store = temporary.store
    try store.sync(#"[{"Id":"1"}]"#, into: "s", owner: 1)
    try store.sync(#"[{"Id":"1"}]"#, into: "s", owner: 2)
    try store.upsert(#"[{"Id":"1","__local__":true}]"#, into: "s", by: "Id")
    try store.writeBlocking(.synced) {
      try $0.journal([UploadRecord(entryId: 1, version: 1, syncId: 1, operation: .update, sentAt: 0)], in: "s")
    }
    try store.removeSoup("s")
    #expect(try store.soupExists("s") == false)
    for table in ["soup_attrs", "soup_index_map", "soup_members", "soup_bases", "uploads", "uploaded"] {
      #expect(try store.rows("SELECT count(*) FROM \(table)") == "[[0]]", "\(table)")
    }
    try store.removeSoup("s")
    try store.registerSoup("s", indexSpecs: [.string("b")])
    #expect(try store.count(of: "s") == 0)
    #expect(try store.rows("SELECT max(id) FROM soup_attrs") == "[[2]]", "a table's number is never used again")
  }

  @Test func clear_soup_keepsSpecsAndIdSequence() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"1"},{"a":"2"}]"#, into: "s")
    try store.clearSoup("s")
    #expect(try store.count(of: "s") == 0)
    #expect(try store.ids(store.upsert(#"[{"a":"3"}]"#, into: "s")) == [3])
    #expect(try store.indexSpecs(ofSoup: "s") == [.string("a")])
  }

  @Test func unknownSoup_everyCall_isAnError() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    #expect(code { try store.clearSoup("x") } == .noSuchSoup)
    #expect(code { _ = try store.indexSpecs(ofSoup: "x") } == .noSuchSoup)
    #expect(code { try store.upsert("[]", into: "x") } == .noSuchSoup)
    #expect(code { _ = try store.retrieve([1], from: "x") } == .noSuchSoup)
    #expect(code { try store.remove([1], from: "x") } == .noSuchSoup)
    #expect(code { try store.removeEntries(matching: .smart("select 1 as id"), from: "x") } == .noSuchSoup)
    #expect(code { _ = try store.openCursor(try spec(#"{"queryType":"range"}"#), soup: "x") } == .noSuchSoup)
    #expect(failure { try store.clearSoup("x") }?.message == "Soup: x does not exist")
    #expect(try store.soupExists("x") == false)
    try store.removeSoup("x")
  }

  @Test func register_afterRollback_isForgotten() throws {
    struct Stop: Error {}
    let temporary = try TemporaryStore(), store = temporary.store
    #expect(throws: Stop.self) {
      try store.writeBlocking(.synced) {
        try $0.registerSoup("s", [.string("a")])
        _ = try $0.create(["a": 1], in: "s")
        throw Stop()
      }
    }
    #expect(try store.soupExists("s") == false)
    #expect(code { try store.upsert("[]", into: "s") } == .noSuchSoup)
    try store.registerSoup("s", indexSpecs: [.string("a")])
    #expect(try store.ids(store.upsert(#"[{"a":"3"}]"#, into: "s")) == [1])
  }

  @Test func configuration_soups_areRegisteredOnce() throws {
    let text =
      #"{"soups":[{"soupName":"a","indexes":[{"path":"x","type":"string"}]},{"soupName":"b","indexes":[{"path":"y","type":"json1"}]}]}"#
    let temporary = try TemporaryStore(soup: "a", [.integer("old")])
    try StoreConfiguration(JSONFile(name: "userstore.json", text: Array(text.utf8))).apply(to: temporary.store)
    #expect(try temporary.store.soupNames() == ["a", "b"])
    #expect(try temporary.store.indexSpecs(ofSoup: "a") == [.integer("old")])
  }

  /// Each text with what its message must contain.
  @Test(arguments: [
    ("[]", ["object"]), (#"{"soups":3}"#, ["soups"]), (#"{}"#, ["soups"]), ("{\"soups\":[],\n\"soup\":1}", [":2", "'soup'"]),
    (#"{"soups":[{"indexes":[]}]}"#, ["soupName"]), (#"{"soups":[{"soupName":"s","index":[]}]}"#, ["'index'", "s"]),
    (#"{"soups":[{"soupName":"s","indexes":[]}]}"#, ["'indexes'", "(s)"]),
    (#"{"soups":[{"soupName":"s"}]}"#, ["'indexes'", "(s)"]),
    (#"{"soups":[{"soupName":"s","indexes":[{"path":"a","type":"x"}]}]}"#, ["'indexes'", "(s)", "'x'"]),
    (#"{"soups":[{"soupName":"a:b","indexes":[{"path":"a","type":"string"}]}]}"#, ["'soupName'", "a:b"]),
    (
      #"{"soups":[{"soupName":"s","indexes":[{"path":"a","type":"string"}]},{"soupName":"s","indexes":[{"path":"a","type":"string"}]}]}"#,
      ["'soupName'", "twice"]
    ),
  ])
  func configuration_bad_namesFileSoupAndKey(_ text: String, _ pieces: [String]) throws {
    let file = try JSONFile(name: "userstore.json", text: Array(text.utf8))
    let error = try #require(failure { _ = try StoreConfiguration(file) })
    #expect(error.code == .invalidConfiguration)
    for piece in pieces + ["userstore.json"] { #expect(error.message.contains(piece), "\(error.message)") }
  }

  @Test func register_pathOfTooManyNames_isRefused() throws {
    let temporary = try TemporaryStore(), store = temporary.store
    func path(_ names: Int) -> String { Array(repeating: "a", count: names).joined(separator: ".") }
    #expect(code { try store.registerSoup("s", indexSpecs: [.string(path(1001))]) } == .invalidIndexSpec)
    try store.registerSoup("s", indexSpecs: [.string(path(1000))])
    try store.upsert(#"[{"a":{"a":1}}]"#, into: "s")
    #expect(code { try store.alterSoup("s", indexSpecs: [.string(path(160_000))], reIndexData: false) } == .invalidIndexSpec)
  }
}
