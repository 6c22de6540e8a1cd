import JSON
import SandboxParse
import Testing

@testable import Parse

/// Tests that soups evaluate conditions and sort orders like the server.
struct SoupQueryWireTests {
  private static func rows(_ isbns: [String]) -> [JSONValue] {
    [
      ["title": "alpha", "year": 1999, "tags": ["x", "n0"], "isbn": pointer("ISBN", isbns[0]), "flag": true],
      ["title": "Beta", "year": 2000.5, "tags": ["x", "n1"], "isbn": pointer("ISBN", isbns[1]), "flag": false],
      ["title": "gamma\nsecond line", "year": -3, "tags": [], "stats": ["reads": 4, "deep": ["n": 1]]],
      ["title": "délta", "tags": ["y"], "stats": ["reads": 9, "list": [["n": 1], ["n": 2]]]],
      ["title": "de\u{301}lta", "year": 0, "at": ["__type": "Date", "iso": "2024-05-01T10:20:30.123Z"]],
      ["title": "😀 a.b*c", "year": 9_007_199_254_740_991, "at": ["__type": "Date", "iso": "2025-01-01T00:00:00.000Z"]],
      ["year": 1999, "tags": ["y", "z"], "title": .null], ["title": ""], [:],
    ]
  }

  private static func conditions(_ isbns: [String], _ ids: [String]) throws -> [ParseCondition] {
    let late: JSONValue = ["__type": "Date", "iso": "2024-06-01T00:00:00Z"]
    return [
      .always, .equal("title", "alpha"), .equal("title", ""), .equal("title", .null), .equal("year", 1999),
      .equal("year", 1999.0),
      .equal("tags", "x"), .equal("flag", true), .equal("flag", false), .equal("stats.reads", 4), .equal("stats.deep.n", 1),
      .equal("stats.list.n", 2), .equal("stats.list.0.n", 1), .equal("isbn", pointer("ISBN", isbns[0])),
      .equal("isbn", pointer("Other", isbns[0])), .notEqual("title", "alpha"), .notEqual("year", .null),
      .notEqual("tags", "x"), .notEqual("isbn", pointer("ISBN", isbns[0])), .less("year", than: 0), .atMost("year", 0),
      .greater("year", than: 1999), .atLeast("year", 1999), .greater("title", than: "a"), .less("title", than: "alpha"),
      .atMost("title", "délta"), .greater("at", than: late), .atMost("at", late), .less("tags", than: "y"),
      .greater("updatedAt", than: ParseCondition.date(0)), .isIn("title", ["alpha", "Beta", .null]), .isIn("year", [0, -3]),
      .isIn("tags", ["n1", "y"]), .isNotIn("title", ["alpha", .null]), .isNotIn("tags", ["x"]),
      .isIn("objectId", [.string(ids[2])]),
      .holdsAll("tags", ["x", "n1"]), .holdsAll("tags", ["y"]), .holdsAll("title", ["alpha"]),
      .isContained("tags", in: ["y", "z"]), .exists("title"), .exists("title", false), .exists("stats.deep"),
      .exists("tags", false),
      try .matches("title", "^[ab]", options: "i"), try .matches("title", "^second", options: "m"),
      try .matches("title", "gamma.second", options: "s"), try .matches("title", "e"), try .matches("tags", "^n"),
      .begins("title", with: "de"), .begins("title", with: "😀 a.b*"), .begins("tags", with: "n0"),
      .isIn("isbn", query: "ISBN", .equal("value", "i1")), .isNotIn("isbn", query: "ISBN", .equal("value", "i1")),
      .any([.equal("title", "alpha"), .less("year", than: 0)]), try .none([.exists("year"), .equal("title", "")]),
      .all([.exists("tags"), .notEqual("tags", "x")]),
    ]
  }

  @Test func conditions_findTheSameInASoupAsOnTheServer() async throws {
    try await ParseBench.with(soups: ["books", "isbns"]) { bench async throws in
      let isbns = try await bench.create("ISBN", count: 2) { ["value": .string("i\($0)")] }, rows = Self.rows(isbns)
      let ids = try await bench.create("Book", count: rows.count) { rows[$0] }
      try await bench.down("Book")
      try await bench.down("ISBN", soup: "isbns", name: "isbns")
      let client = try ParseClient(bench.connections.connection(named: "default"))
      let places = ["Book": SoupQuery.ClassSoups(soup: "books"), "ISBN": SoupQuery.ClassSoups(soup: "isbns")]
      for condition in try Self.conditions(isbns, ids) {
        let query = try ParseQuery("Book", condition)
        let there = Set(try await client.find(query).map(\.objectId))
        let here = Set(try SoupQuery(query, in: places).found(in: bench.store).objects.compactMap { $0["objectId"]?.stringValue })
        #expect(
          here == there,
          "\(condition.json.text): here \(here.map { ids.firstIndex(of: $0) ?? -1 }.sorted()), there \(there.map { ids.firstIndex(of: $0) ?? -1 }.sorted())"
        )
      }
      for order in [
        ["title"], ["-title"], ["year", "-objectId"], ["-year", "title"], ["at", "objectId"], ["stats.reads", "objectId"],
      ] {
        var query = try ParseQuery("Book")
        query.order = order + (order.contains { $0.hasSuffix("objectId") } ? [] : ["objectId"])
        let there = try await client.find(query).map(\.objectId)
        let here = try SoupQuery(query, in: places).found(in: bench.store).objects.compactMap { $0["objectId"]?.stringValue }
        #expect(here == there, "\(query.order)")
      }
    }
  }
}
