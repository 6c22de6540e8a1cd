import JSON
import SandboxParse
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse

/// What is not sent to a Parse server, why, and what ends it.
@Suite struct ToolboxWireTests {
  /// Objects 0 to 3: sent, refused as of another type, in conflict, not listed.
  private func withTroubles(_ batch: Int, _ body: (ParseBench, [String: Int64]) async throws -> Void) async throws {
    try await ParseBench.with { bench in
      bench.store.keepHistory(.all, of: HistoryActor(.script, name: "edits.lua", host: "here", uid: 1, version: "1")) { _ in }
      let made = try await bench.create("Book", count: 4) { ["title": .string("Book \($0)"), "pages": .integer(Int64($0))] }
      let target: JSONObject = [
        "type": "parse", "className": "Book", "createFieldlist": ["title", "pages"], "updateFieldlist": ["title", "pages"],
        "maxBatchSize": .integer(Int64(batch)),
      ]
      try bench.manager.createSyncUp(target: target, options: ["mergeMode": "MERGE"], soupName: "books", syncName: "up")
      try await bench.down()
      try bench.edit(made[0], ["title": "mine"])
      try bench.edit(made[1], ["pages": "not a number"])
      try bench.edit(made[2], ["title": "mine"])
      try bench.edit(made[3], ["subtitle": "mine"])
      bench.clock.advance(by: 60)
      try await bench.call(.PUT, "/classes/Book/\(made[2])", ["title": "theirs"])
      bench.forgetRequests()
      _ = try? await bench.manager.reSync(.name("up"))
      var ids: [String: Int64] = [:]
      for (name, id) in zip(["sent", "refused", "conflict", "skipped"], made) {
        ids[name] = try bench.entry(id)?["_soupEntryId"]?.integerValue
      }
      try await body(bench, ids)
    }
  }

  @Test(arguments: [1, 50]) func row18_eachState_hasItsReasonAndRemedy(batch: Int) async throws {
    try await withTroubles(batch) { bench, ids in
      let found = try bench.manager.getDirtyEntries()
      for state in ["refused", "conflict", "skipped"] {
        let entry = try #require(found.first { $0.entryId == ids[state] }, "\(state): \(found)")
        #expect(entry.state.rawValue == state && entry.reason?.text.isEmpty == false && !entry.remedies.isEmpty, "\(entry)")
        #expect(entry.by?.name == "edits.lua" && entry.since != nil, "\(entry)")
      }
      #expect(!found.contains { $0.entryId == ids["sent"] })
    }
  }

  @Test(arguments: [1, 50]) func rows40And43_entriesAndTheRun_areTold_andWhatItLeftIsDropped(batch: Int) async throws {
    try await withTroubles(batch) { bench, ids in
      for (state, expected) in [("refused", "is refused: "), ("conflict", "is in conflict: "), ("sent", "as the server has it")] {
        let told = try bench.manager.explainEntry("books", entryId: try #require(ids[state]))
        #expect(told.text.contains(expected), "\(state): \(told.text)")
      }
      let number = try #require(try bench.manager.getRuns().first { $0.json["name"] == "up" }?.number)
      let run = try bench.manager.getRun(number).json
      let causes = (run["entries"]?.arrayValue ?? []).compactMap { $0["cause"]?.stringValue }
      #expect(Set(["uploaded", "refused", "conflict", "skipped"]).isSubset(of: causes), "\(causes)")
      let requests = (run["events"]?.arrayValue ?? []).filter { $0["kind"] == "request" }
      #expect(requests.count == bench.requests.count, "\(requests.count): \(bench.requests)")
      let left = try bench.manager.getDirtyEntries(run: number).map(\.entryId)
      #expect(Set(left) == Set(["refused", "conflict", "skipped"].compactMap { ids[$0] }), "\(left)")
      #expect(try bench.manager.discardChanges("books", entryIds: left).json["kept"] == [])
      #expect(try bench.manager.getDirtyEntries().isEmpty)
    }
  }
}
