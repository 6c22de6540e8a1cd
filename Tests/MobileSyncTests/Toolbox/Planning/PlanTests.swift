import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// Plans of syncs up with an org.
@Suite struct PlanTests {
  /// The number for each kind and mode; `scripts/dev/scenarios` uses more.
  private static let scenarios = RandomSeed.count("SCENARIOS", usual: 3)

  // MARK: Row 28

  @Test(arguments: PlanBench.Kind.allCases, PlanBench.modes)
  func row28_plan_isWhatTheRunSends(kind: PlanBench.Kind, mode: MergeMode) async throws {
    let bench = try await PlanBench(kind, mode, accounts: 8)
    for round in 0..<Self.scenarios {
      let seed = RandomSeed.value &+ UInt64(round)
      var random = SeededGenerator(state: seed)
      try bench.change(&random, round: round, isLast: round == Self.scenarios - 1)
      let plan = try await bench.plan()
      #expect(bench.bench.org.requests().isEmpty, "a plan asks nothing")
      let state = try await bench.up(), sent = bench.sent(), planned = PlanBench.lines(plan.requests)
      #expect(state.status == .done, "\(state.error)")
      let differs = zip(planned, sent).first { $0 != $1 }
      let what: Comment =
        "\(RandomSeed.again(Self.self, seed: seed)): \(planned.count) and \(sent.count)\n\(String(describing: differs))"
      #expect(planned == sent, what)
      try await bench.down()
    }
    await bench.bench.close()
  }

  // MARK: Row 31

