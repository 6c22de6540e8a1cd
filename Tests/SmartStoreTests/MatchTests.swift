import JSON
import TestSupport
import Testing

@testable import SmartStore

/// `match` queries: the syntax, the hits, and what is rejected.
@Suite(.enabled(if: TestEngine.isSQLite, "PostgreSQL refuses full-text queries"))
struct MatchTests {
  private func people() throws -> TemporaryStore {
    let temporary = try TemporaryStore(
      soup: "employees", [.fullText("firstName"), .fullText("lastName"), .string("employeeId"), .string("other")])
    try temporary.store.upsert(
      """
      [{"employeeId":"1","firstName":"Christine","lastName":"Haas"},{"employeeId":"2","firstName":"Michael","lastName":"Thompson"},
       {"employeeId":"3","firstName":"Ali","lastName":"Haas"},{"employeeId":"4","firstName":"John","lastName":"Geyer"},
       {"employeeId":"5","firstName":"Irving","lastName":"Stern"},{"employeeId":"6","firstName":"Eva","lastName":"Pulaski"},
       {"employeeId":"7","firstName":"Eileen","lastName":"Eva"},
       {"employeeId":"8","firstName":"Conan","lastName":"O'Brien-Smith"}]
      """, into: "employees")
    return temporary
  }

  private func match(_ key: String, path: String?, order: String) -> QuerySpec {
    var spec = QuerySpec(kind: .match)
    (spec.indexPath, spec.matchKey, spec.orderPath, spec.selectPaths) = (path, .string(key), order, ["firstName"])
    return spec
  }

  private func names(_ store: Store, _ spec: QuerySpec) throws -> String {
    let rows = try JSONValue(parsing: store.query(spec, soup: "employees")).arrayValue ?? []
    #expect(try store.count(spec, soup: "employees") == rows.count)
    return rows.compactMap { $0.arrayValue?.first?.stringValue }.joined(separator: " ")
  }

