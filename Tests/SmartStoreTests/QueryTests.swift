import Database
import JSON
import TestSupport
import Testing

@testable import SmartStore

struct QueryTests {
  private func names() throws -> TemporaryStore {
    let temporary = try TemporaryStore(
      soup: "s", [.string("Name"), .string("Id"), .integer("n"), .json1("j"), .string("tags.t")])
    try temporary.store.upsert(
      """
      [{"Name":"Todd Stellanova","Id":"00300A","n":10,"j":10,"tags":[{"t":"grey"},{"t":"red"}]},
       {"Name":"Pro Bono Bonobo","Id":"00300B","n":9,"j":9,"tags":[{"t":"grey"}]},
       {"Name":"Robot","Id":"00300C","n":100,"j":"10"}]
      """, into: "s")
    return temporary
  }

  /// Each spec with the rows that it finds.
  @Test(arguments: [
    (#"{"queryType":"exact","indexPath":"Name","matchKey":"Robot"}"#, "C"),
    (#"{"queryType":"exact","indexPath":"Name","matchKey":"robot"}"#, ""),
    (#"{"queryType":"exact","indexPath":"Name"}"#, ""), (#"{"queryType":"exact","indexPath":"n","matchKey":null}"#, ""),
    (#"{"queryType":"exact","indexPath":"never.there","orderPath":"Name"}"#, ""),
    (#"{"queryType":"exact","indexPath":"Name","matchKey":"Robot "}"#, ""),
    (#"{"queryType":"exact","indexPath":"_soupEntryId","matchKey":"3"}"#, "C"),
    (#"{"queryType":"exact","indexPath":"n","matchKey":"100"}"#, "C"),
    (#"{"queryType":"exact","indexPath":"j","matchKey":10}"#, "A"),
    (#"{"queryType":"exact","indexPath":"j","matchKey":"10"}"#, "C"),
    (#"{"queryType":"exact","indexPath":"tags.t","matchKey":"[\"grey\"]"}"#, "B"),
    (#"{"queryType":"exact","indexPath":"tags[0].t","matchKey":"grey","orderPath":"Id"}"#, "AB"),
    (#"{"queryType":"range","orderPath":"Id","order":"descending"}"#, "CBA"),
    (#"{"queryType":"range","indexPath":"Id","endKey":"00300B","orderPath":"Name"}"#, "BA"),
    (#"{"queryType":"range","indexPath":"Id","beginKey":"00300B","orderPath":"Id"}"#, "BC"),
    (#"{"queryType":"range","indexPath":"n","beginKey":10,"endKey":100,"orderPath":"n"}"#, "AC"),
    (#"{"queryType":"range","indexPath":"n","beginKey":"10","endKey":"100","orderPath":"n"}"#, "AC"),
    (#"{"queryType":"range","indexPath":"j","beginKey":9,"endKey":10,"orderPath":"j"}"#, "BA"),
    (#"{"queryType":"range","indexPath":"n","orderPath":"n"}"#, "BAC"),
    (#"{"queryType":"like","indexPath":"Name","likeKey":"%ono%"}"#, "B"),
    (#"{"queryType":"like","indexPath":"Name","likeKey":"todd%"}"#, "A"),
    (#"{"queryType":"like","indexPath":"tags.t","likeKey":"%re_%","orderPath":"Id"}"#, "AB"),
    (#"{"queryType":"like","indexPath":"Name","likeKey":"x' OR 1=1 --"}"#, ""),
    (#"{"queryType":"exact","indexPath":"Name","matchKey":"x' OR 'a'='a"}"#, ""),
  ])
  func query_spec_findsEntries(_ text: String, _ ids: String) throws {
    let store = try names()
    let found = try JSONValue(parsing: store.store.found(text, in: "s")).arrayValue ?? []
    #expect(found.compactMap { $0["Id"]?.stringValue?.last }.map(String.init).joined() == ids)
    #expect(try store.store.count(try spec(text), soup: "s") == ids.count)
  }

  /// A boolean is a text in a string index, and a number in the others and in entries.
  @Test(arguments: [
    ("{s:on} = ?", [true], "a"), ("{s:on} = ?", [false], "b"), ("? = {s:on}", [true], "a"), ("{s:on} <> ?", [true], "b"),
    ("{s:on} IS NOT ?", [true], "bc"), ("{s:on} IN (?, ?)", [true, false], "ab"), ("{s:on} NOT IN ('x', ?)", [true], "b"),
    ("(lower({s:Id}) <> 'z') AND {s:on} /* is */ == -- not\n ?", [true], "a"), ("{s:j} = ?", [true], "a"),
    ("{s:n} = ?", [true], "a"), ("{s:free} = ?", [true], "a"), ("{s:on} = ? AND {s:j} = ?", [true, true], "a"),
    ("{s:j} = ? AND {s:on} = ?", [false, false], "b"),
  ])
  func smartQuery_booleanArgument_hasTheFormOfTheIndex(_ condition: String, _ arguments: [Bool], _ ids: String) throws {
    #expect(try found(condition, arguments) == ids)
  }

  @Test(
    .enabled(if: TestEngine.isSQLite, "numbered placeholders, and values of two types in one place"),
    arguments: [
      ("{s:on}=?2", [false, true], "a"), ("? AND {s:on} IS NOT NULL", [true], "ab"),
      ("'{s:on} = ?' <> {s:j} AND {s:on} = ?", [false], "b"), ("?1 = {s:on} OR ?1 = {s:j}", [true], "a"),
    ])
  func smartQuery_booleanArgumentByNumber_hasTheFormOfTheIndex(
    _ condition: String, _ arguments: [Bool], _ ids: String
  ) throws {
    #expect(try found(condition, arguments) == ids)
  }

  private func found(_ condition: String, _ arguments: [Bool]) throws -> String {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("on"), .json1("j"), .integer("n")])
    let store = temporary.store
    try store.upsert(
      """
      [{"Id":"a","on":true,"j":true,"n":true,"free":true},{"Id":"b","on":false,"j":false,"n":false,"free":false},{"Id":"c"}]
      """, into: "s")
    let spec = QuerySpec.smart(
      "SELECT {s:Id} FROM {s} WHERE \(condition) ORDER BY {s:Id}", arguments: arguments.map { .bool($0) })
    let rows = try JSONValue(parsing: store.query(spec)).arrayValue ?? []
    return rows.compactMap { $0.arrayValue?.first?.stringValue }.joined()
  }

  @Test func query_selectPaths_givesRows() throws {
    let temporary = try names(), store = temporary.store
    #expect(
      try store.found(
        #"{"queryType":"range","orderPath":"n","selectPaths":["Name","n","gone","tags.t","j","n"],"pageSize":2}"#, in: "s")
        == #"[["Pro Bono Bonobo",9,null,"[\"grey\"]",9,9],["Todd Stellanova",10,null,"[\"grey\",\"red\"]",10,10]]"#)
    #expect(
      try store.found(#"{"queryType":"range","orderPath":"n","selectPaths":["_soupEntryId"],"pageSize":1}"#, in: "s") == "[[2]]")
    #expect(
      try store.found(#"{"queryType":"exact","indexPath":"n","matchKey":9,"selectPaths":["_soup"]}"#, in: "s").hasPrefix(
        #"[[{"_soupEntryId":2"#))
  }

  @Test(arguments: [
    ("{}", "queryType"), (#"{"queryType":null}"#, "queryType"), (#"{"queryType":"all"}"#, "queryType"),
    (#"{"queryType":"exact","matchKey":"a"}"#, "indexPath"),
    (#"{"queryType":"like","indexPath":"a"}"#, "likeKey"), (#"{"queryType":"like","likeKey":"a"}"#, "indexPath"),
    (#"{"queryType":"range","beginKey":1}"#, "indexPath"), (#"{"queryType":"range","order":"up"}"#, "order"),
    (#"{"queryType":"range","pageSize":0}"#, "pageSize"), (#"{"queryType":"range","pageSize":-5}"#, "pageSize"),
    (#"{"queryType":"range","pageSize":1.5}"#, "pageSize"), (#"{"queryType":"range","pageSize":1e18}"#, "pageSize"),
    (#"{"queryType":"range","selectPaths":[]}"#, "selectPaths"), (#"{"queryType":"range","selectPaths":[1]}"#, "selectPaths"),
    (#"{"queryType":"smart"}"#, "smartSql"), (#"{"queryType":"smart","smartSql":3}"#, "smartSql"),
    (#"{"queryType":"range","args":[1]}"#, "args"), (#"{"queryType":"smart","smartSql":"x","args":[[]]}"#, "args"),
    (#"{"queryType":"exact","indexPath":"a","matchKey":[]}"#, "matchKey"),
    (#"{"queryType":"exact","indexpath":"a","matchKey":1}"#, "indexPath"),
    (#"{"queryType":"range","orderpath":"a"}"#, "orderPath"),
    (#"{"queryType":"match","indexPath":"a","matchKey":""}"#, "matchKey"),
  ])
  func spec_bad_namesTheField(_ text: String, _ field: String) throws {
    let error = failure { _ = try spec(text) }
    #expect(error?.code == .invalidQuerySpec)
    #expect(error?.message.contains("'\(field)'") == true)
  }

  @Test func query_specMadeByHand_isCheckedToo() throws {
    let temporary = try names(), store = temporary.store
    for size in [0, -1, .max, .min] {
      #expect(code { _ = try store.openCursor(.smart("SELECT 1", pageSize: size), soup: nil) } == .invalidQuerySpec)
    }
    #expect(code { _ = try store.query(QuerySpec(kind: .exact), soup: "s") } == .invalidQuerySpec)
    #expect(code { _ = try store.query(QuerySpec(kind: .range), soup: nil) } == .invalidQuerySpec)
    #expect(try store.query(.smart("SELECT 1", pageSize: 100), pageIndex: .max) == Array("[]".utf8))
  }

  @Test func namedRows_sizesBeyondAllRows_endNothing() async throws {
    let temporary = try names(), store = temporary.store
    await #expect(throws: StoreError.self) { try await store.namedRows(.smart("SELECT 1", pageSize: .max), pageIndex: 1) }
    let page = try await store.namedRows(.smart("SELECT 1 AS one", pageSize: 100), pageIndex: .max)
    #expect(page.text == Array("[]".utf8) && page.names == ["one"] && page.isLast)
  }

  /// Texts that fit into no row of an index of PostgreSQL, not even compressed, and differ in their last character.
  @Test func values_longerThanARowOfAnIndex_areFoundAndSorted() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .json1("j")]), store = temporary.store
    var random = SeededGenerator(state: 7)
    let long = (0..<3_000).map { _ in String(UnicodeScalar(UInt32.random(in: 0x4e00..<0x9fff, using: &random))!) }.joined()
    for end in ["b", "a"] { try store.upsert(#"[{"a":"\#(long)\#(end)","j":"\#(long)\#(end)"}]"#, into: "s", by: "a") }
    #expect(try store.ids(store.upsert(#"[{"a":"\#(long)a","j":"\#(long)a"}]"#, into: "s", by: "a")) == [2])
    for path in ["a", "j"] {
      #expect(try store.count(spec(#"{"queryType":"exact","indexPath":"\#(path)","matchKey":"\#(long)a"}"#), soup: "s") == 1)
      #expect(try store.count(spec(#"{"queryType":"range","indexPath":"\#(path)","beginKey":"\#(long)b"}"#), soup: "s") == 1)
      let sorted = #"{"queryType":"range","indexPath":"\#(path)","orderPath":"\#(path)","selectPaths":["_soupEntryId"]}"#
      #expect(try store.found(sorted, in: "s") == "[[2],[1]]")
    }
    try store.writeBlocking(.synced) { transaction in
      for end in ["a", "b"] {
        try transaction.noteAssignedId("id of \(end)", for: "local_\(long)\(end)", in: "s", now: 1)
        try transaction.keepSyncPage(long + end, Array("\"\(end)\"".utf8), of: 7)
      }
      try transaction.noteAssignedId("newer", for: "local_\(long)b", in: "s", now: 2)
      try transaction.forgetSyncPage(long + "a", of: 7)
    }
    #expect(try store.readBlocking { try $0.assignedId(for: "local_\(long)a", in: "s") } == "id of a")
    #expect(try store.readBlocking { try $0.assignedId(for: "local_\(long)b", in: "s") } == "newer")
    #expect(try store.readBlocking { try $0.syncPages(of: 7) } == [long + "b": "\"b\""])
    let keys = try store.keyValueStore(named: "long")
    for end in ["a", "b"] { try keys.put(Array(end.utf8), for: long + end) }
    #expect(try keys.get(long + "b") == Array("b".utf8) && keys.keys() == [long + "a", long + "b"])
  }

  @Test func spec_minimal_hasTheDefaults() throws {
    let spec = try spec(#"{"queryType":"range","pageSize":null,"order":null,"selectPaths":null}"#)
    #expect(spec.pageSize == 10)
    #expect(spec.order == .ascending)
    #expect(spec.selectPaths == nil)
  }

  @Test(
    .enabled(if: TestEngine.isSQLite, "reads SQLite's query plans"),
    arguments: [
      (#"{"queryType":"exact","indexPath":"Name","matchKey":"Robot"}"#, "SEARCH TABLE_1 USING INDEX TABLE_1_0_idx"),
      (#"{"queryType":"range","indexPath":"j","beginKey":1}"#, "SEARCH TABLE_1 USING INDEX TABLE_1_3_idx"),
      (#"{"queryType":"range","indexPath":"n","orderPath":"n"}"#, "SCAN TABLE_1 USING INDEX TABLE_1_2_idx"),
      (
        #"{"queryType":"exact","indexPath":"Name","matchKey":"a","selectPaths":["Name"]}"#,
        "SEARCH TABLE_1 USING COVERING INDEX TABLE_1_0_idx"
      ),
      (#"{"queryType":"exact","indexPath":"gone","matchKey":"a"}"#, "SCAN TABLE_1"),
    ])
  func query_indexedPath_usesItsIndex(_ text: String, _ plan: String) throws {
    let temporary = try names(), query = try spec(text)
    let sql = try temporary.store.readBlocking { snapshot in
      try SmartSql.convert(query.smartSql(soupName: "s"), dialect: SQLiteDialect()) { try snapshot.find($0) }
    }
    let connection = try Connection(store: temporary.path, mode: .readOnly)
    let statement = try connection.prepare("EXPLAIN QUERY PLAN \(sql)")
    #expect(try statement.step())
    #expect(statement.string(3).hasPrefix(plan))
  }

  @Test func cursor_pages_walkTheQuery() throws {
    let temporary = try TemporaryStore(soup: "s", [.integer("k")]), store = temporary.store
    try store.upsert("[" + (1...42).map { #"{"k":\#($0)}"# }.joined(separator: ",") + "]", into: "s")
    func page(_ text: [UInt8]) throws -> JSONObject { try #require(JSONValue(parsing: text).objectValue) }
    let first = try page(
      store.openCursor(try spec(#"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":20}"#), soup: "s"))
    #expect(
      first.keys == ["currentPageOrderedEntries", "cursorId", "currentPageIndex", "pageSize", "totalEntries", "totalPages"])
    #expect([first["currentPageIndex"], first["pageSize"], first["totalEntries"], first["totalPages"]] == [0, 20, 42, 3])
    let id = try #require(first["cursorId"]?.integerValue)
    for (asked, index, count, firstKey) in [(1, 1, 20, 21), (2, 2, 2, 41), (99, 2, 2, 41), (-3, 0, 20, 1), (Int64.max, 2, 2, 41)]
      as [(Int64, Int64, Int, Int64)]
    {
      let moved = try page(store.moveCursor(id, toPageIndex: asked))
      #expect(moved["currentPageIndex"] == .integer(index))
      #expect(moved["currentPageOrderedEntries"]?.arrayValue?.count == count)
      #expect(moved["currentPageOrderedEntries"]?.arrayValue?.first?["k"] == .integer(firstKey))
    }
    try store.remove(Array(5...42), from: "s")
    let shrunk = try page(store.moveCursor(id, toPageIndex: 1))
    #expect(shrunk["totalEntries"] == 42)
    #expect(shrunk["currentPageOrderedEntries"] == [])
    store.closeCursor(id)
    store.closeCursor(id)
    #expect(code { _ = try store.moveCursor(id, toPageIndex: 0) } == .noSuchCursor)
    #expect(failure { _ = try store.moveCursor(77, toPageIndex: 0) }?.message.contains("Invalid cursor id") == true)
  }

  @Test func cursor_emptyResult_isPageZeroOfNone() throws {
    let temporary = try TemporaryStore(soup: "s", [.integer("k")]), store = temporary.store
    let first = try JSONValue(parsing: store.openCursor(try spec(#"{"queryType":"range"}"#), soup: "s"))
    #expect(first["totalPages"] == 0)
    let moved = try JSONValue(parsing: store.moveCursor(try #require(first["cursorId"]?.integerValue), toPageIndex: 5))
    #expect(moved["currentPageIndex"] == 0)
    let second = try JSONValue(parsing: store.openCursor(.smart("SELECT count(*) FROM {s}"), soup: nil))
    #expect(second["currentPageOrderedEntries"] == [[0]])
    #expect(second["cursorId"] != first["cursorId"])
    try store.removeSoup("s")
    #expect(code { _ = try store.moveCursor(first["cursorId"]!.integerValue!, toPageIndex: 0) } == .noSuchSoup)
  }
}
