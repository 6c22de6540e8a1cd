import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// Ghosts found in the server's record of deletions.
@Suite struct DeletionFeedTests {
  /// Creates a bench whose syncs use the record of deletions from the first entry on, with the real
  /// clock.
  private func bench(_ accounts: Int, _ change: (inout SyncConfiguration) -> Void = { _ in }) async throws -> SyncBench {
    var configuration = SyncConfiguration()
    configuration.ghostFeedEntries = 0
    change(&configuration)
    return try await SyncBench(accounts: accounts, pageSize: 2, realTime: true, configuration: configuration)
  }

  private func delete(_ name: String, on bench: SyncBench) throws {
    try bench.org.delete("Account", id: try #require(try bench.entry(named: name)?["Id"]?.stringValue))
  }

  private func resources(_ bench: SyncBench) -> [String] {
    defer { bench.org.clearRequests() }
    return bench.org.requests().map { String($0.path.split(separator: "?")[0].split(separator: "/").last ?? "") }
  }

  private func clean(_ bench: SyncBench) async throws -> Int { try await bench.manager.cleanResyncGhosts(.name("s")) }

  @Test func cleanResyncGhosts_secondTime_asksForDeletionsOnly() async throws {
    let bench = try await bench(6)
    _ = try await bench.down(name: "s")
    bench.org.clearRequests()
    try delete("Account 0", on: bench)
    #expect(try await clean(bench) == 1)
    #expect(resources(bench).count == 3, "all ids, two a page")
    let checked = try #require(try bench.manager.getSyncStatus(.name("s"))?.ghostsCheckedUntil)
    #expect(checked > 0)
    #expect(try await clean(bench) == 0 && resources(bench) == ["deleted", "queryAll"], "nothing that is here was deleted")
    try delete("Account 3", on: bench)
    try delete("Account 5", on: bench)
    #expect(try await clean(bench) == 2)
    #expect(resources(bench).filter { !$0.contains("-") } == ["deleted", "queryAll", "query"], "beside further pages")
    #expect(try bench.names() == ["Account 1", "Account 2", "Account 4"])
    _ = try await bench.manager.reSync(.name("s"))
    #expect(try bench.manager.getSyncStatus(.name("s"))?.ghostsCheckedUntil == checked, "runs keep it")
    await bench.close()
  }

  @Test func cleanResyncGhosts_deletedAndBackAgain_stays() async throws {
    let bench = try await bench(2)
    _ = try await bench.down(name: "s")
    _ = try await clean(bench)
    let id = try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue)
    try bench.org.delete("Account", id: id)
    try bench.org.undelete("Account", id: id)
    #expect(try await clean(bench) == 0)
    #expect(try bench.names() == ["Account 0", "Account 1"])
    await bench.close()
  }

  /// The first search did not remove it, so it must not count as checked.
  @Test func cleanResyncGhosts_ghostThatWasDirty_isFoundWhenItIsClean() async throws {
    let bench = try await bench(3)
    _ = try await bench.down(name: "s")
    let entry = try #require(try bench.entry(named: "Account 2"))
    try bench.updateLocally("Account 2", ["Description": "mine"])
    try delete("Account 2", on: bench)
    #expect(try await clean(bench) == 0)
    #expect(try bench.manager.getSyncStatus(.name("s"))?.ghostsCheckedUntil == -1)
    try bench.save(entry)
    #expect(try await clean(bench) == 1)
    await bench.close()
  }

  /// Answers that are not sufficient, so that all ids are requested.
  @Test(arguments: [
    (404, #"[{"message":"none","errorCode":"NOT_FOUND"}]"#),
    (400, #"[{"message":"too far back","errorCode":"INVALID_REPLICATION_DATE"}]"#),
    (
      200,
      #"{"deletedRecords":[],"earliestDateAvailable":"2999-01-01T00:00:00Z","latestDateCovered":"2999-01-01T00:00:00Z"}"#
    ),
    (200, #"{"deletedRecords":[]}"#),
  ])
  func cleanResyncGhosts_recordOfDeletionsIncomplete_asksForAllIds(status: Int, body: String) async throws {
    let bench = try await bench(3)
    _ = try await bench.down(name: "s")
    _ = try await clean(bench)
    try delete("Account 1", on: bench)
    bench.org.setInterceptor { $0.path.contains("/deleted") ? .respond(status: status, body: body) : nil }
    #expect(try await clean(bench) == 1)
    #expect(try bench.names() == ["Account 0", "Account 2"])
    await bench.close()
  }

  /// Purged records are only in the record of deletions, the latest ones only in the recycle bin.
  @Test func cleanResyncGhosts_recordLagsBehind_looksIntoTheRecycleBin() async throws {
    let bench = try await bench(3)
    _ = try await bench.down(name: "s")
    _ = try await clean(bench)
    let checked = try #require(try bench.manager.getSyncStatus(.name("s"))?.ghostsCheckedUntil)
    try delete("Account 1", on: bench)
    let early = TimeStamp.text(checked - 86_400_000), covered = TimeStamp.text(checked)
    bench.org.setInterceptor { request in
      guard request.path.contains("/deleted") else { return nil }
      return .respond(
        status: 200,
        body: #"{"deletedRecords":[],"earliestDateAvailable":"\#(early)","latestDateCovered":"\#(covered)"}"#)
    }
    bench.org.clearRequests()
    #expect(try await clean(bench) == 1)
    #expect(resources(bench) == ["deleted", "queryAll", "query"])
    await bench.close()
  }

  @Test func cleanResyncGhosts_afterADay_asksForAllIdsAgain() async throws {
    let bench = try await bench(2) { $0.ghostFeedMs = 0 }
    _ = try await bench.down(name: "s")
    _ = try await clean(bench)
    bench.org.clearRequests()
    #expect(try await clean(bench) == 0 && resources(bench) == ["query"])
    await bench.close()
  }

  @Test(
    arguments: [
      ("SELECT Id FROM Account", "Account"), ("SELECT Id FROM Account ORDER BY Name", "Account"),
      ("SELECT Id FROM Account WHERE Name != null", nil), ("SELECT Id FROM Account LIMIT 10", nil),
      ("SELECT Id FROM Account USING SCOPE mine", nil), ("SELECT Id FROM Account ALL ROWS", nil),
      ("SELECT Id FROM Account WITH SECURITY_ENFORCED", nil), ("SELECT a.Id FROM Account a", nil),
    ] as [(String, String?)])
  func deletions_ofAQuery_onlyWhereItWantsEveryRecord(soql: String, type: String?) throws {
    #expect(
      try TargetRegistry.salesforce.down(["type": "soql", "query": .string(soql)]).deletions.flatMap {
        ($0 as? DeletedRecords)?.type
      } == type)
  }
}
