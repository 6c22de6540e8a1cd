import JSON
import TestSupport
import Testing

@testable import SmartStore

struct SmartSqlTests {
  private func convert(_ text: String) throws -> String {
    let employees = Soup(
      name: "employees", number: 1,
      specs: [
        .string("firstName"), IndexSpec(path: "lastName", type: .fullText), .string("deptCode"), .string("employeeId"),
        .string("managerId"),
        .integer("salary"),
        .json1("education"),
      ], bulkLoad: nil)
    let departments = Soup(
      name: "departments", number: 2, specs: [.string("deptCode"), .string("name"), .integer("budget")], bulkLoad: nil)
    return try SmartSql.convert(text, dialect: SQLiteDialect()) { ["employees": employees, "departments": departments][$0] }
  }

  @Test(arguments: [
    (
      "select {employees:firstName}, {employees:lastName} from {employees} order by {employees:lastName}",
      "select TABLE_1_0, TABLE_1_1 from TABLE_1 order by TABLE_1_1"
    ),
    (
      "select {departments:name}, {employees:firstName} || ' ' || {employees:lastName} from {employees}, {departments} where {departments:deptCode} = {employees:deptCode}",
      "select TABLE_2_1, TABLE_1_0 || ' ' || TABLE_1_1 from TABLE_1, TABLE_2 where TABLE_2_0 = TABLE_1_2"
    ),
    (
      "select mgr.{employees:lastName}, e.{employees:lastName} from {employees} as mgr, {employees} as e where mgr.{employees:employeeId} = e.{employees:managerId}",
      "select mgr.TABLE_1_1, e.TABLE_1_1 from TABLE_1 as mgr, TABLE_1 as e where mgr.TABLE_1_3 = e.TABLE_1_4"
    ),
    (
      "select {employees}.{employees:education} from {employees}", "select json_extract(TABLE_1.soup, '$.education') from TABLE_1"
    ),
    ("select {employees:education} from {employees}", "select json_extract(soup, '$.education') from TABLE_1"),
    (
      "select e.{employees:education} from {employees} e where not (mgr.{employees:education}=e.{employees:education})",
      "select json_extract(e.soup, '$.education') from TABLE_1 e where not (json_extract(mgr.soup, '$.education')=json_extract(e.soup, '$.education'))"
    ),
    (
      "select \"e\".{employees:address.city} from {employees} [e] where [e].{employees:x} = `e`.{employees:x}",
      "select json_extract(\"e\".soup, '$.address.city') from TABLE_1 [e] where json_extract([e].soup, '$.x') = json_extract(`e`.soup, '$.x')"
    ),
    (
      "select {employees:_soup}, {employees:_soupEntryId}, {employees:_soupCreatedDate}, {employees:_soupLastModifiedDate} from {employees}",
      "select TABLE_1.soup, TABLE_1.id, TABLE_1.created, TABLE_1.lastModified from TABLE_1"
    ),
    ("select e.{employees:_soupEntryId}, e.{employees:_soup} from {employees} e", "select e.id, e.soup from TABLE_1 e"),
    ("{employees}", "TABLE_1"), ("select * from {employees}_fts", "select * from TABLE_1_fts"),
    (
      "select 1 where x like 'Account(where: {Name: {eq: \"Jason\"}})'",
      "select 1 where x like 'Account(where: {Name: {eq: \"Jason\"}})'"
    ),
    ("select '{a:b}', {employees:salary}", "select '{a:b}', TABLE_1_5"),
    ("select ' { { { } } ' , {employees:salary}", "select ' { { { } } ' , TABLE_1_5"),
    ("select x like '{' and {employees:salary} = 1", "select x like '{' and TABLE_1_5 = 1"),
    ("select 'it''s {employees}', {employees:salary}", "select 'it''s {employees}', TABLE_1_5"),
    ("select json_set('{}', '$.x', {employees:salary})", "select json_set('{}', '$.x', TABLE_1_5)"),
    (
      "SELECT 'Account.JSON' FROM (SELECT 'Account'.{employees:lastName} as 'Account.JSON' FROM {employees} as 'Account')",
      "SELECT 'Account.JSON' FROM (SELECT 'Account'.TABLE_1_1 as 'Account.JSON' FROM TABLE_1 as 'Account')"
    ),
    ("x MATCH '{employees:lastName}:Haas'", "x MATCH 'TABLE_1_1:Haas'"),
    ("x match '{employees:lastName}:Haas'", "x match 'TABLE_1_1:Haas'"),
    ("select 1 -- {nothing}\n, {employees:salary}", "select 1 -- {nothing}\n, TABLE_1_5"),
    ("select 1 /*/ {nothing} */, {employees:salary}", "select 1 /*/ {nothing} */, TABLE_1_5"),
    ("select \"{x}\" -- {", "select \"{x}\" -- {"), ("select '{employees", "select '{employees"), ("{}", "{}"), ("{", "{"),
    ("", ""),
    ("select {employees:it's}", "select json_extract(soup, '$.it''s')"),
    ("select {employees:it'\u{301}s}", "select json_extract(soup, '$.it''\u{301}s')"),
    (
      "select \"a\"\"b\".{employees:x}, 'c'.{employees:x}",
      "select json_extract(\"a\"\"b\".soup, '$.x'), json_extract('c'.soup, '$.x')"
    ),
  ])
  func convert_text_becomesSql(_ text: String, _ sql: String) throws { #expect(try convert(text) == sql) }

  /// With a search to the end of the text for each brace this takes minutes.
  @Test func convert_megabyteOfOpenBraces_isReadOnce() throws {
    let sql = "select " + String(repeating: "{t ", count: 300_000), isSame = try convert(sql) == sql
    #expect(isSame)
  }

  /// With a search back to a bracket that is not there this takes minutes.
  @Test func convert_megabyteOfClosedBrackets_isReadOnce() throws {
    let sql = "select " + String(repeating: "].{employees:x} ", count: 60_000)
    #expect(try convert(sql).utf8.count > sql.utf8.count)
  }

  /// CTEs that name one another once each, a few twice, and recursive ones; names of columns count little.
  @Test(arguments: [
    "WITH c0 AS (SELECT 1 AS x)\((1...90).map { ", c\($0) AS (SELECT x FROM c\($0 - 1))" }.joined()) SELECT x FROM c90",
    "WITH c0 AS (SELECT 1 AS x)\((1...6).map { ", c\($0) AS (SELECT a.x FROM c\($0 - 1) a JOIN c\($0 - 1) b)" }.joined()) "
      + "SELECT x FROM c6",
    "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT c.x + 1 FROM c, (SELECT 1) WHERE c.x < 3) SELECT max(x) - 2 FROM c",
    "WITH x AS (SELECT 1 AS x), y AS (SELECT x AS y, x AS z FROM x) SELECT y FROM (WITH x AS (SELECT * FROM y) SELECT y FROM x)",
  ])
  func query_ofCTEs_isAnswered(_ sql: String) throws {
    let temporary = try employees()
    var rows: String?
    let refusal = code { rows = try temporary.store.rows(sql) }
    #expect(TestEngine.isSQLite ? rows == "[[1]]" : refusal == .notOnThisEngine, "\(rows ?? "") \(String(describing: refusal))")
  }

  @Test(arguments: [
    ("select * from {ghost}", "Unknown soup ghost at character 14"),
    ("select 'é', {ghost:a}", "Unknown soup ghost at character 12"),
    ("select { employees }", "Unknown soup  employees  at character 7"),
    ("select {employees:a:b}", "Invalid soup/path reference {employees:a:b} at character 7"),
    ("  insert into {employees} values (1)", "Only SELECT are supported"),
    ("UPDATE {employees} set x = 1", "Only SELECT are supported"),
    ("\tDelete from {employees}", "Only SELECT are supported"), ("replace into x", "Only SELECT are supported"),
    ("PRAGMA user_version", "Only SELECT are supported"), ("select 1\u{0}", "smart SQL contains a zero byte"),
  ])
  func convert_bad_saysWhy(_ text: String, _ message: String) {
    #expect(failure { _ = try convert(text) }?.message == message)
  }

  private func employees() throws -> TemporaryStore {
    let temporary = try TemporaryStore(
      soup: "e", [.string("name"), .integer("salary"), .floating("rate"), .json1("active"), .string("dept")])
    try temporary.store.registerSoup("d", indexSpecs: [.string("code")])
    try temporary.store.upsert(
      """
      [{"name":"Christine","salary":1000,"rate":5,"active":true,"dept":"","address":{"city":"Graz","zip":8010}},
       {"name":"Göktuğ","salary":2000,"rate":1.5,"active":false,"dept":null},
       {"name":"한글","salary":9007199254740993,"rate":0.1,"extra":{"a":[1]}}]
      """, into: "e")
    try temporary.store.upsert(#"[{"code":"x"}]"#, into: "d")
    return temporary
  }

  @Test(arguments: [
    ("SELECT count(*) FROM {e}", "[[3]]"), ("SELECT sum({e:salary}) FROM {e} WHERE {e:salary} < 5000", "[[3000]]"),
    ("SELECT {e:salary} FROM {e} WHERE {e:name} = '한글'", "[[9007199254740993]]"),
    ("SELECT {e:rate} FROM {e} ORDER BY 1", "[[0.1],[1.5],[5.0]]"),
    ("SELECT {e:name} FROM {e} WHERE {e:active} = 1", #"[["Christine"]]"#),
    ("SELECT {e:name} FROM {e} WHERE {e:active} = 0", #"[["Göktuğ"]]"#),
    ("SELECT {e:name} FROM {e} WHERE {e:dept} IS NULL ORDER BY {e:salary}", #"[["Göktuğ"],["한글"]]"#),
    ("SELECT {e:name} FROM {e} WHERE {e:dept} = \"\"", #"[["Christine"]]"#),
    ("SELECT {e:name} FROM {e} WHERE {e:name} LIKE '%ktuğ'", #"[["Göktuğ"]]"#),
    (
      "SELECT {e:address.city}, {e:address.zip}, {e:name}, {e:name} FROM {e} WHERE {e:address.zip} > 8000",
      #"[["Graz",8010,"Christine","Christine"]]"#
    ),
    ("SELECT {e:extra} FROM {e} WHERE {e:extra} IS NOT NULL", #"[["{\"a\":[1]}"]]"#),
    ("SELECT json_extract({e:_soup}, '$.extra.a[0]') x FROM {e} WHERE x = 1", "[[1]]"),
    ("SELECT {e:_soup} = 1 AS x, NULL, 1.0, 'a/\"\\' || char(10, 1) FROM {e} LIMIT 1", #"[[0,null,1.0,"a/\"\\\n\u0001"]]"#),
    ("SELECT value FROM json_each('[1,\"b\"]')", #"[[1],["b"]]"#),
    ("WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c WHERE x<3) SELECT x FROM c", "[[1],[2],[3]]"),
    ("SELECT soupName FROM soup_attrs ORDER BY 1", #"[["d"],["e"]]"#), ("SELECT '{oops' AS soup", #"[["{oops"]]"#),
    ("SELECT '{\"a\":1}' AS soup", #"[[{"a":1}]]"#), ("SELECT x'00ff'", "[[null]]"), ("SELECT 9e999, -9e999", "[[1e999,-1e999]]"),
    ("SELECT cast(x'41ff' AS text)", "[[\"A\u{fffd}\"]]"),
    ("SELECT cast(x'7b22ff223a317d' AS text) AS soup", "[[\"{\\\"\u{fffd}\\\":1}\"]]"),
    ("SELECT {e:salary}, count(*) FROM {e} WHERE {e:salary} < 3000 GROUP BY 1", "[[1000,1],[2000,1]]"),
  ])
  func query_smart_givesRows(_ sql: String, _ rows: String) throws {
    let temporary = try employees()
    if !TestEngine.isSQLite, Self.ofSQLiteAlone.contains(where: { sql.contains($0) }) {
      return #expect(code { _ = try temporary.store.rows(sql) } == .notOnThisEngine)
    }
    #expect(try temporary.store.rows(sql) == rows)
  }

  /// What PostgreSQL refuses in the statements above: infinite numbers, CAST, an alias in WHERE, table functions, blobs,
  /// functions that it lacks, texts in double quotes, and WITH.
  private static let ofSQLiteAlone = [
    "9e999", "cast(", "x = 1", "json_each", "x'00ff'", "char(10", "= \"\"", "WITH RECURSIVE",
  ]

  @Test func query_soupColumns_areEntries() throws {
    let temporary = try employees(), store = temporary.store
    let rows = try JSONValue(
      parsing: store.rows("SELECT {e:_soup}, {d:_soup}, {d:_soup} AS x FROM {e}, {d} ORDER BY {e:salary}", pageSize: 1))
    let row = try #require(rows.arrayValue?.first?.arrayValue)
    #expect(row[0]["name"] == "Christine")
    #expect(row[1]["code"] == "x")
    #expect(row[2].stringValue?.hasPrefix("{") == true)
  }

  @Test func query_star_hasTheTablesOrder() throws {
    let temporary = try employees(), store = temporary.store
    let row = try #require(JSONValue(parsing: store.rows("SELECT * FROM {e}", pageSize: 1)).arrayValue?.first?.arrayValue)
    #expect(row.count == 10)
    #expect(row[0] == 1)
    #expect(row[1]["name"] == "Christine")
    #expect(row[2] == row[3])
    #expect(Array(row[4...]) == ["Christine", 1000, 5.0, "", 1, nil], "columns, then the row's version and owner")
  }

  @Test func query_arguments_areBoundForPageAndCount() throws {
    let temporary = try employees(), store = temporary.store
    let spec = QuerySpec.smart(
      "SELECT {e:name} FROM {e} WHERE {e:salary} >= ? AND {e:name} <> ? ORDER BY 1", arguments: [1500, "한글"])
    #expect(try store.query(spec) == Array(#"[["Göktuğ"]]"#.utf8))
    #expect(try store.count(spec) == 1)
    #expect(try store.rows("SELECT ?, ?, ?, ?", [true, nil, 1.5]) == "[[1,null,1.5,null]]")
    #expect(code { _ = try store.rows("SELECT 1", [1]) } == .invalidQuerySpec)
    #expect(try store.count(.smart("SELECT 1 FROM {e} GROUP BY {e:dept}")) == 2)
  }

  @Test func query_textsThatOnlyLookAlike_areTwoQueries() throws {
    let temporary = try employees(), store = temporary.store
    #expect(try store.rows("SELECT length('\u{e9}')") == "[[1]]")
    #expect(try store.rows("SELECT length('e\u{301}')") == "[[2]]")
  }

  @Test(arguments: [
    "SELECT 1; DELETE FROM {e}", "SELECT 1) LIMIT 1; DELETE FROM {e} -- ", "WITH x AS (SELECT 1) DELETE FROM {e}",
    "WITH x AS (SELECT 1) INSERT INTO {e} (soup) VALUES ('')",
    "/* */ DELETE FROM {e}", "-- c\nDELETE FROM {e}", "REPLACE INTO {e} (id) VALUES (1)", "PRAGMA user_version = 5",
    "SELECT 1) UNION PRAGMA user_version",
    "ATTACH ':memory:' AS x", "SELECT load_extension('x')", "SELECT * FROM pragma_user_version(5)",
    "SELECT * FROM pragma_journal_mode('delete')",
    "VACUUM INTO '/nowhere'", "SELECT writefile('/nowhere', 'x')", "", "   ", ";", "SELECT", "SELECT * FROM nowhere",
    "SELECT 1; -- c\n SELECT 2", "DROP TABLE {e}",
    "SELECT fts3_tokenizer('simple', x'00')", "BEGIN", "EXPLAIN SELECT 1", "SELECT {e:education}, {d:education} FROM {e}, {d}",
  ])
  func query_anythingButOneSelect_isRefused(_ sql: String) throws {
    let temporary = try employees(), store = temporary.store
    let refusals: [StoreError.Code?] = [.invalidSmartSql, .notReadOnly] + (TestEngine.isSQLite ? [] : [.notOnThisEngine])
    #expect(refusals.contains(code { _ = try store.rows(sql) }))
    #expect(refusals.contains(code { try store.removeEntries(matching: .smart(sql), from: "e") }))
    #expect(try store.rows("SELECT count(*) FROM {e}") == "[[3]]")
  }

  /// Parentheses next to one another do not count, nor do texts, names, comments and longer words.
  @Test(arguments: [
    nested("(", "1", ")", times: 100), String(repeating: "(1)", count: 1000), String(repeating: "(((", count: 33),
    "select '\(nested("(", "", "", times: 200))', \"\(nested("(", "", "", times: 200))\"",
    "-- \(nested("(", "", "", times: 200))\nselect 1 /* \(nested("select ", "", "", times: 2000)) */",
    nested("select 1 union all ", "select 1", "", times: 999), nested("(select 1), (values (1)), ", "1", "", times: 500),
    nested("selected, values_, \u{e9}select, a1values, ", "1", "", times: 1000), String(repeating: ")", count: 200),
  ])
  func convert_withinTheLimitsOfNesting_isFine(_ sql: String) throws { #expect(try convert(sql) == sql) }

  @Test(arguments: [
    nested("(", "1", ")", times: 101), nested("(", "", "", times: 101), "'(' \(nested("(", "1", ")", times: 101))",
    ")))\(nested("(", "1", ")", times: 101))", nested("SELECT 1 UNION ALL ", "VALUES (1)", "", times: 1000),
    nested("values(1)union select 1,", "", "", times: 501),
    nested("(\(nested("select 1 union all ", "select 1", "", times: 498)) union all ", "select 1", ")", times: 3),
  ])
  func convert_beyondTheLimitsOfNesting_isRefused(_ sql: String) { #expect(code { _ = try convert(sql) } == .queryLimit) }

  private static func nested(_ before: String, _ inner: String, _ after: String, times: Int) -> String {
    String(repeating: before, count: times) + inner + String(repeating: after, count: times)
  }

  @Test func query_everyCharacter_comesBack() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("a"), .json1("b")])
    let text = String(String.UnicodeScalarView((1...0x3e7).compactMap { UnicodeScalar($0) }))
    let value = JSONValue.string(text)
    try temporary.store.upsert(JSONValue.array([["a": value, "b": value]]).text, into: "s")
    #expect(try JSONValue(parsing: temporary.store.rows("SELECT {s:a}, {s:b} FROM {s}")) == [[value, value]])
  }
}
