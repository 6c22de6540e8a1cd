import Database
import JSON
import TestSupport
import Testing

@testable import SmartStore

/// Pages of unchecked entries, for readers that check them themselves.
@Suite struct RecordPageTests {
  private static func text(_ store: Store, _ query: String, asRecords: Bool = true) throws -> String {
    String(decoding: try store.openCursor(try spec(query), soup: "s", asRecords: asRecords), as: UTF8.self)
  }

  /// Creates a store of four entries, three of which are damaged in the file.
  private static func damaged() throws -> TemporaryStore {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    try temporary.store.upsert(#"[{"k":"a"},{"k":"b"},{"k":"c"},{"k":"d"}]"#, into: "s")
    let connection = try Connection(store: temporary.path, mode: .readWrite)
    defer { connection.close() }
    let texts = ["1": #"'{"k":'||'}'"#, "2": #"'{"a":1},{"b":2}'"#, "3": "'no entry'"]
    for (id, text) in texts { try connection.execute("UPDATE TABLE_1 SET soup = \(text) WHERE id = \(id)") }
    return temporary
  }

  @Test(.enabled(if: TestEngine.isSQLite, "damages entries in SQLite's file"))
  func cursor_asRecords_endsWithTheLengthsAndKeepsEveryByte() throws {
    let temporary = try Self.damaged()
    let entries = #"{"k":},{"a":1},{"b":2},"no entry",{"_soupEntryId":4,"#
    let text = try Self.text(temporary.store, #"{"queryType":"range"}"#)
    let whole = try temporary.store.retrieve([4], from: "s").count - 2
    #expect(text.hasPrefix(#"{"currentPageOrderedEntries":[\#(entries)"#))
    #expect(text.contains(#"],"cursorId":1,"currentPageIndex":0,"#))
    #expect(text.hasSuffix(#","totalEntries":4,"totalPages":1,"entryLengths":[6,15,10,\#(whole)]}"#))
  }

  @Test(.enabled(if: TestEngine.isSQLite, "damages entries in SQLite's file"))
  func cursor_asEntries_whatIsNoEntryIsText() throws {
    let temporary = try Self.damaged()
    let text = try Self.text(temporary.store, #"{"queryType":"range"}"#, asRecords: false)
    let page = try JSONValue(parsing: text)["currentPageOrderedEntries"]?.arrayValue
    #expect(page?.prefix(3) == [#"{"k":}"#, #"{"a":1},{"b":2}"#, "no entry"])
    #expect(page?.last?["k"] == "d")
  }

  @Test func cursor_asRecords_otherPagesAndQueriesToo() throws {
    let temporary = try TemporaryStore(soup: "s", [.string("k")])
    try temporary.store.upsert(#"[{"k":"a"},{"k":"bb"},{"k":"ccc"}]"#, into: "s")
    let first = try Self.text(temporary.store, #"{"queryType":"range","indexPath":"k","orderPath":"k","pageSize":2}"#)
    let second = String(decoding: try temporary.store.moveCursor(1, toPageIndex: 1, asRecords: true), as: UTF8.self)
    for text in [first, second] { #expect(text.contains(#","entryLengths":["#)) }
    #expect(try JSONValue(parsing: second)["currentPageOrderedEntries"]?.arrayValue?.first?["k"] == "ccc")
    let paths = try Self.text(temporary.store, #"{"queryType":"range","selectPaths":["k"]}"#)
    #expect(paths.hasPrefix(#"{"currentPageOrderedEntries":[["a"],["bb"],["ccc"]],"cursorId":2,"#))
    #expect(paths.hasSuffix(#""totalPages":1}"#))
    let none = try Self.text(temporary.store, #"{"queryType":"exact","indexPath":"k","matchKey":"none"}"#)
    #expect(none.hasPrefix(#"{"currentPageOrderedEntries":[],"cursorId":3,"#))
    #expect(none.hasSuffix(#""totalEntries":0,"totalPages":0}"#))
  }
}
