import JSON
import TestSupport
import Testing

@testable import SmartStore

/// The exact smart SQL of a query spec: for a page, its rows, the count, and the ids.
struct QuerySpecSqlTests {
  private static let from = "FROM {employees} ", ordered = "ORDER BY {employees:lastName} ASC "

  /// Each spec with its condition.
  private static let specs = [
    (#"{"queryType":"range","indexPath":"lastName","orderPath":"lastName"}"#, ""),
    (
      #"{"queryType":"range","indexPath":"lastName","beginKey":"Bond","endKey":"Smith","orderPath":"lastName"}"#,
      "WHERE {employees:lastName} >= ? AND {employees:lastName} <= ? "
    ),
    (
      #"{"queryType":"range","indexPath":"lastName","beginKey":"Bond","orderPath":"lastName"}"#,
      "WHERE {employees:lastName} >= ? "
    ),
    (
      #"{"queryType":"range","indexPath":"lastName","endKey":"Smith","orderPath":"lastName"}"#, "WHERE {employees:lastName} <= ? "
    ),
    (
      #"{"queryType":"exact","indexPath":"lastName","matchKey":"Bond","orderPath":"lastName"}"#, "WHERE {employees:lastName} = ? "
    ),
    (
      #"{"queryType":"like","indexPath":"lastName","likeKey":"Bo%","orderPath":"lastName"}"#,
      "WHERE {employees:lastName} LIKE ? "
    ),
  ]

  @Test(arguments: specs) func smartSql_ofASpec_isTheModels(_ text: String, _ condition: String) throws {
    let query = try spec(text)
    #expect(query.smartSql(soupName: "employees") == "SELECT {employees:_soup} " + Self.from + condition + Self.ordered)
    #expect(query.countSmartSql(soupName: "employees") == "SELECT count(*) " + Self.from + condition)
    #expect(query.idsSmartSql(soupName: "employees") == "SELECT id " + Self.from + condition + Self.ordered)
    var rows = query
    rows.selectPaths = ["firstName", "lastName"]
    #expect(
      rows.smartSql(soupName: "employees")
        == "SELECT {employees:firstName}, {employees:lastName} " + Self.from + condition + Self.ordered)
  }

  @Test func smartSql_descendingAndUnordered_isTheModels() throws {
    let descending = try spec(#"{"queryType":"range","orderPath":"lastName","order":"descending"}"#)
    #expect(
      descending.smartSql(soupName: "employees")
        == "SELECT {employees:_soup} FROM {employees} ORDER BY {employees:lastName} DESC ")
    #expect(
      try spec(#"{"queryType":"range","order":"descending"}"#).smartSql(soupName: "employees")
        == "SELECT {employees:_soup} FROM {employees} ")
  }

  @Test func smartSql_ofASmartSpec_isWrapped() throws {
    let query = QuerySpec.smart("select {employees:salary} from {employees}")
    #expect(query.countSmartSql(soupName: "") == "SELECT count(*) FROM (select {employees:salary} from {employees})")
    #expect(query.idsSmartSql(soupName: "") == "SELECT id FROM (select {employees:salary} from {employees})")
  }
}
