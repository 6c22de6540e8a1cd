import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Rows 36 to 39 for collections: the list is read as a search for ghosts reads it.
struct VerifyWireTests {
  private static func target(_ members: JSONObject = [:]) -> JSONObject {
    (["modificationDateField": "updated_at", "ghosts": ["mode": "fullList"]] as JSONObject).replacing(with: members)
  }

  private func expectEqual(_ bench: CollectionBench, _ count: Int, after what: String) async throws {
    for level in VerifyLevel.allCases {
      let before = bench.server.requests.count
      let result = try await bench.manager.verifySync(.name("s"), level: level)
      #expect(result.isEqual && result.server == count, "\(level) after \(what): \(JSONValue.object(result.json).text)")
      #expect(result.requests == bench.server.requests.count - before)
    }
  }

  @Test func row36_list_isEqualAfterEachRun() async throws {
    try await CollectionBench.with(rows: 70) { bench async throws in
      #expect(try await bench.down(Self.target()).status == .done)
      try await expectEqual(bench, 70, after: "a load")
      bench.server.with { $0.remove([3]) }
      bench.server.with { $0.change(5, ["name": "there"]) }
      #expect(try await bench.again().status == .done)
      #expect(try await bench.cleanGhosts() == 1)
      try await expectEqual(bench, 69, after: "a re-sync and ghosts")
      try bench.edit(7, ["name": "here"])
      #expect(try await bench.up().counts.succeeded == 1)
      try await expectEqual(bench, 69, after: "an upload")
    }
  }

  @Test func row37_reasons_ofAList() async throws {
    try await CollectionBench.with(rows: 40) { bench async throws in
      let up: JSONObject = ["up": ["read": ["url": "/items/{id}"]]]
      #expect(try await bench.down(Self.target(up)).status == .done)
      try bench.edit(2, ["name": "mine"])
      bench.server.with { $0.remove([2, 9]) }
      bench.server.with { $0.change(5, ["name": "there", "updated_at": "2031-01-01T00:00:00Z"]) }
      let before = bench.server.requests.count
      let result = try await bench.manager.verifySync(.name("s"))
      #expect(result.counts == [.extra: 2, .behind: 1, .dirty: 1], "\(JSONValue.object(result.json).text)")
      #expect(result.extra.map(\.recordId) == ["2", "9"])
      #expect(
        result.extra.map(\.text) == [
          "deleted on the server, changed here: tureen conflicts rows 2 --store-name test", "deleted on the server",
        ])
      #expect(result.different.map(\.recordId) == ["5"] && result.different[0].fields == ["name"])
      #expect(result.requests == bench.server.requests.count - before)
    }
  }

  @Test func row37_moving_isNotFinished() async throws {
    try await CollectionBench.with(rows: 20) { bench async throws in
      #expect(try await bench.down(Self.target()).status == .done)
      bench.server.with { $0.change(5, ["name": "first"]) }
      bench.server.forgetRequests()
      // Between the first and the second read.
      bench.server.with { state in
        state.before[2] = { $0.change(5, ["name": "second"]) }
      }
      let result = try await bench.manager.verifySync(.name("s"))
      #expect(!result.isComplete && !result.isEqual && result.counts == [.moving: 1], "\(JSONValue.object(result.json).text)")
      #expect(result.different.map(\.reason) == [.moving])
    }
  }

  @Test func verify_listThatDoesNotShowAll_isNotSupported() async throws {
    try await CollectionBench.with(rows: 5) { bench async throws in
      #expect(try await bench.down(Self.target(["ghosts": ["mode": "none"]])).status == .done)
      let before = bench.server.requests.count
      do {
        _ = try await bench.manager.verifySync(.name("s"))
        Issue.record("a part of a list was compared")
      } catch let error as SyncError {
        #expect(error.is(.notSupported) && error.message.contains(#""mode": "fullList""#), "\(error)")
      }
      #expect(bench.server.requests.count == before)
    }
  }

  @Test func row39_repair_isEqualThen() async throws {
    try await CollectionBench.with(rows: 40) { bench async throws in
      #expect(try await bench.down(Self.target()).status == .done)
      try bench.edit(7, ["name": "mine"])
      bench.server.with { $0.remove([3]) }
      bench.server.with { $0.change(5, ["name": "there"]) }
      let result = try await bench.manager.verifySync(.name("s"), repair: true)
      #expect(result.repair == VerifyResult.Repair(stored: 1, removed: 1), "\(JSONValue.object(result.json).text)")
      #expect(try await bench.manager.verifySync(.name("s")).isEqual)
      #expect(try bench.entry(7)?["name"] == "mine" && bench.entry(5)?["name"] == "there")
    }
  }

  @Test func row39_faultOnPage3_isNeverEqual() async throws {
    try await CollectionBench.with(rows: 100) { bench async throws in
      #expect(try await bench.down(Self.target()).status == .done)
      for answer in [ScriptedAnswer.json("{}", status: 403), .text("<html>", type: "text/html"), .json(#"[{"id":1}"#)] {
        bench.server.forgetRequests()
        bench.server.with { $0.answers = [3: answer] }
        await #expect(throws: SyncError.self) { try await bench.manager.verifySync(.name("s")) }
      }
    }
  }
}
