import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Errors about queries, in the terms of their author.
struct QueryErrorTests {
  private func store() throws -> TemporaryStore {
    let temporary = try TemporaryStore(
      soup: "e", [.string("name"), .json1("j"), IndexSpec(path: "bio", type: .fullText)])
    try temporary.store.registerSoup("d", indexSpecs: [.string("code"), .json1("j")])
    try temporary.store.upsert(#"[{"name":"a","bio":"x y"}]"#, into: "e")
    return temporary
  }

  @Test(arguments: [
    ("SELEC {e:name} FROM {e}", #"smart SQL: near "SELEC": syntax error"#),
    ("SELECT {e:name} FROM {e} WHERE", "smart SQL: incomplete input"),
    ("SELECT {e:name}", "smart SQL: no such column: {e:name}"),
    ("SELECT a.{e:name} FROM {e} a, {e} b WHERE {e:name} = 'x'", "smart SQL: ambiguous column name: {e:name}"),
    ("SELECT {e:_soup} FROM {e} AS x", "smart SQL: no such column: {e:_soup}"),
    ("SELECT {e:_soupEntryId} FROM {d}", "smart SQL: no such column: {e:_soupEntryId}"),
    ("SELECT {d:code} FROM {e}", "smart SQL: no such column: {d:code}"),
    ("SELECT * FROM {e}_fts JOIN {d}_fts", nil), ("SELECT nope FROM {e}", "smart SQL: no such column: nope"),
    ("SELECT * FROM nowhere", "smart SQL: no such table: nowhere"), ("", "smart SQL: empty statement"),
    (" ; ", "smart SQL: empty statement"),
    ("SELECT nope({e:name}) FROM {e}", "smart SQL: no such function: nope"),
    ("SELECT 1) LIMIT 0,1 -- ", #"smart SQL: near ")": syntax error"#),
    (
      "SELECT {e:j} FROM {e}, {d}",
      "smart SQL: a path without a column of its own is ambiguous when soups are joined: write the soup or its alias in front, "
        + "as in {soup}.{soup:path}"
    ),
    (
      "SELECT {e:other}",
      "smart SQL: the soup of a path is not in FROM, or has an alias there: write it in front, as in a.{soup:path}"
    ),
    ("SELECT {e:name} FROM {e}; SELECT 1", "smart SQL contains more than one statement; the second one begins at character 26"),
    ("EXPLAIN SELECT 1", "smart SQL must be a SELECT, not an EXPLAIN"),
    ("SELECT * FROM {e}_fts WHERE {e}_fts MATCH 'AND'", #"smart SQL: fts5: syntax error near "AND""#),
  ])
  func smartSql_wrong_isToldInItsOwnWords(_ sql: String, _ message: String?) throws {
    let temporary = try store()
    if !TestEngine.isSQLite, sql.contains("MATCH") {
      return #expect(code { _ = try temporary.store.rows(sql) } == .notOnThisEngine)
    }
    for call in [{ _ = try temporary.store.rows(sql) }, { _ = try temporary.store.count(.smart(sql)) }] {
      let error = failure(call)
      #expect([.invalidSmartSql, .pathNotIndexed].contains(error?.code), "\(String(describing: error))")
      if let message { #expect(error?.message == message, "\(error?.message ?? "")") }
      #expect(error?.message.contains("TABLE_") == false)
      #expect(error?.sql == nil || error?.sql == sql, "the text that was given, nothing around it")
    }
  }

  @Test(arguments: [
    "SELECT {e:name} FROM {e} -- all of them", "SELECT {e:name} FROM {e};", "SELECT {e:name} FROM {e} ; -- done\n",
    "/* names */ SELECT {e:name} FROM {e} /* all */;;",
  ])
  func smartSql_commentOrSemicolonAtItsEnd_isFine(_ sql: String) throws {
    let temporary = try store()
    #expect(try temporary.store.rows(sql) == #"[["a"]]"#)
    #expect(try temporary.store.count(.smart(sql)) == 1)
  }

  @Test(arguments: [
    "-- c\nDELETE FROM {e}", "/* c */ UPDATE {e} SET soup = ''", "WITH x AS (SELECT 1) DELETE FROM {e}",
    "PRAGMA user_version = 3",
    "SELECT load_extension('x')",
  ])
  func smartSql_thatWouldWrite_isNotReadOnly(_ sql: String) throws {
    let temporary = try store()
    let error = failure { _ = try temporary.store.rows(sql) }
    #expect(error?.code == .notReadOnly)
    #expect(error?.message.hasPrefix("Only SELECT are supported") == true)
  }

  @Test func smartSql_unknownSoup_isNoSuchSoup() throws {
    let temporary = try store(), error = failure { _ = try temporary.store.rows("SELECT {nope:a} FROM {nope}") }
    #expect(error?.code == .noSuchSoup)
    #expect(error?.message == "Unknown soup nope at character 7")
  }

  @Test func removal_smartSqlWithoutIds_saysWhatToSelect() throws {
    let temporary = try store()
    let error = failure { try temporary.store.removeEntries(matching: .smart("SELECT {e:name} FROM {e}"), from: "e") }
    #expect(error?.code == .invalidSmartSql)
    #expect(error?.message.contains("{e:_soupEntryId}") == true)
    try temporary.store.removeEntries(matching: .smart("SELECT {e:_soupEntryId} FROM {e}; -- all"), from: "e")
    #expect(try temporary.store.count(of: "e") == 0)
  }

  @Test func arguments_moreThanPlaceholders_nameTheField() throws {
    let temporary = try store(), error = failure { _ = try temporary.store.rows("SELECT ?", [1, 2]) }
    #expect(error?.code == .invalidQuerySpec)
    #expect(error?.message == "query spec: 'args' has 2 values for 1 placeholders in the smart SQL")
  }

  @Test(.enabled(if: TestEngine.isSQLite, "PostgreSQL refuses full-text queries"))
  func match_badExpression_namesTheField() throws {
    let temporary = try store()
    let error = failure { _ = try temporary.store.found(#"{"queryType":"match","matchKey":"AND"}"#, in: "e") }
    #expect(error?.code == .invalidQuerySpec)
    #expect(error?.message.hasPrefix("query spec: 'matchKey': fts5: syntax error") == true, "\(String(describing: error))")
  }

  // MARK: Local flags

  @Test(arguments: ["__local__", "__locally_created__", "__locally_updated__", "__locally_deleted__"])
  func upsert_flagThatIsNoBoolean_isRefused(_ flag: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string("__local__")])
    for value in ["1", "0", #""true""#, "[]", "1.0"] {
      let error = failure { try temporary.store.upsert(#"[{},{"\#(flag)":\#(value)}]"#, into: "s") }
      #expect(error?.code == .invalidEntry)
      #expect(error?.message == "entry 2 for soup s: '\(flag)' must be true or false; it marks local changes")
    }
    #expect(try temporary.store.count(of: "s") == 0)
    for value in ["true", "false", "null"] { try temporary.store.upsert(#"[{"\#(flag)":\#(value)}]"#, into: "s") }
  }

  /// Files of earlier releases contain such flags, and no sync down may overwrite the edit.
  @Test(
    .enabled(if: TestEngine.isSQLite, "writes into SQLite's file what an earlier release wrote"),
    arguments: [IndexType.string, .integer, .json1, .floating, nil], ["1", #""1""#, #""true""#])
  func sync_entryMarkedWithOneByAnEarlierRelease_isKept(_ type: IndexType?, _ value: String) throws {
    let specs = [IndexSpec.string("Id")] + (type.map { [IndexSpec(path: "__local__", type: $0)] } ?? [])
    let temporary = try TemporaryStore(soup: "s", specs), store = temporary.store
    try store.upsert(#"[{"Id":"a","v":"mine"}]"#, into: "s")
    // An integer column holds no text.
    let isHeld = type == .string || type == .integer && value == "1"
    let column = isHeld ? ", TABLE_1_1 = json_extract('[\(value)]', '$[0]')" : type == .integer ? ", TABLE_1_1 = NULL" : ""
    try store.executeOnSeparateConnection("UPDATE TABLE_1 SET soup = json_set(soup, '$.__local__', json('\(value)'))\(column)")
    let outcome = try store.sync(#"[{"Id":"a","v":"theirs"}]"#, into: "s", overlay: ["__local__": false], keepDirty: true)
    #expect(outcome.keptDirty == 1)
    #expect(try store.rows("SELECT {s:v} FROM {s}") == #"[["mine"]]"#)
    #expect(try store.readBlocking { try $0.dirtyEntryIds(in: "s") } == [1])
  }
}
