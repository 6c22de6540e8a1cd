import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import RestClient
@testable import RestCollections

/// Tests the conditions of writes that compare nothing, and of tags that are none.
struct ConditionWireTests {
  private func edited(_ bench: CollectionBench, _ rows: Int) async throws {
    try await bench.down(CollectionBench.upTarget())
    for id in 1...rows { try bench.edit(id, ["name": .string("mine \(id)")]) }
  }

  private func writes(_ bench: CollectionBench) -> [RecordedRequest] {
    bench.server.requests.filter { ["PATCH", "DELETE"].contains($0.method) }
  }

  private func reads(_ bench: CollectionBench) -> Int {
    bench.server.requests.count { $0.method == "GET" && $0.path.hasPrefix("/items/") }
  }

  /// With the default precondition.
  @Test func overwrite_serverHasTags_eachWriteHasACondition() async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      bench.server.with { $0.recordTags = true }
      try await edited(bench, 3)
      try bench.delete(3)
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 3, "\(state.counts) \(state.error)")
      #expect(writes(bench).count == 3 && writes(bench).allSatisfy { $0.header("If-Match") != nil })
    }
  }

  /// The server answers 412 or 428 to every write without a condition.
  @Test(arguments: [412, 428]) func overwrite_serverRequiresACondition_isSentWithOne(status: Int) async throws {
    try await CollectionBench.with(rows: 3) { bench async throws in
      bench.server.with { state in
        state.recordTags = true
        state.onRecord = { request, _ in
          request.method == "PATCH" && request.header("If-Match") == nil ? .json("{}", status: status) : nil
        }
      }
      try await edited(bench, 3)
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.status == .done && state.counts.succeeded == 3, "\(state.counts) \(state.error)")
      #expect(bench.server.with { $0.rows.map { $0["name"] } } == ["mine 1", "mine 2", "mine 3"])
    }
  }

  /// The first record shows that there are no tags that can be sent.
  @Test(arguments: [false, true]) func overwrite_serverWithoutTags_isReadOnce(hasWeakTags: Bool) async throws {
    try await CollectionBench.with(rows: 4) { bench async throws in
      bench.server.with { state in
        state.recordTags = hasWeakTags
        state.tagsAreWeak = hasWeakTags
      }
      try await edited(bench, 4)
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.counts.succeeded == 4, "\(state.counts)")
      #expect(reads(bench) == 1 && writes(bench).allSatisfy { $0.header("If-Match") == nil })
    }
  }

  @Test func overwrite_serverRequiresAConditionWithoutTags_isAConfigurationError() async throws {
    try await CollectionBench.with(rows: 1) { bench async throws in
      try await edited(bench, 1)
      bench.server.with { $0.onRecord = { request, _ in request.method == "PATCH" ? .json("{}", status: 412) : nil } }
      let state = try await bench.up(mode: "OVERWRITE")
      #expect(state.status == .failed && state.error.contains("no tag"), "\(state.error)")
      #expect(try bench.entry(1)?["__local__"] == true)
    }
  }

  /// A number in the item beside real ETags is no tag: the server refuses it each time.
  @Test(arguments: ["OVERWRITE", "LEAVE_IF_CHANGED", "MERGE"], ["check", "ifMatch"])
  func tag_thatIsNone_isAFinding(mode: String, precondition: String) async throws {
    try await CollectionBench.with(rows: 2) { bench async throws in
      bench.server.with { state in
        state.recordTags = true
        for i in 0..<2 { state.rows[i]["version"] = 1 }
      }
      let up: JSONObject = ["tag": ["path": "version"], "precondition": .string(precondition)]
      try await bench.down(CollectionBench.upTarget(up))
      try bench.edit(1, ["name": "mine"])
      let state = try await bench.up(up, mode: mode)
      #expect(state.status == .done && state.counts.failed == 1 && state.counts.skipped == 0, "\(state.counts) \(state.error)")
      let error = try bench.lastError(try bench.entry(1))
      #expect(error["code"] == "CONDITION_REFUSED" && error["message"]?.stringValue?.contains("If-Match: 1") == true, "\(error)")
      #expect(try bench.entry(1)?["__local__"] == true && bench.manager.conflicts().isEmpty)
    }
  }
}
