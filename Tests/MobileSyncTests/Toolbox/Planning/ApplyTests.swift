import JSON
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Plans that are applied.
@Suite struct ApplyTests {
  private func bench(_ kind: UploadKind = .collection, accounts: Int = 5) async throws -> SyncBench {
    let bench = try await SyncBench(kind: kind, accounts: accounts)
    bench.keepHistory()
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: ["fieldlist": ["Name", "Description"], "mergeMode": "MERGE"], soupName: "accounts",
      syncName: "up")
    _ = try await bench.down(name: "down")
    bench.org.clearRequests()
    return bench
  }

  private func plan(_ bench: SyncBench) async throws -> SyncPlan { try await bench.manager.planSync(.name("up")) }

  private func code(_ body: () async throws -> SyncState) async -> String? {
    do {
      _ = try await body()
      return nil
    } catch {
      return (error as? SyncError)?.code
    }
  }

  @Test(arguments: UploadKind.allCases) func row33_apply_sendsThePlannedEntriesAlone(kind: UploadKind) async throws {
    let bench = try await bench(kind)
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Description": "planned"]) }
    let plan = try await plan(bench)
    for n in 3..<5 { try bench.updateLocally("Account \(n)", ["Description": "later"]) }
    let state = try await bench.manager.applyPlan(plan)
    #expect(state.status == .done && state.counts.succeeded == 3 && state.leftOut == 0, "\(state)")
    #expect(try bench.dirtyCount() == 2)
    await bench.close()
  }

  @Test func row33_changedSince_isLeftOutAndSaysWhy() async throws {
    let bench = try await bench()
    for n in 0..<4 { try bench.updateLocally("Account \(n)", ["Description": "planned"]) }
    let plan = try await plan(bench)
    try bench.updateLocally("Account 0", ["Description": "edited"])
    let removed = try #require(try bench.entry(named: "Account 1")?["_soupEntryId"]?.integerValue)
    try bench.store.writeBlocking(.synced) { _ = try $0.remove([removed], from: "accounts") }
    let discarded = try #require(try bench.entry(named: "Account 2")?["_soupEntryId"]?.integerValue)
    _ = try bench.manager.discardChanges("accounts", entryIds: [discarded])
    let refused = await code { try await bench.manager.applyPlan(plan, allOrNothing: true) }
    #expect(refused == "planStale" && bench.org.requests().isEmpty, "nothing is sent")
    let state = try await bench.manager.applyPlan(plan)
    #expect(state.status == .done && state.counts.succeeded == 1 && state.leftOut == 3, "\(state)")
    #expect(
      state.warnings == [
        "accounts 1 was left out: it was edited since", "accounts 2 was left out: it is no longer in the soup",
        "accounts 3 was left out: it was sent or discarded since",
      ], "\(state.warnings)")
    await bench.close()
  }

  /// All or nothing looks first: what the server has changed since the plan counts, too.
  @Test(arguments: [false, true]) func row33_allOrNothing_looksFirst(isDeleted: Bool) async throws {
    let bench = try await bench()
    for n in 0..<4 { try bench.updateLocally("Account \(n)", ["Description": "planned"]) }
    let plan = try await plan(bench), id = try bench.id("Account 1"), runs = try bench.runs().count
    if isDeleted { try bench.org.delete("Account", id: id) } else { try bench.change(id, ["Description": "theirs"]) }
    bench.org.clearRequests()
    do {
      _ = try await bench.manager.applyPlan(plan, allOrNothing: true)
      Issue.record("it was applied")
    } catch let error as SyncError {
      #expect(error.is(.planStale) && error.message.contains("nothing was sent: accounts 2 was left out"), "\(error)")
    }
    #expect(try bench.dirtyCount() == 4 && bench.runs().count == runs && bench.manager.conflicts().isEmpty)
    #expect(!bench.requests().contains { $0.hasPrefix("PATCH") || $0.hasPrefix("DELETE") }, "\(bench.requests())")
    // The plan is not used up by that.
    let state = try await bench.manager.applyPlan(plan)
    #expect(state.status == .done && state.counts.succeeded == 3 && state.counts.conflicting == 1, "\(state)")
    await bench.close()
  }

  @Test func row33_allOrNothing_sendsAllIfAllGo() async throws {
    let bench = try await bench()
    for n in 0..<4 { try bench.updateLocally("Account \(n)", ["Description": "planned"]) }
    let state = try await bench.manager.applyPlan(try await plan(bench), allOrNothing: true)
    #expect(state.status == .done && state.counts.succeeded == 4 && state.leftOut == 0, "\(state)")
    await bench.close()
  }

  /// The run writes ids of 15 characters as the server does, which is no edit.
  @Test(arguments: UploadKind.allCases) func row33_idOf15Characters_isNoEdit(kind: UploadKind) async throws {
    let bench = try await bench(kind), id = try bench.id("Account 0")
    try bench.tamper("Account 0", ["Id": .string(String(id.prefix(15)))])
    for n in 0..<2 { try bench.updateLocally("Account \(n)", ["Description": "planned"]) }
    let state = try await bench.manager.applyPlan(try await plan(bench), allOrNothing: true)
    #expect(state.status == .done && state.counts.succeeded == 2 && state.leftOut == 0, "\(state)")
    #expect(try bench.id("Account 0") == id && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test func row34_onlyOnce_inItsStore_withItsDefinition() async throws {
    let bench = try await bench()
    try bench.updateLocally("Account 0", ["Description": "planned"])
    let plan = try await plan(bench)
    func applied(_ changes: JSONObject) async -> String? {
      let json = plan.json.replacing(with: changes)
      return await code { try bench.manager.applyPlan(json, onUpdate: { _ in }) }
    }
    #expect(await applied(["format": "tureen-plan/2"]) == "planInvalid")
    #expect(await applied(["entries": .null]) == "planInvalid")
    #expect(await applied(["entries": [["expect": "send", "soupName": "accounts"]]]) == "planInvalid")
    #expect(await applied(["madeAt": .integer(plan.madeAt - 86_500_000)]) == "planInvalid")
    #expect(await applied(["server": ["org": "another"]]) == "planInvalid")
    #expect(await applied(["store": ["id": "a copy", "storeName": "test", "isGlobalStore": false]]) == "planInvalid")
    #expect(bench.org.requests().isEmpty)
    #expect(try await bench.manager.applyPlan(plan).status == .done)
    #expect(await code { try await bench.manager.applyPlan(plan) } == "planUsed")
    await bench.close()
  }

  @Test func row34_twoAtOnce_oneRuns() async throws {
    let bench = try await bench()
    try bench.updateLocally("Account 0", ["Description": "planned"])
    let plan = try await plan(bench), other = try bench.anotherManager()
    async let first = code { try await bench.manager.applyPlan(plan) }
    async let second = code { try await other.applyPlan(plan) }
    let codes = await [first, second].compactMap { $0 }
    #expect(codes.count == 1 && ["planUsed", "runningElsewhere"].contains(codes[0]), "\(codes)")
    await other.shutdown()
    await bench.close()
  }

  /// Each answer of an apply is lost in turn: no create is made twice.
  @Test(arguments: UploadKind.allCases) func row35_lostAnswers_makeNothingTwice(kind: UploadKind) async throws {
    for lost in 1...4 {
      let bench = try await bench(kind, accounts: 1)
      try bench.createLocally("New A")
      try bench.createLocally("New B")
      try bench.updateLocally("Account 0", ["Description": "mine"])
      let plan = try await plan(bench), count = RequestCount()
      bench.org.setInterceptor { _ in count.next() == lost ? .dropAfterHandling : nil }
      _ = try? await bench.manager.applyPlan(plan)
      bench.org.setInterceptor(nil)
      _ = try await bench.manager.reSync(.name("up"))
      _ = try await bench.manager.reSync(.name("up"))
      #expect(try bench.serverNames() == ["Account 0", "New A", "New B"], "\(kind), answer \(lost)")
      await bench.close()
    }
  }
}

/// Counts requests, from any thread.
private final class RequestCount: Sendable {
  private let count = Mutex(0)

  func next() -> Int {
    count.withLock { count in
      count += 1
      return count
    }
  }
}
