import JSON
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import RestCollections

/// Plans of uploads to a collection that are applied.
@Suite struct ApplyWireTests {
  private func with(
    _ up: JSONObject = [:], rows: Int = 5, _ body: (CollectionBench) async throws -> Void
  ) async throws {
    try await CollectionBench.with(rows: rows) { bench in
      bench.store.keepHistory(.all, of: HistoryActor(.script, name: "edits.lua", host: "here", uid: 1, version: "1")) { _ in }
      bench.server.with { $0.takesWrites = true }
      try bench.manager.createSyncUp(
        target: CollectionBench.upTarget(up), options: ["mergeMode": "MERGE"], soupName: CollectionBench.soup, syncName: "up")
      try await bench.down(["modificationDateField": "updated_at"])
      bench.server.forgetRequests()
      try await body(bench)
    }
  }

  private func plan(_ bench: CollectionBench) async throws -> SyncPlan { try await bench.manager.planSync(.name("up")) }

  @Test(arguments: PlanWireTests.Kind.allCases)
  func row33_apply_sendsThePlannedEntriesAlone(kind: PlanWireTests.Kind) async throws {
    try await with(kind.up) { bench in
      for n in 1...3 { try bench.edit(n, ["description": "planned"]) }
      let plan = try await plan(bench)
      for n in 4...5 { try bench.edit(n, ["description": "later"]) }
      let state = try await bench.manager.applyPlan(plan)
      #expect(state.status == .done && state.counts.succeeded == 3 && state.leftOut == 0, "\(state)")
      #expect(bench.server.with { $0.rows.map { $0["description"] == "planned" } } == [true, true, true, false, false])
      #expect(try bench.entries().count { $0["__local__"] == true } == 2)
    }
  }

  @Test func row33_changedSince_isLeftOutAndSaysWhy() async throws {
    try await with { bench in
      for n in 1...3 { try bench.edit(n, ["description": "planned"]) }
      try bench.delete(4)
      try bench.make("local_1", ["name": "new"])
      let plan = try await plan(bench)
      try bench.edit(1, ["description": "edited"])
      let ids = try (1...3).map { try bench.entry($0)?["_soupEntryId"]?.integerValue ?? 0 }
      try bench.store.writeBlocking(.synced) { _ = try $0.remove([ids[1]], from: CollectionBench.soup) }
      _ = try bench.manager.discardChanges(CollectionBench.soup, entryIds: [ids[2]])
      let refused = try await syncError { try await bench.manager.applyPlan(plan, allOrNothing: true) }
      #expect(refused.code == "planStale" && bench.server.recordRequests.isEmpty, "nothing is sent")
      let state = try await bench.manager.applyPlan(plan)
      #expect(state.status == .done && state.counts.succeeded == 2 && state.leftOut == 3, "\(state)")
      #expect(
        state.warnings.map { $0.split(separator: ": ").last ?? "" }.sorted() == [
          "it is no longer in the soup", "it was edited since", "it was sent or discarded since",
        ])
      #expect(bench.server.ids == ["1", "1000", "2", "3", "5"], "\(bench.server.ids)")
    }
  }

  @Test func row34_onlyOnce_atItsServer() async throws {
    try await with { bench in
      try bench.edit(1, ["description": "planned"])
      let plan = try await plan(bench)
      let elsewhere = try await syncError {
        try bench.manager.applyPlan(plan.json.replacing(with: ["server": ["connection": "api", "url": "sha256:0"]])) { _ in }
      }
      #expect(elsewhere.code == "planInvalid" && elsewhere.message.contains("another server"), "\(elsewhere)")
      #expect(bench.server.recordRequests.isEmpty)
      #expect(try await bench.manager.applyPlan(plan).status == .done)
      #expect(try await syncError { try await bench.manager.applyPlan(plan) }.code == "planUsed")
    }
  }

  /// Each answer of an apply is lost in turn: with a key, an own id or a search no create is made twice.
  @Test(
    arguments: [
      ["idempotencyHeader": "Idempotency-Key"],
      ["url": "/items/{id}", "method": "PUT", "newId": "uuid", "headers": ["If-None-Match": "*"]],
      ["uniqueField": "ref", "lookup": ["url": "/search", "params": ["ref": "{ref}"]]],
    ] as [JSONObject])
  func row35_lostAnswers_makeNothingTwice(once: JSONObject) async throws {
    let create = (["url": "/items", "fields": ["name", "description", "ref"]] as JSONObject).replacing(with: once)
    for lost in 1...5 {
      try await with(["create": .object(create)], rows: 1) { bench in
        try bench.make("local_1", ["name": "A"])
        try bench.make("local_2", ["name": "B"])
        try bench.edit(1, ["description": "mine"])
        let plan = try await plan(bench), count = Mutex(0), keys = Mutex<[String: ScriptedAnswer]>([:])
        bench.server.with { state in
          state.onRecord = { request, state in
            if request.path == "/search" {
              let wanted = URLQuery.value(of: "ref", in: request.target)
              return .json(JSONValue.array(state.rows.filter { $0["ref"]?.stringValue == wanted }.map { .object($0) }).text)
            }
            guard request.method != "GET" else { return nil }
            let number = count.withLock { count in
              count += 1
              return count
            }
            let key = request.header("Idempotency-Key") ?? "", known = keys.withLock { $0[key] }
            let answer = known ?? CollectionServer.write(request, &state)
            if !key.isEmpty { keys.withLock { $0[key] = answer } }
            return number == lost ? .closed : answer
          }
        }
        _ = try? await bench.manager.applyPlan(plan)
        for _ in 0..<2 {
          bench.clock.advance(3600)
          _ = try await bench.upAgain()
        }
        let names = bench.server.with { $0.rows.compactMap { $0["name"]?.plain } }
        #expect(names.count == 3 && Set(names).isSuperset(of: ["A", "B"]), "answer \(lost): \(names)")
        #expect(try bench.entries().allSatisfy { $0["__local__"] == false }, "answer \(lost)")
      }
    }
  }
}