  @Test(arguments: [
    ("Christ*", "firstName", "employeeId", "Christine"), ("Ste*", "lastName", "employeeId", "Irving"),
    ("E* NOT Eva", "firstName", "employeeId", "Eileen"), ("Ei* NOT Eileen", "firstName", "employeeId", ""),
    ("nobody", "firstName", "employeeId", ""), ("nob*", "firstName", "employeeId", ""), ("Haas", "firstName", "employeeId", ""),
    ("Haas", "lastName", "employeeId", "Christine Ali"), ("Haas", "lastName", "firstName", "Ali Christine"),
    ("Eva OR Eileen", "firstName", "employeeId", "Eva Eileen"), ("haas", "lastName", "employeeId", "Christine Ali"),
    (#""Haas" OR ("Geyer")"#, "lastName", "employeeId", "Christine Ali John"),
    ("O'Brien", "lastName", "employeeId", "Conan"), ("O'Brien-Smith", "lastName", "employeeId", "Conan"),
    ("brien-smi*", "lastName", "employeeId", "Conan"), (#""brien smith""#, "lastName", "employeeId", "Conan"),
    (#""smith brien""#, "lastName", "employeeId", ""),
  ])
  func query_onePath_findsItsWordsOnly(_ key: String, _ path: String, _ order: String, _ expected: String) throws {
    let temporary = try people()
    #expect(try names(temporary.store, match(key, path: path, order: order)) == expected)
  }

  @Test(arguments: [
    ("Haas Christine", "employeeId", "Christine"), ("Haas NOT Christine", "employeeId", "Ali"),
    ("Eva", "employeeId", "Eva Eileen"),
    ("Eva", "lastName", "Eileen Eva"), ("Thompson OR Ali", "employeeId", "Michael Ali"), ("Christine Thompson", "employeeId", ""),
    ("Haas NOt Christine", "employeeId", ""), ("Eva OR Haas NOT Ali", "employeeId", "Christine Eva Eileen"),
    ("{employees:lastName}:Haas", "employeeId", "Christine Ali"), ("{employees:lastName}:Eva", "employeeId", "Eileen"),
    ("{employees:firstName}:Eva OR {employees:lastName}:Eva", "employeeId", "Eva Eileen"),
    ("{employees:lastName}:Eva OR Haas NOT Ali", "employeeId", "Christine Eileen"), ("O'Brien", "employeeId", "Conan"),
    ("haas and christine", "employeeId", ""), (#""{x} haas""#, "employeeId", ""),
  ])
  func query_allPaths_findsWordsOfAny(_ key: String, _ order: String, _ expected: String) throws {
    let temporary = try people()
    #expect(try names(temporary.store, match(key, path: nil, order: order)) == expected)
  }

  @Test func query_entries_areWhole() throws {
    let temporary = try people()
    let found = try JSONValue(
      parsing: temporary.store.found(#"{"queryType":"match","indexPath":"lastName","matchKey":"Stern"}"#, in: "employees"))
    #expect(found.arrayValue?.first?["employeeId"] == "5")
  }

  /// Words in arrays, in several columns, ordered by the text of an array.
  @Test(
    arguments: [
      ("small black", nil, "species", "cat lizard"), ("gr*", nil, "species", "dog elephant lizard"),
      ("black NOT tabby", nil, "species", "dog lizard"), ("gr* NOT small", nil, "species", "dog elephant"),
      ("grey", "coat.color", "coat.color", "elephant dog"), ("m* NOT small", "text", "species", "dog elephant"),
    ] as [(String, String?, String, String)])
  func query_arrayPath_findsItsElements(_ key: String, _ path: String?, _ order: String, _ expected: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("species"), .fullText("text"), .fullText("coat.color")])
    try temporary.store.upsert(
      """
      [{"species":"cat","text":"small and soft","coat":[{"color":"black"},{"color":"tabby"}]},
       {"species":"dog","text":"medium","coat":[{"color":"grey"},{"color":"black"}]},
       {"species":"elephant","text":"most massive","coat":[{"color":"ash grey"}]},
       {"species":"lizard","text":"small, mostly","coat":[{"color":"green"},{"color":"black"}]}]
      """, into: "s")
    var spec = QuerySpec(kind: .match)
    (spec.indexPath, spec.matchKey, spec.orderPath, spec.selectPaths) = (path, .string(key), order, ["species"])
    let rows = try JSONValue(parsing: temporary.store.query(spec, soup: "s")).arrayValue ?? []
    #expect(rows.compactMap { $0.arrayValue?.first?.stringValue }.joined(separator: " ") == expected)
  }

  @Test func smartSql_ofAMatch_isTheModels() throws {
    let select = "WHERE {s:_soupEntryId} IN (SELECT rowid FROM {s}_fts WHERE {s}_fts MATCH '{s:p}:abc AND {s:p}:def') "
    var query = try spec(#"{"queryType":"match","indexPath":"p","matchKey":"abc AND def","orderPath":"o"}"#)
    #expect(query.smartSql(soupName: "s") == "SELECT {s:_soup} FROM {s} " + select + "ORDER BY {s:o} ASC ")
    #expect(query.countSmartSql(soupName: "s") == "SELECT count(*) FROM {s} " + select)
    #expect(query.idsSmartSql(soupName: "s") == "SELECT id FROM {s} " + select + "ORDER BY {s:o} ASC ")
    query.selectPaths = ["a", "b"]
    #expect(query.smartSql(soupName: "s").hasPrefix("SELECT {s:a}, {s:b} FROM {s} WHERE"))
    query.matchKey = "it's"
    #expect(query.smartSql(soupName: "s").contains(#"MATCH '{s:p}:"it''s"')"#))
  }

  @Test(arguments: [
    ("abc", "{s:p}:abc"), ("abc AND def", "{s:p}:abc AND {s:p}:def"), ("abc or not def", "{s:p}:abc or not {s:p}:def"),
    ("(abc AND {s:q}:def) OR ghi", "({s:p}:abc AND {s:q}:def) OR {s:p}:ghi"), ("ab*", "{s:p}:ab*"),
    (#""a b" c"#, #"{s:p}:"a b" {s:p}:c"#), ("{s:q r}:x y", "{s:q r}:x {s:p}:y"), ("it's", #"{s:p}:"it's""#),
    ("two-wor*", #"{s:p}:"two-wor"*"#), ("", ""),
  ])
  func qualify_key_tiesEachTermToThePath(_ key: String, _ expected: String) {
    #expect(MatchKey.qualify(key, with: "{s:p}") == expected)
  }

  @Test func qualify_withoutPath_leavesPlainKeysAlone() {
    for key in ["abc AND def", "(abc AND {s:q}:def) OR ghi", #""a b" NOT c*"#, "NEAR(a b, 3)", "a:b", "^a + b"] {
      #expect(MatchKey.qualify(key, with: nil) == key)
    }
  }

  @Test(arguments: ["O'Brien", "-x AND", #"say "hi" (now"#, "NOT", "{s:p}:x", "a* b:c", "NEAR("])
  func quoteMatch_anyWords_areFoundAsTheyStand(_ words: String) throws {
    let temporary = try people(), store = temporary.store
    _ = try store.upsert(JSONValue.array([["firstName": .string("x \(words) y")]]).serialized(), into: "employees")
    for path in ["firstName", nil] {
      var query = QuerySpec(kind: .match)
      (query.indexPath, query.matchKey) = (path, .string(QuerySpec.quoteMatch(words)))
      #expect(try store.query(query, soup: "employees").count > 2, "\(words)")
    }
  }

  @Test func query_pathWithoutFullText_saysSo() throws {
    let temporary = try people(), store = temporary.store
    for path in ["other", "unknown", "_soupEntryId", "a b"] {
      let error = failure { _ = try store.query(match("x", path: path, order: "employeeId"), soup: "employees") }
      #expect(error?.code == .pathNotIndexed && error?.message == "employees does not have a full_text index on \(path)")
    }
    try store.registerSoup("plain", indexSpecs: [.string("a")])
    let none = failure { _ = try store.found(#"{"queryType":"match","matchKey":"x"}"#, in: "plain") }
    #expect(none?.code == .pathNotIndexed && none?.message == "soup plain has no full_text index")
  }

  @Test(arguments: [#""""#, #"" ""#, "null", #""a\u0000b""#])
  func spec_emptyKey_isRefused(_ key: String) {
    let error = failure { _ = try spec(#"{"queryType":"match","indexPath":"a","matchKey":\#(key)}"#) }
    #expect(error?.code == .invalidQuerySpec && error?.message.contains("matchKey") == true)
  }

  @Test(arguments: ["(", "\"open", "NOT x", "a AND", "-x", "x' OR 1=1", "'", "{nosoup:x}:a"])
  func query_brokenKey_isAnErrorAndNothingElse(_ key: String) throws {
    let temporary = try people(), store = temporary.store
    let error = failure { _ = try store.query(match(key, path: nil, order: "employeeId"), soup: "employees") }
    if key.contains("'") {
      #expect(error == nil, "an apostrophe is a character like any other")
    } else {
      #expect(error != nil)
    }
    #expect(try names(store, match("Stern", path: nil, order: "employeeId")) == "Irving")
  }

  @Test func smartQuery_match_joinsSoupAndWords() throws {
    let temporary = try people(), store = temporary.store
    #expect(
      try store.rows(
        "select {employees}.{employees:firstName} from {employees}, {employees}_fts f where f.rowid = {employees:_soupEntryId} "
          + "and {employees}_fts match '{employees:lastName}:haas' order by 1") == #"[["Ali"],["Christine"]]"#)
    #expect(
      try store.rows("SELECT rowid FROM {employees}_fts WHERE {employees}_fts MATCH ? ORDER BY rank", ["stern"]) == "[[5]]")
    #expect(
      failure { _ = try store.rows("SELECT 1 FROM {employees}_fts WHERE {employees}_fts MATCH '{employees:other}:x'") }?.code
        == .pathNotIndexed)
  }

  @Test(arguments: [
    "INSERT INTO {employees}_fts(employees_fts) VALUES ('delete-all')", "WITH x AS (SELECT 1) DELETE FROM {employees}_fts",
  ])
  func smartQuery_writingTheWords_isRefused(_ sql: String) throws {
    let temporary = try people()
    #expect(failure { _ = try temporary.store.rows(sql) }?.code != nil)
    #expect(try temporary.store.rows("SELECT count(*) FROM {employees}_fts") == "[[8]]")
  }
}
