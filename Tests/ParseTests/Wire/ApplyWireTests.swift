import JSON
import SandboxParse
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse

/// Plans of uploads to a Parse server that are applied, and what they say of its objects.
@Suite struct ApplyWireTests {
  private static func target(_ batch: Int) -> JSONObject {
    [
      "type": "parse", "className": "Book", "createFieldlist": ["title", "pages"], "updateFieldlist": ["title", "pages"],
      "maxBatchSize": .integer(Int64(batch)), "uniqueBy": [["title"]],
    ]
  }

  private func with(
    _ batch: Int = 50, count: Int = 5, _ body: (ParseBench, [String]) async throws -> Void
  ) async throws {
    try await ParseBench.with { bench in
      bench.store.keepHistory(.all, of: HistoryActor(.script, name: "edits.lua", host: "here", uid: 1, version: "1")) { _ in }
      let ids = try await bench.create("Book", count: count) { ["title": .string("Book \($0)"), "pages": .integer(Int64($0))] }
      try bench.manager.createSyncUp(
        target: Self.target(batch), options: ["mergeMode": "MERGE"], soupName: "books", syncName: "up")
      try await bench.down()
      bench.forgetRequests()
      try await body(bench, ids)
    }
  }

  private func plan(_ bench: ParseBench) async throws -> SyncPlan { try await bench.manager.planSync(.name("up")) }

  @Test func row31_lookedPlan_hasTheVerdictsOfTheRun() async throws {
    try await with { bench, ids in
      for id in ids[..<3] { try bench.edit(id, ["title": "mine"]) }
      bench.clock.advance(by: 60)
      try await bench.call(.PUT, "/classes/Book/\(ids[0])", ["title": "theirs"])
      try await bench.call(.PUT, "/classes/Book/\(ids[1])", ["pages": 99])
      let quiet = try await plan(bench)
      #expect(quiet.items.map(\.expect) == [.send, .send, .send])
      let numbers = try ids.map { try bench.entry($0)?["_soupEntryId"]?.integerValue }
      let plan = try await bench.manager.planSync(.name("up"), asksServer: true)
      let verdicts = numbers[..<3].map { number in plan.items.first { $0.entryId == number }?.expect }
      #expect(plan.looked && verdicts == [.conflict, .merge, .send], "\(verdicts)")
      _ = try await bench.manager.reSync(.name("up"))
      #expect(try bench.manager.conflicts().map(\.entryId) == plan.items.filter { $0.expect == .conflict }.map(\.entryId))
    }
  }

  @Test(arguments: [1, 50]) func row33_apply_sendsThePlannedEntriesAlone(batch: Int) async throws {
    try await with(batch) { bench, ids in
      for id in ids[..<3] { try bench.edit(id, ["title": "planned"]) }
      let plan = try await plan(bench)
      for id in ids[3...] { try bench.edit(id, ["title": "later"]) }
      let state = try await bench.manager.applyPlan(plan)
      #expect(state.status == .done && state.counts.succeeded == 3 && state.leftOut == 0, "\(state)")
      #expect(try await bench.objects("Book").count { $0["title"] == "planned" } == 3)
      #expect(try bench.entries().count { $0["__local__"] == true } == 2)
    }
  }

  @Test func row33_changedSince_isLeftOutAndSaysWhy() async throws {
    try await with { bench, ids in
      for id in ids[..<4] { try bench.edit(id, ["title": "planned"]) }
      let plan = try await plan(bench)
      try bench.edit(ids[0], ["title": "edited"])
      let numbers = try ids.map { try bench.entry($0)?["_soupEntryId"]?.integerValue ?? 0 }
      try bench.store.writeBlocking(.synced) { _ = try $0.remove([numbers[1]], from: "books") }
      _ = try bench.manager.discardChanges("books", entryIds: [numbers[2]])
      #expect(try await syncError { try await bench.manager.applyPlan(plan, allOrNothing: true) }.code == "planStale")
      #expect(bench.requests.isEmpty, "nothing is sent")
      let state = try await bench.manager.applyPlan(plan)
      #expect(state.status == .done && state.counts.succeeded == 1 && state.leftOut == 3, "\(state)")
      #expect(try await bench.object("Book", ids[3])["title"] == "planned")
    }
  }

  @Test func row34_onlyOnce_atItsServer() async throws {
    try await with { bench, ids in
      try bench.edit(ids[0], ["title": "planned"])
      let plan = try await plan(bench)
      let elsewhere = plan.json.replacing(with: ["server": ["connection": "default", "url": "sha256:0"]])
      #expect(try await syncError { try bench.manager.applyPlan(elsewhere) { _ in } }.code == "planInvalid")
      #expect(bench.requests.isEmpty)
      #expect(try await bench.manager.applyPlan(plan).status == .done)
      #expect(try await syncError { try await bench.manager.applyPlan(plan) }.code == "planUsed")
    }
  }

  /// Each answer of an apply is lost in turn: no create is made twice.
  @Test(arguments: [1, 50]) func row35_lostAnswers_makeNothingTwice(batch: Int) async throws {
    for lost in 1...4 {
      try await with(batch, count: 1) { bench, ids in
        try bench.make(["objectId": "local_1", "title": "A"])
        try bench.make(["objectId": "local_2", "title": "B"])
        try bench.edit(ids[0], ["pages": 7])
        let plan = try await plan(bench), count = Mutex(0)
        bench.server.setInterceptor { _ in
          count.withLock { count in
            count += 1
            return count == lost ? .dropAfterHandling : nil
          }
        }
        _ = try? await bench.manager.applyPlan(plan)
        bench.server.setInterceptor(nil)
        for _ in 0..<2 {
          bench.clock.advance(by: 3600)
          _ = try await bench.again("up")
        }
        let titles = try await bench.objects("Book").compactMap { $0["title"]?.stringValue }.sorted()
        #expect(titles == ["A", "B", "Book 0"], "answer \(lost)")
        #expect(try bench.entries().allSatisfy { $0["__local__"] == false }, "answer \(lost)")
      }
    }
  }
}
