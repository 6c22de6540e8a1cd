import JSON
import Testing

@testable import Parse

/// Tests which changes of an object one save sends.
struct ParseObjectTests {
  private func object(_ fields: JSONObject = ["items": [["n": 1], ["n": 5]], "o": ["a": 1]]) -> ParseObject {
    ParseObject("Book", objectId: "b1", fields)
  }

  @Test func elementOfAList_isChanged_andLaterOperationsKeepIt() {
    var book = object()
    book["items.0.n"] = 20
    #expect(book.changes == ["items.0.n": 20] && book["items"] == [["n": 20], ["n": 5]])
    book.add([["n": 8]], to: "items")
    #expect(book.changes == ["items": [["n": 20], ["n": 5], ["n": 8]]])
    book["items.2.n"] = 9
    #expect(book.changes == ["items": [["n": 20], ["n": 5], ["n": 9]]])
  }

  @Test func elementThatTheListLacks_leavesTheLocalList() {
    var book = object()
    book["items.7.n"] = 1
    book["items.x"] = 1
    #expect(book["items"] == [["n": 1], ["n": 5]])
  }

  @Test func partAfterAnOperation_sendsTheWholeColumn() {
    var book = object()
    book.add([["n": 8]], to: "items")
    book["items.0.n"] = 2
    #expect(book.changes == ["items": [["n": 2], ["n": 5], ["n": 8]]])
    book["o"] = nil
    book["o.b"] = 2
    #expect(book.changes["o"] == ["b": 2])
  }

  @Test func partOfAPart_joinsTheOuterChange() {
    var book = object()
    book["o.p"] = ["x": 1]
    book["o.p.y"] = 2
    book.increment("o.p.y", by: 3)
    #expect(book.changes == ["o.p": ["x": 1, "y": 5]])
  }

  @Test func partOfAnUnknownList_thatAnOperationChanged_isRefusedByTheSave() throws {
    var book = object([:])
    book.add([1], to: "list")
    book["list.0"] = 2
    let name = try #require(book.changes["list"]?["__op"]?.stringValue)
    #expect(throws: ParseProblem.self) { try FieldOperation.check(name, on: "list") }
  }
}
