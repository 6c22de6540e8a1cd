import Database
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Entries that JSON's grammar allows but strict decoders reject, and foreign text in the file.
struct OddTextTests {
  /// Returns everything that a script can request, as text.
  private func pages(_ store: Store) throws -> [String] {
    [
      try store.found(#"{"queryType":"range","indexPath":"k","orderPath":"k"}"#, in: "s"),
      try store.rows("SELECT {s:_soup} FROM {s} ORDER BY 1"),
      String(decoding: try store.retrieve([1, 2, 3], from: "s"), as: UTF8.self),
    ]
  }

  @Test func upsert_halfASurrogatePair_isStoredAsTheReplacementCharacter() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .json1("j")]), store = temporary.store
    let answer = try store.upsert(Array(#"[{"k":"a\ud800","j":"\udc00b","\ud83d\ude00":"\\ud800"}]"#.utf8), into: "s")
    let kept = #""k":"a\ufffd","j":"\ufffdb","\ud83d\ude00":"\\ud800"}"#
    #expect(String(decoding: answer, as: UTF8.self).hasSuffix(kept + "]"))
    for page in try pages(store) { #expect(page.contains(kept)) }
    #expect(try store.rows("SELECT {s:k}, {s:j} FROM {s}") == "[[\"a\u{fffd}\",\"\u{fffd}b\"]]")
  }

  @Test func sync_recordWithHalfASurrogatePair_isStoredBesideTheOthers() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("Id"), .string("k")]), store = temporary.store
    try store.sync(#"[{"Id":"1","k":"x"},{"Id":"2","k":"\udbff"},{"Id":"3","k":"\ud83d\ude00"}]"#, into: "s")
    #expect(try store.rows("SELECT {s:k} FROM {s} ORDER BY {s:Id}") == "[[\"x\"],[\"\u{fffd}\"],[\"😀\"]]")
    #expect(try store.rows("SELECT {s:_soup} FROM {s}").contains(#""k":"\ufffd""#))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "writes into SQLite's file"))
  func page_textOfAnEarlierRelease_isReadWithTheOthers() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")]), store = temporary.store
    try store.upsert(#"[{"k":"1"},{"k":"2"},{"k":"3"}]"#, into: "s")
    let connection = try Connection(store: temporary.path, mode: .readWrite)
    defer { connection.close() }
    for odd in [#"{"k":"\ud800"}"#, #"{"k":1e400}"#, "{\"k\":", "", "no JSON", #"[1]"#] {
      try connection.run("UPDATE TABLE_1 SET soup = ? WHERE id = 2", [.text(odd)])
      for page in try pages(store) { #expect(try JSONValue(parsing: page).arrayValue?.count == 3, "\(odd) in \(page)") }
    }
    try connection.run("UPDATE TABLE_1 SET soup = NULL WHERE id = 2")
    for page in try pages(store) { #expect(try JSONValue(parsing: page).arrayValue?.count == 3, "\(page)") }
  }

  @Test func upsert_numberTooLargeForADouble_isKeptAsItCame() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k"), .integer("n"), .floating("f"), .json1("j")])
    let store = temporary.store
    try store.upsert(#"[{"k":1e400,"n":1e400,"f":-1e400,"j":1e400}]"#, into: "s")
    for page in try pages(store) { #expect(page.contains(#""k":1e400,"n":1e400,"f":-1e400,"j":1e400}"#), "\(page)") }
    let row = #"[["1e400",9223372036854775807,-1e999,1e999]]"#
    #expect(try store.rows("SELECT {s:k}, {s:n}, {s:f}, {s:j} FROM {s}") == row)
    _ = try store.writeBlocking(.synced) { try $0.patch(1, in: "s", setting: ["other": 1]) }
    #expect(try store.rows("SELECT {s:_soup} FROM {s}").contains(#""j":1e400"#))
  }
}
