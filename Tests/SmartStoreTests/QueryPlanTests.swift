import TestSupport
import Testing

@testable import SmartStore

/// How an engine runs smart SQL, and what would spare it a scan.
struct QueryPlanTests {
  private func plan(_ sql: String) throws -> SmartQueryPlan {
    let place = try TemporaryStore()
    defer { place.store.close() }
    try place.store.registerSoup("contacts", indexSpecs: [.string("Id"), .string("LastName")])
    try place.store.registerSoup("accounts", indexSpecs: [.string("Id")])
    return try place.store.queryPlan(QuerySpec.smart(sql, pageSize: 1))
  }

  @Test(
    arguments: [
      ("SELECT {contacts:Id} FROM {contacts} WHERE {contacts:Title} = 'Nurse'", [("contacts", ["Title"])]),
      ("SELECT {contacts:Title} FROM {contacts}", [("contacts", [])]),
      (
        "SELECT count(*) FROM {contacts} AS c WHERE c.{contacts:Email} LIKE '%x' ORDER BY c.{contacts:Title}",
        [("contacts", ["Email", "Title"])]
      ),
      ("SELECT {contacts:Title} FROM {contacts} WHERE {contacts:_soup} LIKE '%where {contacts:Phone}%'", [("contacts", [])]),
      ("SELECT {contacts:Id} FROM {contacts} WHERE {contacts:LastName} = 'Silva' AND {contacts:Title} = 'Nurse'", []),
      ("SELECT 1 FROM {contacts} c, {accounts} a WHERE a.{accounts:Id} = c.{contacts:AccountId}", [("contacts", ["AccountId"])]),
    ] as [(String, [(String, [String])])])
  func plan_ofAStatement_namesScansAndPaths(sql: String, scans: [(String, [String])]) throws {
    guard TestEngine.isSQLite else { return }
    let found = try plan(sql)
    #expect(found.scans == scans.map { SmartQueryPlan.Scan(soupName: $0.0, paths: $0.1) }, "\(found)")
    #expect(!found.steps.isEmpty && found.steps.allSatisfy { !$0.text.contains("TABLE_") }, "\(found.steps)")
  }

  @Test(arguments: ["DELETE FROM {contacts}", "SELECT", "EXPLAIN SELECT 1", "SELECT * FROM {nowhere}", "PRAGMA user_version = 7"])
  func plan_ofWhatIsNoRead_isRefused(sql: String) throws { #expect(throws: StoreError.self) { try plan(sql) } }

  @Test func clauses_knowAliasesAndQuotes() {
    let clauses = SmartSqlClauses(
      "select {a:x}, '{b:no} where' from {a} as one join {b} two on one.{a:id} = two.{b:id} where \"q\" > (select {b:z} from {b} where {b:w} = 1)"
    )
    #expect(clauses.soups.map(\.name) == ["one", "two", "b"] && clauses.soups.map(\.soup) == ["a", "b", "b"])
    #expect(clauses.deciding.map { "\($0.soup).\($0.path)" } == ["a.id", "b.id", "b.w"])
  }
}
