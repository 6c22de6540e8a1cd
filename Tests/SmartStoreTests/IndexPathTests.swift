import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Tests paths with characters that smart SQL and JSON paths read as something else: they work everywhere or are refused.
@Suite struct IndexPathTests {
  private func refusal(_ path: String, _ type: IndexType) throws -> StoreError? {
    let temporary = try TemporaryStore(), store = temporary.store
    let error = #expect(throws: StoreError.self) { try store.registerSoup("s", indexSpecs: [IndexSpec(path: path, type: type)]) }
    #expect(try !store.soupExists("s"))
    return error
  }

  @Test(arguments: ["a\"b", "a\\b", "a}b", "a{b", "\"a\"", "}"], [IndexType.string, .integer, .floating, .fullText])
  func registerSoup_pathWithAReservedCharacter_isRefusedByName(path: String, type: IndexType) throws {
    let error = try refusal(path, type)
    #expect(error?.code == .invalidIndexSpec && error?.message.contains("path '\(path)' of soup s") == true)
  }

  @Test(arguments: ["a\"b", "\"a", "a\".b", "\"a\"b", "a.b\"c\"", "\"\"", "a\\b", "\"a\\b\"", "a}b", "{a", "\"a}b\""])
  func registerSoup_json1PathWithAReservedCharacter_isRefused(path: String) throws {
    let error = try refusal(path, .json1)
    #expect(error?.code == .invalidIndexSpec && error?.message.contains(path) == true)
  }

  @Test(arguments: IndexType.allCases) func registerSoup_longPath_isRefused(type: IndexType) throws {
    let error = try refusal(String(repeating: "a", count: 2_000_000), type)
    #expect(error?.code == .invalidIndexSpec && (error?.message.utf8.count ?? .max) < 300)
    let temporary = try TemporaryStore(), path = String(repeating: "a", count: 10_000)
    try temporary.store.registerSoup("s", indexSpecs: [IndexSpec(path: path, type: type)])
    try temporary.store.upsert(#"[{"\#(path)":"1"}]"#, into: "s")
    #expect(try temporary.store.count(of: "s") == 1)
  }

  @Test(arguments: ["a:b", ":", "a:b:c", "dc:title", "\u{E9}", "a b", "a-b"])
  func path_withOtherCharacters_worksEverywhere(path: String) throws {
    let temporary = try TemporaryStore(soup: "s", [.string(path), .integer("n")]), store = temporary.store
    try store.upsert(JSONValue.array([.object([path: "val", "n": 1]), .object([path: "other", "n": 2])]).text, into: "s")
    var exact = QuerySpec(kind: .exact)
    (exact.indexPath, exact.matchKey) = (path, "val")
    #expect(try store.count(exact, soup: "s") == 1)
    #expect(try store.rows("SELECT {s:n} FROM {s} WHERE {s:\(path)} = 'val'") == "[[1]]")
    _ = try store.upsert(JSONValue.array([.object([path: "val", "n": 3])]).serialized(), into: "s", externalIdPath: path)
    #expect(try store.count(of: "s") == 2)
  }
}
