import Database
import JSON
import SmartStore
import TestSupport
import Testing

/// LIKE with a fixed prefix uses an index; its results equal those of SQLite's own LIKE.
@Suite struct LikeTests {
  private static let names = [
    "Abc", "abc", "ABC", "aBcd", "Abd", "ab", "AB", "a", "", "b", "Ab_c", "ab%c", "Ab1x", "aB1X", "[ab", "Zoë", "zoë", "ZOË",
    "ab\u{301}c", "abC", "{x", "}x", "~x", "O'Hara", "o'hara", "robert", "Robert", "ROBERTA", "roBerto", "rob",
  ]

  private func filled() throws -> TemporaryStore {
    let temporary = try TemporaryStore()
    try temporary.store.registerSoup("s", indexSpecs: [.init(path: "Name", type: .string)])
    let entries = Self.names.map { JSONValue.object(["Name": .string($0)]) } + [["Other": 1], ["Name": 17]]
    _ = try temporary.store.upsert(JSONValue.array(entries).serialized(), into: "s")
    return temporary
  }

  @Test(arguments: [
    "Abc%", "ab%", "A%", "ab_", "ab_c", "aBc", "", "%b%", "_b%", "ab%c", "zo%", "zoë%", "{%", "}%", "~%", "o'h%", "robert%",
    "ROB%o",
    "1%", "a b%", "[A%", "r%",
  ])
  func query_likeKey_findsWhatLikeFinds(key: String) throws {
    let temporary = try filled(), store = temporary.store
    for order in QuerySpec.Order.allCases {
      var spec = QuerySpec(kind: .like)
      spec.indexPath = "Name"
      spec.orderPath = "Name"
      spec.likeKey = key
      spec.order = order
      spec.pageSize = 4
      let direction = order == .ascending ? "ASC" : "DESC"
      let smart = "SELECT {s:_soup} FROM {s} WHERE +{s:Name} LIKE ? ORDER BY {s:Name} \(direction), {s:_soupEntryId} \(direction)"
      let rows = try JSONValue(parsing: store.query(.smart(smart, arguments: [.string(key)], pageSize: 100)))
      let wanted = try #require(rows.arrayValue).map { $0.arrayValue?.first }
      var found: [JSONValue?] = []
      for page in 0..<10 {
        found += try #require(JSONValue(parsing: store.query(spec, soup: "s", pageIndex: page)).arrayValue)
      }
      #expect(found == wanted)
      #expect(try store.count(spec, soup: "s") == wanted.count)
    }
  }
}
