import JSON
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Tests invalid responses and definitions: each results in a clear error or one flagged item, and
/// existing rows stay.
struct BadInputWireTests {
  private static let pages: [(body: String, type: String, says: [String])] = [
    ("<html><body>Sign in</body></html>", "text/html", ["page 1", "Content-Type is 'text/html'", "Sign in"]),
    ("<html><body>Sign in</body></html>", "application/json", ["page 1", "not valid JSON", "byte 0"]),
    ("not json", "text/plain", ["page 1", "Content-Type is 'text/plain'", "not json"]),
    ("", "application/json", ["page 1"]),
    (#"[{"id":1},]"#, "application/json", ["page 1", "not valid JSON"]),
    (#"[{"id":1}] trailing"#, "application/json", ["page 1", "not valid JSON"]),
    (#"[{"id":NaN}]"#, "application/json", ["page 1", "not valid JSON"]),
    ("[{\"id\":1,\"name\":\"\u{1}\"}]", "application/json", ["page 1", "not valid JSON"]),
    (#"{"message":"ok"}"#, "application/json", ["page 1", "'itemsPath' ($)", "an object"]),
    (#"{"items":{"1":{"id":1}}}"#, "application/json", ["page 1", "'itemsPath' ($)"]),
    ("17", "application/json", ["page 1", "'itemsPath' ($)", "a number"]),
    (#""text""#, "application/json", ["page 1", "'itemsPath' ($)", "text"]),
    (String(repeating: "[", count: 200) + String(repeating: "]", count: 200), "application/json", ["page 1", "nest"]),
  ]

  @Test(arguments: 0..<13) func page_notAList_failsNamingTargetPageAndKey(number: Int) async throws {
    let (body, type, says) = Self.pages[number]
    try await CollectionBench.with(rows: 40) { bench async throws in
      #expect(try await bench.down().status == .done)
      bench.server.forgetRequests()
      bench.server.with { $0.answers[1] = .text(body, type: type) }
      let state = try await bench.manager.reSync(.name("s"))
      #expect(state.status == .failed, "\(body)")
      #expect(state.error.contains("rest target 'api' /items"), "\(state.error)")
      for part in says { #expect(state.error.contains(part), "\(state.error)") }
      #expect(try bench.ids() == bench.server.ids)
    }
  }

  @Test func page_notUTF8_fails() async throws {
    try await CollectionBench.with { bench async throws in
      let body: [UInt8] = Array(#"[{"id":1,"name":""#.utf8) + [0xff, 0xfe] + Array(#""}]"#.utf8)
      bench.server.with { $0.answers[1] = ScriptedAnswer(headers: [("Content-Type", "application/json")], body: body) }
      let state = try await bench.down()
      #expect(state.status == .failed && state.error.contains("UTF-8"), "\(state.error)")
    }
  }

  @Test func page_byteOrderMarkAndDoubledKeys_areRead() async throws {
    try await CollectionBench.with { bench async throws in
      let body: [UInt8] = [0xef, 0xbb, 0xbf] + Array(#"[{"id":1,"name":"a","name":"b","id":2}]"#.utf8)
      bench.server.with {
        $0.answers[1] = ScriptedAnswer(headers: [("Content-Type", "application/vnd.x+json; charset=utf-8")], body: body)
      }
      #expect(try await bench.down().status == .done)
      #expect(try bench.entries().map { [$0["id"], $0["name"]] } == [["2", "b"]])
    }
  }

  @Test func items_withoutOrWithDoubledIds_areFlaggedOrTheLastCounts() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with {
        $0.answers[1] = .json(
          #"[{"id":1,"n":1},{"n":2},{"id":null,"n":3},{"id":"","n":4},{"id":1.5},{"id":true},{"id":1,"n":5},{"id":"1","n":6}]"#)
      }
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.flagged == 5 && state.totalSize == 1, "\(state.warnings) \(state.totalSize)")
      #expect(try bench.entries().map { $0["n"] } == [6])
      #expect(state.warnings.allSatisfy { $0.contains("page 1, item ") && $0.contains("'id'") }, "\(state.warnings)")
    }
  }

  @Test func items_manyWrong_namesTheFirstTen() async throws {
    try await CollectionBench.with { bench async throws in
      bench.server.with { $0.answers[1] = .json("[" + (0..<40).map { "{\"n\":\($0)}" }.joined(separator: ",") + "]") }
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.flagged == 40 && state.warnings.count == 10)
    }
  }

  @Test func ids_beyondInt64_areTheirDigits() async throws {
    try await CollectionBench.with { bench async throws in
      let ids = ["9223372036854775807", "9223372036854775808", "18446744073709551616", "-5", "123456789012345678901234567890"]
      bench.server.with { $0.answers[1] = .json("[" + ids.map { "{\"id\":\($0),\"n\":\($0)}" }.joined(separator: ",") + "]") }
      let state = try await bench.down()
      #expect(state.status == .done && state.counts.flagged == 0, "\(state.error) \(state.warnings)")
      #expect(try bench.ids() == ids.sorted())
      for entry in try bench.store.rows("SELECT {rows:_soup} FROM {rows}").split(separator: "],[") {
        #expect(ids.contains { entry.contains("\"n\":\($0)") }, "as it was spelled: \(entry)")
      }
    }
  }

  @Test func item_of10MB_isStored() async throws {
    try await CollectionBench.with { bench async throws in
      let text = String(repeating: "x", count: 10_000_000)
      bench.server.with { $0.answers[1] = .json(#"[{"id":1,"text":"\#(text)"},{"id":2}]"#) }
      #expect(try await bench.down().status == .done)
      #expect(try bench.store.rows("SELECT {rows:id} FROM {rows} ORDER BY {rows:id}") == #"[["1"],["2"]]"#)
      #expect(try bench.store.rows("SELECT length({rows:_soup}) > 10000000 FROM {rows} WHERE {rows:id} = '1'") == "[[1]]")
    }
  }

  @Test func page_aboveMaxBytes_failsNamingTheLimit() async throws {
    try await CollectionBench.with(rows: 40, ["maxBytes": 2000]) { bench async throws in
      let state = try await bench.down()
      #expect(state.status == .failed && state.error.contains("2000"), "\(state.error)")
    }
  }

  @Test func template_valueMissing_failsNamingIt() async throws {
    try await CollectionBench.with { bench async throws in
      let error: String
      do {
        error = try await bench.down(["url": "/orgs/{org}/repos", "vars": ["orga": "acme"]]).error
      } catch let refused as SyncError {
        error = refused.message
      }
      #expect(error.contains("'url'") && error.contains("org"), "\(error)")
      #expect(bench.server.requests.isEmpty)
    }
  }

  @Test func connection_unknown_isRefusedWithTheNearestName() async throws {
    try await CollectionBench.with { bench async throws in
      let error = try await refusal { try await bench.down(["connection": "apj"]) }
      #expect(
        error.code == "invalidTarget" && error.message.contains("'apj'") && error.message.contains("'api'"), "\(error.message)")
    }
  }

  @Test func total_negativeNullOrText_isUnknown() async throws {
    for total in ["-1", "null", #""many""#, "1e400"] {
      try await CollectionBench.with { bench async throws in
        bench.server.with { $0.answers[1] = .json(#"{"total":\#(total),"items":[{"id":1}]}"#) }
        let state = try await bench.down(["itemsPath": "items", "totalPath": "total"])
        #expect(state.status == .done && state.totalSize == 1, "\(total): \(state.error)")
      }
    }
  }

  /// Pages shift during a first load that is large enough to defer its indexes, so rows arrive
  /// twice.
  @Test func largeFirstLoad_idsTwiceAcrossPages_areStoredOnce() async throws {
    try await CollectionBench.with(rows: 240, bulkLoadMinimum: 200) { bench async throws in
      let store = bench.store, isBulkLoad = Mutex(false)
      bench.server.with { state in
        (state.style, state.size) = (.page, 50)
        state.before[2] = { state in
          // Three rows are inserted in front, so the last three of page 1 are also the first of
          // page 2.
          for id in 30_001...30_003 { state.rows.insert(Repository.row(id), at: 0) }
        }
        state.before[3] = { state in
          isBulkLoad.withLock { $0 = Self.isBulkLoading(store) }
          state.change(49, ["name": "later"])
        }
      }
      let state = try await bench.down(PagingWireTests.target(.page).replacing(with: ["totalPath": "total"]))
      #expect(state.status == .done, "\(state.error)")
      #expect(isBulkLoad.withLock { $0 } || TestEngine.isPostgres)
      #expect(try bench.store.rows("SELECT count(*), count(DISTINCT {rows:id}) FROM {rows}") == "[[243,243]]")
      #expect(try await bench.again().status == .done)
      #expect(try bench.entry(49)?["name"] == "later")
    }
  }

  @Test func largeFirstLoad_markedAsDeletedOnALaterPage_isGone() async throws {
    try await CollectionBench.with(rows: 240, bulkLoadMinimum: 200) { bench async throws in
      let store = bench.store, isBulkLoad = Mutex(false)
      bench.server.with { state in
        (state.style, state.size) = (.page, 80)
        state.before[3] = { state in
          isBulkLoad.withLock { $0 = Self.isBulkLoading(store) }
          state.rows.append(["id": 5, "gone": true])
        }
      }
      let state = try await bench.down(
        PagingWireTests.target(.page).replacing(with: ["totalPath": "total", "deletedPath": "gone"]))
      #expect(state.status == .done, "\(state.error)")
      #expect(isBulkLoad.withLock { $0 } || TestEngine.isPostgres)
      #expect(try bench.entry(5) == nil)
      #expect(try bench.ids().count == 239)
    }
  }

  private static func isBulkLoading(_ store: Store) -> Bool {
    (try? store.readBlocking { try $0.isBulkLoading(soup: CollectionBench.soup) }) ?? false
  }
}