  @Test(arguments: PlanBench.Kind.allCases, PlanBench.modes)
  func row31_lookedPlan_hasTheVerdictsOfTheRun(kind: PlanBench.Kind, mode: MergeMode) async throws {
    let bench = try await PlanBench(kind, mode, accounts: 8)
    for round in 0..<Self.scenarios {
      let seed = RandomSeed.value &+ UInt64(round)
      var random = SeededGenerator(state: seed)
      try bench.change(&random, round: round, isLast: round == Self.scenarios - 1)
      for entry in try bench.families.entries("accounts") where entry["__local__"] == true {
        guard let id = entry["Id"]?.stringValue, !id.hasPrefix("local_"), Bool.random(using: &random) else { continue }
        let field = Bool.random(using: &random) ? "Description" : "Name"
        try bench.bench.change(id, [field: .string("theirs \(round) \(id.suffix(4))")])
      }
      bench.bench.org.clearRequests()
      let quiet = try await bench.plan(), plan = try await bench.plan(asksServer: true)
      let looks = plan.requests.filter { $0.purpose == .look }
      #expect(bench.sent() == PlanBench.lines(looks), "the looks of the plan are sent, and nothing else")
      #expect(quiet.items.map(\.entryId).sorted() == plan.items.map(\.entryId).sorted())
      bench.bench.org.clearRequests()
      _ = try await bench.up()
      let again: Comment = "\(RandomSeed.again(Self.self, seed: seed))"
      let writes = Set(bench.sent()), sends = PlanBench.lines(plan.requests.filter { $0.purpose == .send })
      for line in sends { #expect(writes.contains(line), "\(again) \(line)") }
      try check(plan, bench, again)
      for conflict in try bench.bench.manager.conflicts() {
        _ = try bench.bench.manager.resolveConflict(inSoup: conflict.soupName, entryId: conflict.entryId, with: .server)
      }
      try await bench.down()
    }
    await bench.bench.close()
  }

  /// Compares each verdict with what the run has left.
  private func check(_ plan: SyncPlan, _ bench: PlanBench, _ again: Comment) throws {
    let conflicts = Set(try bench.bench.manager.conflicts().map { "\($0.soupName) \($0.entryId)" })
    for item in plan.items {
      let all = [item] + item.family
      let row = try bench.bench.store.readBlocking { try $0.entry(item.entryId, in: item.soup)?.object() }
      let isDirty = row?["__local__"] == true
      switch item.expect {
      case .send, .merge:
        #expect(!isDirty || row?["__last_error__"] != nil, "\(again): \(item)")
        #expect(!conflicts.contains("\(item.soup) \(item.entryId)"), "\(again): \(item)")
      case .conflict: #expect(all.contains { conflicts.contains("\($0.soup) \($0.entryId)") }, "\(again): \(item)")
      // What nothing is compared for keeps the conflict that a sync down has found.
      case .skip where bench.mergeMode == .overwrite: break
      case .skip, .blocked, .wait: #expect(!conflicts.contains("\(item.soup) \(item.entryId)"), "\(again): \(item)")
      }
    }
  }

  // MARK: Rows 29 and 30

  /// A custom target's functions are not called, and the requests that they make are not known.
  @Test func row29_plan_asksNothing_andCallsNoFunction() async throws {
    var configuration = SyncBench.configuration
    configuration.customTargets = NoFunction()
    let bench = try await SyncBench(accounts: 2, configuration: configuration)
    _ = try await bench.down(name: "down")
    try bench.manager.createSyncUp(
      target: ["type": "custom", "luaImpl": "mine"], options: SyncBench.uploadLeave, soupName: "accounts", syncName: "up")
    bench.org.clearRequests()
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.createLocally("New")
    let plan = try await bench.manager.planSync(.name("up"))
    #expect(plan.items.map(\.expect) == [.send, .send] && plan.apiCalls == nil)
    #expect(plan.json["requests"] == .null && bench.org.requests().isEmpty)
    #expect(try bench.dirtyCount() == 2)
    await bench.close()
  }

  @Test func row30_forms_areInThePlan() async throws {
    let bench = try await PlanBench(.collection, .merge, accounts: 3)
    let long = String(repeating: "x", count: 10_240)
    try bench.bench.updateLocally("Account 0", ["Description": .null])
    try bench.bench.updateLocally("Account 1", ["Description": .string(long), "Phone": "1"])
    try bench.bench.deleteLocally("Account 2")
    try bench.bench.createLocally("New", ["Description": "made"])
    try bench.bench.createLocally("Both", ["__locally_deleted__": true])
    let plan = try await bench.plan(), items = plan.items
    #expect(items.map(\.action) == [.update, .update, .delete, .create, .removeLocally], "\(items)")
    #expect(items.map(\.expect) == [.send, .send, .send, .send, .skip])
    let summary = plan.json["summary"]
    #expect(summary?["create"] == 1 && summary?["update"] == 2 && summary?["delete"] == 1 && summary?["skipped"] == 1)
    #expect(items[0].fields.map(\.name) == ["Description"] && items[0].fields[0].local == .null && items[0].fields[0].base == "d")
    #expect(items[1].fields.filter(\.isSent).map(\.name) == ["Description"] && items[1].fields[0].local == .string(long))
    #expect(items[1].why.map(\.code) == [.fieldNotListed] && items[3].fields.filter(\.isSent).count == 2)
    #expect(plan.requests.map(\.purpose) == [.look, .send, .send, .send, .read] && plan.apiCalls == 5, "\(plan.requests)")
    #expect(Set(items.prefix(4).compactMap(\.request)) == [2, 3, 4])
    await bench.bench.close()
    let families = try await PlanBench(.families, .merge, accounts: 1)
    try families.families.edit("contacts", "F0.0", ["Department": "d"])
    try families.families.edit("contacts", "F0.1", ["Department": "d"])
    let item = try await families.plan().items
    #expect(item.count == 1 && item[0].family.count == 1, "a family is one item: \(item)")
    await families.bench.close()
  }

  // MARK: Row 32

  private func whys(_ plan: SyncPlan) -> [String] {
    plan.items.map { "\($0.title ?? "") \($0.expect) \($0.why.map(\.code.rawValue).joined(separator: " "))" }
  }

  @Test func row32_blocked_eachSaysWhy_andTheOthersGo() async throws {
    let bench = try await PlanBench(.collection, .merge, accounts: 4), accounts = bench.bench
    try accounts.updateLocally("Account 0", ["Description": "goes"])
    try accounts.updateLocally("Account 1", ["Id": .null, "Description": "has no id"])
    try accounts.createLocally("No type", ["attributes": [:]])
    try accounts.createLocally("Reference", ["Description": "local_1"])
    try accounts.updateLocally("Account 2", ["Phone": "1"])
    try accounts.updateLocally("Account 3", ["Description": "again", "__last_error__": #"[{"message":"no","errorCode":"X"}]"#])
    let found = whys(try await bench.plan())
    #expect(
      found == [
        "Account 0 send ", "Account 1 blocked noId", "Account 2 skip fieldNotListed", "Account 3 send lastError",
        "No type blocked noType", "Reference send localReference",
      ], "\(found)")
    await accounts.close()
  }

  @Test func row32_conflicts_sayWhatHappened() async throws {
    let bench = try await PlanBench(.collection, .merge, accounts: 3), accounts = bench.bench
    for n in 0..<3 { try accounts.updateLocally("Account \(n)", ["Description": "mine"]) }
    let ids = try accounts.entries().compactMap { $0["Id"]?.stringValue }
    try accounts.change(ids[0], ["Description": "theirs"])
    try accounts.org.delete("Account", id: ids[1])
    _ = try await bench.up()
    try accounts.updateLocally("Account 2", ["Description": "mine again"])
    let found = whys(try await bench.plan()).sorted()
    #expect(
      found == ["Account 0 conflict conflict", "Account 1 conflict deletedThere", "Account 2 send "], "\(found)")
    await accounts.close()
  }

  @Test func row32_lostAnswer_waits() async throws {
    var configuration = SyncBench.configuration
    configuration.lostCreateWaitMs = 600_000
    let bench = try await SyncBench(configuration: configuration)
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: SyncBench.uploadLeave, soupName: "accounts", syncName: "up")
    try bench.createLocally("New")
    bench.org.setInterceptor { $0.method == "POST" ? .dropBeforeHandling : nil }
    _ = try? await bench.manager.reSync(.name("up"))
    bench.org.setInterceptor(nil)
    bench.org.clearRequests()
    let plan = try await bench.manager.planSync(.name("up"))
    #expect(whys(plan) == ["New wait inDoubt"] && plan.requests.map(\.purpose) == [.search], "\(whys(plan))")
    #expect(plan.items[0].why[0].text.hasPrefix("waits until ") && bench.org.requests().isEmpty)
    await bench.close()
  }

  @Test func encryptedStore_hasHashesForValues() async throws {
    let bench = try await PlanBench(.collection, .merge, accounts: 1)
    try bench.bench.updateLocally("Account 0", ["Description": "a secret"])
    var planner = bench.bench.manager.planner()
    planner.hidesValues = true
    let text = JSONValue.object(try await planner.plan(.name("up")).json).text
    #expect(!text.contains("a secret") && text.contains("sha256:"))
    await bench.bench.close()
  }

  @Test func plan_ofASyncDown_isRefused() async throws {
    let bench = try await PlanBench(.collection, .merge, accounts: 1)
    await #expect { _ = try await bench.bench.manager.planSync(.name("down")) } throws: {
      ($0 as? SyncError)?.is(.wrongSyncType) ?? false
    }
    await #expect { _ = try await bench.bench.manager.planSync(.name("none")) } throws: {
      ($0 as? SyncError)?.is(.noSuchSync) ?? false
    }
    await bench.bench.close()
  }
}

/// Fails when a function is called.
private struct NoFunction: CustomTargetRunner {
  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    Issue.record("\(call.function) was called")
    return []
  }
}
