import JSON
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the warnings in the request log: refusals that an upload expects are not warnings.
struct UploadLogWireTests {
  private func warnings(_ body: (CollectionBench) async throws -> Void) async throws -> [String] {
    let lines = Mutex<[String]>([])
    try await CollectionBench.with(rows: 3, log: { line in lines.withLock { $0.append(line) } }) { bench async throws in
      try await body(bench)
    }
    return lines.withLock { $0 }
  }

  @Test func recordsThatAreGone_warnOfNothing() async throws {
    let lines = try await warnings { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": "mine"])
      try bench.delete(2)
      bench.server.with { $0.remove([1, 2]) }
      #expect(try await bench.up().counts.succeeded == 1)
      // Without a prior read, deletes get the same response.
      try bench.delete(3)
      bench.server.with { $0.remove([3]) }
      #expect(try await bench.up(["precondition": "none"], name: "blind").counts.succeeded == 1)
    }
    #expect(lines.isEmpty, "\(lines)")
  }

  @Test func conditionThatDoesNotHold_warnsOfNothing() async throws {
    let lines = try await warnings { bench async throws in
      let up: JSONObject = ["precondition": "ifMatch", "tag": ["path": "rev"], "read": ["url": "/items/{id}"]]
      bench.server.with { state in
        for i in 0..<3 { state.rows[i]["rev"] = 1 }
        state.onRecord = { request, _ in request.method == "PATCH" ? .json(#"{"message":"changed"}"#, status: 412) : nil }
      }
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      bench.server.with { $0.change(1, ["name": "theirs", "rev": 2, "updated_at": "2030-01-01T00:00:00Z"]) }
      #expect(try await bench.up(up).counts.conflicting == 1)
    }
    #expect(lines.isEmpty, "\(lines)")
  }

  @Test func refusedRecords_areWarnedOf() async throws {
    let lines = try await warnings { bench async throws in
      try await bench.down(CollectionBench.upTarget())
      try bench.edit(1, ["name": ""])
      bench.server.with { state in
        state.onRecord = { request, _ in request.method == "PATCH" ? .json(#"{"name":["is empty"]}"#, status: 400) : nil }
      }
      #expect(try await bench.up().counts.failed == 1)
    }
    #expect(lines.count == 1 && lines[0].contains("PATCH") && lines[0].contains(" 400 "), "\(lines)")
  }

  /// The page after the last numbered page.
  @Test func endOfAList_warnsOfNothing() async throws {
    let lines = try await warnings { bench async throws in
      bench.server.with { state in
        state.style = .page
        state.answers[2] = .json(#"{"detail":"Invalid page."}"#, status: 404)
      }
      let target: JSONObject = ["itemsPath": "items", "paging": ["style": "page", "pageParam": "page"]]
      #expect(try await bench.down(target).status == .done)
      #expect(bench.server.lists.count == 2)
    }
    #expect(lines.isEmpty, "\(lines)")
  }
}
