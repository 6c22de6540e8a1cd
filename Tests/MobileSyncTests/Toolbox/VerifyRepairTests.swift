import JSON
import RestClient
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Row 39: a repair makes a soup what its server would send; a comparison that cannot finish is never equal.
@Suite struct VerifyRepairTests {
  private func bench(accounts: Int = 5, pageSize: Int = 2) async throws -> SyncBench {
    try await SyncBench.aged(accounts: accounts, pageSize: pageSize)
  }

  @Test func row39_repair_isEqualThenAndLeavesEdits() async throws {
    let bench = try await bench(accounts: 50, pageSize: 10)
    try bench.updateLocally("Account 9", ["Description": "mine"])
    try bench.store.remove([bench.entryId("Account 3")], from: "accounts")
    try bench.tamper("Account 4", ["Description": "stale"])
    for name in ["Account 5", "Account 9"] { try bench.org.delete("Account", id: bench.id(name)) }
    let before = try #require(try bench.manager.getSyncStatus(.name("s"))), mine = try bench.entry(named: "Account 9")
    let result = try await bench.verify(repair: true)
    #expect(result.repair == VerifyResult.Repair(stored: 2, removed: 1, left: 1), "\(JSONValue.object(result.json).text)")
    let after = try await bench.verify()
    #expect(SyncBench.lines(after.extra) == ["accounts 10 extra"] && after.missing.isEmpty && after.different.isEmpty, "\(after)")
    #expect(try bench.entry(named: "Account 9") == mine)
    #expect(try bench.manager.getSyncStatus(.name("s")) == before, "a repair is no run of the sync")
    await bench.close()
  }

  @Test func row39_repair_ofTooMuch_isRefusedUnlessItIsAllowed() async throws {
    let bench = try await bench(accounts: 30, pageSize: 10)
    for n in 0..<4 { try bench.store.remove([bench.entryId("Account \(n)")], from: "accounts") }
    do {
      _ = try await bench.manager.verifySync(.name("s"), repair: true)
      Issue.record("4 of 30 were mended")
    } catch let error as SyncError {
      #expect(error.is(.tooMuch) && error.message.contains("--max 4"), "\(error)")
    }
    #expect(try bench.names().count == 26)
    await #expect(throws: SyncError.self) { try await bench.manager.verifySync(.name("s"), repair: true, max: 3) }
    #expect(try await bench.verify(repair: true, max: 4).repair?.stored == 4)
    #expect(try await bench.verify().isEqual)
    await bench.close()
  }

  @Test func row39_repair_isWhereTheValuesComeFrom() async throws {
    let bench = try await bench()
    bench.keepHistory()
    try bench.tamper("Account 4", ["Description": "stale"])
    try bench.store.remove([bench.entryId("Account 3")], from: "accounts")
    _ = try await bench.verify(repair: true)
    let run = try #require(try bench.runs().first?.number)
    let different = try bench.manager.explainEntry("accounts", entryId: bench.entryId("Account 4"))
    let text = "Account 4 is as the server has it: s, run \(run) found that it differed, and brought Description just now."
    #expect(different.text == text, "\(different.text)")
    let field = try #require(different.json["fields"]?.arrayValue?.first { $0["name"] == "Description" })
    #expect(field["from"]?["kind"] == "repair" && field["from"]?["run"] == .integer(run), "\(field)")
    let missing = try bench.manager.explainEntry("accounts", entryId: bench.entryId("Account 3"))
    #expect(missing.text.hasSuffix("s, run \(run) found that it differed, and brought it just now."), "\(missing.text)")
    #expect(missing.log.map(\.text) == ["s, run \(run): repaired: it was missing"], "\(missing.log.map(\.text))")
    await bench.close()
  }

  /// The result lists the first 1,000 of a kind; a repair mends all that it is allowed to.
  @Test func row39_repair_removesMoreThanItLists() async throws {
    let bench = try await bench(accounts: 3)
    let sync = try #require(try bench.manager.getSyncStatus(.name("s"))).id
    let ghosts = (0..<1_100).map { n in
      let id = "001000000\(900_000 + n)AAA"
      return ["Id": .string(id), "attributes": ["type": "Account"], "__local__": false, "__sync_id__": .integer(sync)]
        as JSONObject
    }
    _ = try bench.store.upsert(JSONValue.array(ghosts.map { .object($0) }).serialized(), into: "accounts")
    let result = try await bench.verify(repair: true, max: 2_000)
    #expect(result.extra.count == 1_000 && result.counts == [.extra: 1_100], "\(result.counts)")
    #expect(result.repair == VerifyResult.Repair(removed: 1_100), "\(String(describing: result.repair))")
    #expect(try await bench.verify().isEqual && bench.entries().count == 3)
    await bench.close()
  }

  @Test func row39_repair_besideARun_mayBeTriedAgain() async throws {
    let bench = try await bench()
    let other = try bench.anotherManager(), id = try #require(try bench.manager.getSyncStatus(.name("s"))?.id)
    let lease = try bench.store.writeBlocking(.synced) { transaction in
      try other.leases.acquire(id, now: other.configuration.now(), duration: 30_000, in: transaction)
    }
    do {
      _ = try await bench.manager.verifySync(.name("s"), repair: true)
      Issue.record("it ran beside another run")
    } catch let error as SyncError {
      #expect(error.is(.runningElsewhere) && error.isRetryable)
      #expect(error.message.hasPrefix("sync 's' (\(id)) is still running in another host of this process ("), "\(error)")
    }
    // Its definition cannot be changed meanwhile; the error is the same.
    let refused = #expect(throws: SyncError.self) { try bench.manager.deleteSync(.name("s")) }
    #expect(refused?.message.hasPrefix("sync 's' (\(id)) is still running in another host of this process (") == true)
    #expect(try await bench.verify().isEqual, "without a repair it only reads")
    try bench.store.writeBlocking(.synced) { try $0.releaseLease(lease) }
    #expect(try await bench.verify(repair: true).isEqual)
    await bench.close()
  }

  @Test(arguments: [Fault.unavailable(), .serverError(), .dropBeforeResponse(), .invalidJSON])
  func row39_faultOnAPage_isNeverEqual(fault: Fault) async throws {
    let bench = try await bench()
    bench.keepHistory()
    try bench.org.faults.add(fault, when: .nth(2), path: "query/*")
    await #expect(throws: SyncError.self) { try await bench.manager.verifySync(.name("s")) }
    let run = try #require(try bench.runs().first)
    #expect(run.json["kind"] == "verify" && run.status == "FAILED" && run.json["verified"] == nil)
    #expect(try bench.manager.getOverview().syncs.first { $0.state.name == "s" }?.lastVerified == nil)
    await bench.close()
  }
}
