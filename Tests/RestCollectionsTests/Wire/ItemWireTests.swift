import Foundation
import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests the processing of items on their way into the soup.
struct ItemWireTests {
  // MARK: Which items

  @Test func items_missing_areAnErrorOrAnEmptyPage() async throws {
    let body = #"{"total_size":0,"start":0}"#
    try await CollectionBench.with { bench async throws in
      bench.server.with { $0.change = { answer, _ in answer.body = Array(body.utf8) } }
      let state = try await bench.down(["itemsPath": "entries"])
      #expect(state.status == .failed && state.error.contains("'itemsPath' (entries) has no value"), "\(state.error)")
      #expect(state.error.contains("total_size, start") && state.error.contains("'api' /items, page 1"))
      let empty = try await bench.down(["itemsPath": "entries", "itemsMissing": "empty"], name: "empty")
      #expect(empty.status == .done && empty.counts.pages == 1, "\(empty.error)")
    }
  }

  @Test(arguments: [204, 200]) func emptyList_withoutABodyOrNull_isDone(status: Int) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { $0.answers[1] = status == 204 ? .status(204) : .json("null") }
      let state = try await bench.down()
      #expect(state.status == .done && state.totalSize == 0 && state.progress == 100, "\(state.error)")
    }
  }

  @Test func where_itemsThatFailIt_areNotStoredAndCleanOnesGo() async throws {
    try await CollectionBench.with(rows: 40) { bench async throws in
      bench.server.with { $0.change(3, ["pull_request": ["url": "x"]]) }
      let target: JSONObject = [
        "where": [
          ["path": "pull_request", "exists": false], ["path": "name", "in": .array((1...39).map { .string("r\($0)") })],
        ]
      ]
      let first = try await bench.down(target)
      #expect(first.status == .done && first.counts.fetched == 38, "\(first.error)")
      #expect(try bench.entry(3) == nil)
      #expect(try bench.entry(40) == nil)
      try bench.edit(5, ["name": "mine"])
      bench.server.with { state in for id in [4, 5] { state.change(id, ["pull_request": 1]) } }
      let second = try await bench.again()
      #expect(second.counts.removed == 1 && second.status == .done)
      #expect(try bench.entry(4) == nil)
      #expect(try bench.entry(5)?["name"] == "mine")
    }
  }

  /// Items that one sync of the soup excludes must not be removed from another sync.
  @Test func where_rowOfAnotherSync_stays() async throws {
    try await CollectionBench.with(rows: 20) { bench async throws in
      for id in 1...20 { bench.server.with { $0.change(id, ["state": id <= 10 ? "open" : "closed"]) } }
      func target(_ state: String) -> JSONObject { ["where": [["path": "state", "in": [.string(state)]]]] }
      #expect(try await bench.down(target("open"), name: "open").counts.fetched == 10)
      #expect(try await bench.down(target("closed"), name: "closed").counts.fetched == 10)
      #expect(try bench.ids().count == 20)
      #expect(try await bench.again("open").counts.removed == 0)
      bench.server.with { $0.change(1, ["state": "closed"]) }
      #expect(try await bench.again("closed").status == .done)
      #expect(try await bench.again("open").status == .done)
      #expect(try bench.entry(1)?["state"] == "closed")
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func omit_pathsAreNeverStored() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      bench.server.with { state in
        for id in 1...3 { state.change(id, ["password": "canary", "self": ["secret": "canary", "keep": 1]]) }
      }
      #expect(try await bench.down(["omit": ["password", "self.secret", "owner"]]).status == .done)
      for entry in try bench.entries() {
        #expect(!entry.text.contains("canary") && entry["owner"] == nil && entry["self"] == ["keep": 1])
      }
    }
  }

  // MARK: Mapping

  @Test func map_nullMissingAndNested_differAndSurvive() async throws {
    try await CollectionBench.with { bench async throws in
      let body = """
        [{"id":1,"a":{"b":null},"old":"x","list":[{"n":1},{"n":2}]},{"id":2,"a":{},"old":null,"list":[]},{"id":3,"a":{"b":[1.50]}},
        {"id":{"no":1},"a":1},"text",{"name":"nobody"},{"id":4,"old":"y"}]
        """
      bench.server.with { $0.answers[1] = .json(body) }
      let state = try await bench.down(["map": ["flat": "a.b", "new": "old", "ns": "list[*].n"]])
      #expect(state.status == .done && state.counts.fetched == 4 && state.counts.flagged == 3, "\(state.error)")
      let entries = try bench.entries()
      #expect(entries.map { $0["flat"] } == [.null, nil, [1.5], nil])
      #expect(entries.map { $0["new"] } == ["x", .null, nil, "y"] && entries.allSatisfy { $0["old"] == nil })
      #expect(entries.map { $0["ns"] } == [[1, 2], [], nil, nil])
      #expect(try bench.store.rows("SELECT {rows:_soup} FROM {rows} WHERE {rows:id} = '3'").contains("1.50"), "as it was spelled")
      #expect(state.warnings.count == 3 && state.warnings.allSatisfy { $0.contains("page 1, item ") }, "\(state.warnings)")
      #expect(state.warnings.contains { $0.contains("item 6: the item has no id in 'id'") }, "\(state.warnings)")
    }
  }

  @Test func transform_error_flagsTheItemAlone_nilDropsIt() async throws {
    try await CollectionBench.with(rows: 40, transforms: Decorator()) { bench async throws in
      let state = try await bench.down(["transform": "repos.decorate"])
      #expect(state.status == .done && state.counts.flagged == 2 && state.counts.fetched == 37, "\(state.error)")
      #expect(state.warnings.contains { $0.contains("page 1, 7: repos.decorate failed: no language") }, "\(state.warnings)")
      #expect(try bench.entry(7) == nil)
      #expect(try bench.entry(8) == nil)
      #expect(try bench.entry(9) == nil, "its id was changed")
      #expect(try bench.entry(10)?["line"] == "r10!")
      #expect(state.totalSize == 37)
    }
  }

  @Test func transform_notThere_failsNamingIt() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      let state = try await bench.down(["transform": "repos.decorate"])
      #expect(state.status == .failed && state.error.contains("repos.decorate"), "\(state.error)")
    }
  }

  // MARK: Dates

  /// The soup stores the received text; the watermark is the instant that it stands for, in any
  /// time zone of the machine.
  @Test(arguments: [
    ("iso8601", "\"2024-02-29T23:59:59.123456+05:30\"", 1_709_231_399_123),
    ("iso8601", "\"2024-02-29T23:59:59Z\"", 1_709_251_199_000),
    ("iso8601", "\"2024-02-29T23:59:59\"", 1_709_251_199_000), ("epoch", "1709251199", 1_709_251_199_000),
    ("epoch", "1709251199.25", 1_709_251_199_250), ("epochMs", "\"1709251199001\"", 1_709_251_199_001),
    ("integer", "42", 42), ("rfc1123", "\"Thu, 29 Feb 2024 23:59:59 GMT\"", 1_709_251_199_000),
    ("yyyy-MM-dd'T'HH:mm:ss'Z'", "\"2024-02-29T23:59:59Z\"", 1_709_251_199_000),
    ("dd.MM.yyyy HH:mm:ss.SSSX", "\"29.02.2024 23:59:59.007-01:00\"", 1_709_254_799_007),
  ])
  func date_eachFormat_isStoredAsItCame(format: String, text: String, milliseconds: Int64) async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { $0.answers[1] = .json("[{\"id\":1,\"at\":\(text)}]") }
      let state = try await bench.down(["modificationDateField": "at", "dateFormat": .string(format)])
      #expect(state.status == .done && state.maxTimeStamp == milliseconds && state.counts.flagged == 0, "\(state.maxTimeStamp)")
      #expect(try bench.entries()[0].text.contains("\"at\":\(text)"))
    }
  }

  @Test func date_ofAnotherForm_flagsTheItemAndKeepsItsRow() async throws {
    try await CollectionBench.with(rows: 10) { bench async throws in
      let target: JSONObject = ["modificationDateField": "updated_at"]
      #expect(try await bench.down(target).status == .done)
      bench.server.with { state in
        state.change(4, ["updated_at": "Feb 29th", "name": "new"])
        state.change(5, ["updated_at": 17, "name": "new"])
        state.change(6, ["name": "new"])
      }
      let state = try await bench.again()
      #expect(state.status == .done && state.counts.flagged == 2 && state.counts.stored == 1, "\(state.error)")
      #expect(
        state.warnings.contains { $0.contains("item 4 (4): 'updated_at' is not a date of the format 'iso8601'") },
        "\(state.warnings)")
      #expect(try bench.values("name") == ["r1", "r2", "r3", "r4", "r5", "new", "r7", "r8", "r9", "r10"])
    }
  }
}

/// Computes a line; item 7 is an error, 8 is dropped, 9 loses its id.
private struct Decorator: CustomTargetRunner {
  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    let records = call.arguments["records"]?.arrayValue ?? []
    let made = records.map { record -> JSONValue in
      guard var object = record.objectValue else { return [:] }
      switch object.id {
      case "7": return ["error": "no language"]
      case "8": return ["record": nil]
      case "9": object["id"] = "x"
      default: object["line"] = .string((object["name"]?.stringValue ?? "") + "!")
      }
      return ["record": .object(object)]
    }
    return Array(JSONObject([("records", .array(made))]).text.utf8)
  }
}
