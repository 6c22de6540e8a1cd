import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// What is not sent to a collection, why, and what ends it: the lists, the stories and the runs, for the answers of such servers.
@Suite struct ToolboxWireTests {
  /// Rows 1 to 5: sent, refused with 422, in conflict, not listed, deleted.
  /// - Parameter hasLostCreate: Whether a second run sends a create and gets no answer.
  private func withTroubles(
    hasLostCreate: Bool = false, _ body: (CollectionBench, [String: Int64]) async throws -> Void
  ) async throws {
    try await CollectionBench.with(rows: 5) { bench in
      bench.store.keepHistory(.all, of: HistoryActor(.script, name: "edits.lua", host: "here", uid: 1, version: "1")) { _ in }
      bench.server.with { state in
        state.takesWrites = true
        state.onRecord = { request, _ in
          if request.method == "POST" { return .closed }
          guard request.path.hasSuffix("/2"), ["PATCH", "PUT"].contains(request.method) else { return nil }
          return .json(#"{"errors":{"description":["is too long"]}}"#, status: 422)
        }
      }
      try bench.manager.createSyncUp(
        target: CollectionBench.upTarget(), options: ["mergeMode": "MERGE"], soupName: CollectionBench.soup, syncName: "up")
      try await bench.down(["modificationDateField": "updated_at"])
      for n in 1...3 { try bench.edit(n, ["description": "mine"]) }
      try bench.edit(4, ["language": "Lua"])
      try bench.delete(5)
      bench.clock.advance(60)
      bench.server.with { state in
        for i in state.rows.indices where state.rows[i]["id"] == 3 {
          state.rows[i]["description"] = "theirs"
          state.rows[i]["updated_at"] = "2030-01-01T00:00:00Z"
        }
      }
      bench.server.forgetRequests()
      _ = try await bench.manager.reSync(.name("up"))
      if hasLostCreate {
        try bench.make("local_1", ["name": "new"])
        _ = try? await bench.manager.reSync(.name("up"))
      }
      var ids: [String: Int64] = [:]
      for (name, n) in [("sent", 1), ("refused", 2), ("conflict", 3), ("skipped", 4)] {
        ids[name] = try bench.entry(n)?["_soupEntryId"]?.integerValue
      }
      ids["inDoubt"] = try bench.record("local_1")?["_soupEntryId"]?.integerValue
      try await body(bench, ids)
    }
  }

  @Test func row18_eachState_hasItsReasonAndRemedy() async throws {
    try await withTroubles(hasLostCreate: true) { bench, ids in
      let found = try bench.manager.getDirtyEntries()
      for state in ["refused", "conflict", "skipped", "inDoubt"] {
        let entry = try #require(found.first { $0.entryId == ids[state] }, "\(state): \(found)")
        #expect(entry.state.rawValue == state && entry.reason?.text.isEmpty == false && !entry.remedies.isEmpty, "\(entry)")
        #expect(entry.by?.name == "edits.lua" && entry.since != nil, "\(entry)")
      }
      #expect(found.first { $0.entryId == ids["refused"] }?.reason?.text.contains("description: is too long") == true)
      #expect(!found.contains { $0.entryId == ids["sent"] })
    }
  }

  @Test func row40_eachState_isExplained() async throws {
    try await withTroubles { bench, ids in
      for (state, expected) in [("refused", "is refused: "), ("conflict", "is in conflict: "), ("sent", "as the server has it")] {
        let told = try bench.manager.explainEntry(CollectionBench.soup, entryId: try #require(ids[state]))
        #expect(told.text.contains(expected), "\(state): \(told.text)")
      }
      let asked = try await bench.manager.explainEntry(
        CollectionBench.soup, entryId: try #require(ids["refused"]), asksServer: true)
      // A refused record of a collection is not sent again before it is edited.
      #expect(asked.next.map(\.expect) == [.blocked] && asked.next[0].text.contains("is too long"), "\(asked.next)")
    }
  }

  /// The run has the requests of the server and the records by what happened to them; they can be taken back together.
  @Test func rows21And43_theRun_isTold_andWhatItLeftIsDropped() async throws {
    try await withTroubles { bench, ids in
      let number = try #require(try bench.manager.getRuns().first { $0.json["name"] == "up" }?.number)
      let run = try bench.manager.getRun(number).json
      let causes = (run["entries"]?.arrayValue ?? []).compactMap { $0["cause"]?.stringValue }
      #expect(Set(["uploaded", "refused", "conflict", "skipped"]).isSubset(of: causes), "\(causes)")
      let requests = (run["events"]?.arrayValue ?? []).filter { $0["kind"] == "request" }
      #expect(requests.count == bench.server.recordRequests.count, "\(requests.count): \(bench.server.recordRequests)")
      let left = try bench.manager.getDirtyEntries(run: number).map(\.entryId)
      #expect(Set(left) == Set(["refused", "conflict", "skipped"].compactMap { ids[$0] }), "\(left)")
      let result = try bench.manager.discardChanges(CollectionBench.soup, entryIds: left)
      #expect(result.json["kept"] == [], "\(result.json.text)")
      #expect(try bench.manager.getDirtyEntries().isEmpty)
      #expect(try bench.entry(2)?["description"] != "mine" && bench.entry(3)?["description"] == "theirs")
    }
  }
}
