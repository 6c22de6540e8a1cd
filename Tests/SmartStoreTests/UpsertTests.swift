import JSON
import SmartStore
import TestSupport
import Testing

struct UpsertTests {
  @Test func upsert_newEntries_areStampedAndReturnedInOrder() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    let entries = try store.upsert(#"[{"a":"x"},{},{"a":"y","_soupLastModifiedDate":5,"_soupEntryId":null}]"#, into: "s")
    #expect(store.ids(entries) == [1, 2, 3])
    let stamps = entries.compactMap { $0["_soupLastModifiedDate"]?.integerValue }
    #expect(stamps.count == 3 && stamps.allSatisfy { $0 > 1_600_000_000_000 })
    #expect(entries[2].objectValue?.keys == ["_soupEntryId", "_soupLastModifiedDate", "a"])
    #expect(
      try store.rows("SELECT {s:_soupEntryId}, {s:_soupCreatedDate} = {s:_soupLastModifiedDate}, {s:a} FROM {s}")
        == #"[[1,1,"x"],[2,1,null],[3,1,"y"]]"#)
    #expect(try JSONValue(parsing: store.retrieve([1, 2, 3], from: "s")) == .array(entries))
  }

  @Test func upsert_byEntryId_replacesWhole() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"x","b":1},{"a":"y"}]"#, into: "s")
    let entry = try #require(store.upsert(#"[{"a":"z","_soupEntryId":1}]"#, into: "s").first)
    #expect(entry["b"] == nil)
    #expect(store.ids([entry]) == [1])
    #expect(try store.rows("SELECT {s:a} FROM {s} ORDER BY {s:_soupEntryId}") == #"[["z"],["y"]]"#)
    #expect(try store.rows("SELECT {s:_soupLastModifiedDate} >= {s:_soupCreatedDate} FROM {s}") == "[[1],[1]]")
    #expect(try store.version(1, in: "s") == 2)
    #expect(try store.version(2, in: "s") == 1)
  }

  @Test(arguments: ["\"1\"", "1.5", "true", "[]", "{}", "99999999999999999999"])
  func upsert_entryIdOfAnotherKind_isRefused(_ id: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"x"}]"#, into: "s")
    #expect(code { try store.upsert(#"[{"a":"new"},{"_soupEntryId":\#(id)}]"#, into: "s") } == .invalidEntry)
    #expect(try store.count(of: "s") == 1)
  }

  @Test func upsert_unknownEntryId_failsTheBatch() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"x"},{"a":"y"}]"#, into: "s")
    try store.remove([2], from: "s")
    let error = failure { try store.upsert(#"[{"a":"n"},{"a":"z","_soupEntryId":1},{"_soupEntryId":2}]"#, into: "s") }
    #expect(error?.code == .noSuchEntry)
    #expect(error?.message == "No entry with _soupEntryId 2 in soup s")
    #expect(try store.rows("SELECT {s:a} FROM {s}") == #"[["x"]]"#)
    #expect(try store.ids(store.upsert("[{}]", into: "s")) == [3], "an id is not given out twice")
    #expect(code { try store.upsert(#"[{"_soupEntryId":-1}]"#, into: "s") } == .noSuchEntry)
  }

  @Test func upsert_byExternalId_updatesAndCreates() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("n")]), store = temporary.store
    try store.upsert(#"[{"Id":"a","n":"1"},{"Id":"b","n":"2"}]"#, into: "s")
    let entries = try store.upsert(
      #"[{"Id":"b","n":"3","_soupEntryId":1},{"Id":"c","n":"4"},{"Id":"c","n":"5"}]"#, into: "s", by: "Id")
    #expect(store.ids(entries) == [2, 3, 3])
    #expect(try store.rows("SELECT {s:Id}, {s:n} FROM {s} ORDER BY 1") == #"[["a","1"],["b","3"],["c","5"]]"#)
    #expect(entries[0]["_soupEntryId"] == 2, "the id the entry brought does not count")
  }

  @Test(arguments: ["{}", #"{"Id":null}"#])
  func upsert_withoutExternalId_writesNothing(_ entry: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")]), store = temporary.store
    let error = failure { try store.upsert(#"[{"Id":"1"},\#(entry)]"#, into: "s", by: "Id") }
    #expect(error?.code == .missingExternalId)
    #expect(error?.message == "For upsert with external ID path 'Id', value cannot be empty for any entries.")
    #expect(try store.count(of: "s") == 0)
  }

  @Test func upsert_ambiguousExternalId_writesNothing() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("n")]), store = temporary.store
    try store.upsert(#"[{"Id":"a"},{"Id":"a"}]"#, into: "s")
    let error = failure { try store.upsert(#"[{"Id":"b"},{"Id":"a","n":"x"}]"#, into: "s", by: "Id") }
    #expect(error?.code == .ambiguousExternalId)
    #expect(error?.message.contains("are more than one soup elements where Id is") == true)
    #expect(try store.rows("SELECT {s:Id}, {s:n} FROM {s}") == #"[["a",null],["a",null]]"#)
  }

  @Test func upsert_externalPathNotIndexed_isRefused() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id")])
    let error = failure { try temporary.store.upsert(#"[{"n":1}]"#, into: "s", by: "n") }
    #expect(error?.code == .pathNotIndexed)
    #expect(error?.message == "s does not have an index on n")
  }

  /// A value finds only its own entry under each type of index.
  @Test(arguments: [
    (IndexType.json1, ["1", "1.9", "\"1\"", "\"a\\u00e9\\n\"", "\"x'y\"", "2.5e3", "-7"]),
    (.string, ["\"1\"", "\"a\\u00e9\\n\"", "\"x'y\"", "[1]", "{\"k\":\"a/b\"}", "true", "1.9", "2"]),
    (.integer, ["1", "2", "-5", "9223372036854775807", "9007199254740993"]), (.floating, ["1", "1.9", "-2.5", "1e300"]),
  ])
  func upsert_externalIdOfAnyKind_findsItsEntry(_ type: IndexType, _ values: [String]) throws {
    let temporary = try TemporaryStore(soup: "s", [IndexSpec(path: "k", type: type)]), store = temporary.store
    let text = "[" + values.map { #"{"k":\#($0)}"# }.joined(separator: ",") + "]"
    let first = try store.ids(store.upsert(text, into: "s", by: "k"))
    #expect(first == (1...Int64(values.count)).map { $0 })
    #expect(try store.ids(store.upsert(text, into: "s", by: "k")) == first)
    #expect(try store.count(of: "s") == values.count)
  }

  @Test(arguments: ["[1]", "{\"a\":1}"])
  func upsert_containerAsJson1ExternalId_isRefused(_ value: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.json1("k")])
    #expect(code { try temporary.store.upsert(#"[{"k":\#(value)}]"#, into: "s", by: "k") } == .missingExternalId)
  }

  @Test(arguments: [
    "", "[", "{}", "[1]", "[null]", #"[{"a":1}"#, #"[{"a":01}]"#, #"[{"a":NaN}]"#, "[{}] []", "[\"a\"]", "nonsense", "[{}, 3]",
  ])
  func upsert_notAnArrayOfObjects_writesNothing(_ text: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")])
    #expect(code { try temporary.store.upsert(text, into: "s") } == .invalidEntry)
    #expect(try temporary.store.count(of: "s") == 0)
  }

  @Test func upsert_escapedOwnKeys_cannotSmuggleInAStamp() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    let entries = try store.upsert(#"[{"\u005fsoupEntryId":null,"_soupLastModifiedDat\u0065":1,"a":"x"}]"#, into: "s")
    #expect(entries[0].objectValue?.keys == ["_soupEntryId", "_soupLastModifiedDate", "a"])
    #expect(try store.rows("SELECT json_extract({s:_soup}, '$._soupEntryId') FROM {s}") == "[[1]]")
  }

  @Test func upsert_emptyArray_isNothing() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")])
    #expect(try temporary.store.upsert("[ ]", into: "s") == [])
  }

  @Test func upsert_text_isKeptByteForByte() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    let members = #""a" : 1.50, "é":"\u00e9\/" ,"z":[ 1e2,{} ]"#
    try store.upsert("[{\(members)}]", into: "s")
    #expect(String(decoding: try store.retrieve([1], from: "s"), as: UTF8.self).hasSuffix(",\(members)}]"))
  }

  @Test func upsert_2048EntriesAndFields_work() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("f2047")]), store = temporary.store
    let many = "[" + (0..<2048).map { #"{"k":"\#($0)"}"# }.joined(separator: ",") + "]"
    #expect(try store.ids(store.upsert(many, into: "s")) == Array(1...2048))
    let wide = "[{" + (0..<2048).map { #""f\#($0)":\#($0)"# }.joined(separator: ",") + "}]"
    try store.upsert(wide, into: "s")
    try store.upsert(#"[{"k":"\#(String(repeating: "x", count: 65_536))"}]"#, into: "s")
    #expect(try store.rows("SELECT count(*) FROM {s} WHERE {s:f2047} = 2047 OR length({s:k}) = 65536") == "[[2]]")
  }

  @Test func retrieve_ids_inTheOrderAskedFor() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"1"},{"a":"2"},{"a":"3"}]"#, into: "s")
    let found = try JSONValue(parsing: store.retrieve([3, 99, 1], from: "s")).arrayValue ?? []
    #expect(store.ids(found) == [3, 1])
    #expect(try store.retrieve([], from: "s") == Array("[]".utf8))
  }

  @Test func remove_ids_unknownAreIgnored() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert(#"[{"a":"1"},{"a":"2"},{"a":"3"}]"#, into: "s")
    try store.remove([2, 2, 77, -1], from: "s")
    #expect(try store.rows("SELECT {s:a} FROM {s}") == #"[["1"],["3"]]"#)
  }

  @Test func removeEntries_query_takesItsFirstPageOnly() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a")]), store = temporary.store
    try store.upsert("[" + (1...25).map { #"{"a":"k\#($0 + 10)"}"# }.joined(separator: ",") + "]", into: "s")
    try store.removeEntries(matching: try spec(#"{"queryType":"range","indexPath":"a","orderPath":"a","pageSize":1}"#), from: "s")
    #expect(try store.rows("SELECT min({s:a}), count(*) FROM {s}") == #"[["k12",24]]"#)
    try store.removeEntries(matching: try spec(#"{"queryType":"like","indexPath":"a","likeKey":"k2%"}"#), from: "s")
    #expect(try store.count(of: "s") == 14)
    try store.removeEntries(matching: try spec(#"{"queryType":"exact","indexPath":"a","matchKey":"k12"}"#), from: "s")
    #expect(try store.count(of: "s") == 13)
    try store.removeEntries(matching: .smart("SELECT {s:_soupEntryId} FROM {s} WHERE {s:a} > 'k30'", pageSize: 100), from: "s")
    #expect(try store.rows("SELECT {s:a} FROM {s} ORDER BY 1 DESC", pageSize: 1) == #"[["k30"]]"#)
    #expect(code { try store.removeEntries(matching: .smart("SELECT {s:a} FROM {s}"), from: "s") } == .invalidSmartSql)
    #expect(code { try store.removeEntries(matching: .smart("DELETE FROM {s}"), from: "s") } == .notReadOnly)
  }
}
