import JSON
import RestClient
import Salesforce
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync

/// Syncs of a store that several orgs share, and the limit for all syncs of an org.
@Suite struct OrgOfSyncTests {
  private static let target: JSONObject = [
    "type": "soql", "query": "SELECT Id, Name, LastModifiedDate FROM Account",
  ]

  private func server() throws -> ScriptedServer {
    try ScriptedServer(handler: { _ in
      .page([(id: "a", stamp: "2024-01-01T00:00:00.000+0000")], date: "Mon, 01 Jan 2024 00:00:10 GMT")
    })
  }

  private func configuration(_ org: String?) -> SyncConfiguration {
    var configuration = SyncConfiguration()
    if let org { configuration.findOrg = { org } }
    return configuration
  }

  /// A row of the previous release: without an org.
  private static let earlierRow = """
    {"type":"syncDown","name":"old","target":{"type":"soql","query":"SELECT Id, Name, LastModifiedDate FROM Account"},\
    "options":{"mergeMode":"OVERWRITE"},"soupName":"accounts","status":"DONE","progress":100,"totalSize":1,\
    "maxTimeStamp":1704067200000,"startTime":1,"endTime":2,"error":"","fetched":1,"stored":1,"limitInfo":"","warnings":[],\
    "queued":false,"coveredTimeStamp":-1,"ghostsCheckedUntil":-1,"inDoubtUntil":0,"hasMore":false,"incomplete":false,"resumeAt":0}
    """

  @Test func sync_rowOfAnEarlierRelease_takesTheOrgOfItsNextRun() async throws {
    let server = try server(), bench = try ScriptedStore()
    let first = try bench.manager(server, configuration: configuration("00D1"))
    let id = try bench.store.upsert("[\(Self.earlierRow)]", into: "syncs_soup")[0]["_soupEntryId"]?.integerValue
    #expect(try first.getSyncStatus(.name("old"))?.orgId == nil)
    let done = try await first.reSync(.name("old"))
    #expect(done.id == id && done.status == .done && done.orgId == "00D1")
    await first.shutdown()
    let other = try bench.manager(server, configuration: configuration("00D2"))
    let refused = try await other.reSync(.name("old"))
    #expect(refused.status == .failed && refused.failure?.code == "otherOrg" && refused.failure?.domain == "sync")
    #expect(refused.orgId == "00D1" && refused.maxTimeStamp >= done.maxTimeStamp - 1)
    await bench.close()
  }

  @Test func ghosts_rowOfAnEarlierRelease_takesTheOrgAndAnotherIsRefused() async throws {
    let server = try server(), bench = try ScriptedStore()
    let first = try bench.manager(server, configuration: configuration(nil))
    _ = try await first.syncDown(target: Self.target, soupName: "accounts", syncName: "s")
    await first.shutdown()
    let second = try bench.manager(server, configuration: configuration("00D1"))
    #expect(try await second.cleanResyncGhosts(.name("s")) == 0)
    #expect(try second.getSyncStatus(.name("s"))?.orgId == "00D1")
    await second.shutdown()
    let third = try bench.manager(server, configuration: configuration("00D2"))
    let error = await #expect(throws: SyncError.self) { try await third.cleanResyncGhosts(.name("s")) }
    #expect(error?.code == "otherOrg")
    #expect(try bench.entries().count == 1)
    await bench.close()
  }

  @Test func redefined_syncOfAFile_staysInItsOrg() async throws {
    let server = try server(), bench = try ScriptedStore()
    let manager = try bench.manager(server, configuration: configuration("00D1"))
    func file(_ condition: String) -> JSONValue {
      let target: JSONObject = [
        "type": "soql", "query": .string("SELECT Id, Name, LastModifiedDate FROM Account WHERE \(condition)"),
      ]
      return ["syncs": [["syncName": "s", "syncType": "syncDown", "soupName": "accounts", "target": .object(target)]]]
    }
    #expect(manager.setupSyncs(from: file("Name = 'a'"), fileName: "globalsyncs.json").isEmpty)
    #expect(try await manager.reSync(.name("s")).orgId == "00D1")
    #expect(manager.setupSyncs(from: file("Name = 'b'"), fileName: "globalsyncs.json").isEmpty)
    let state = try #require(try manager.getSyncStatus(.name("s")))
    #expect(state.status == .new && state.orgId == "00D1", "what it brought is still in the soup")
    await bench.close()
  }

  @Test func sync_orgCannotBeFound_failsAndSendsNothing() async throws {
    let server = try server(), bench = try ScriptedStore()
    var configuration = SyncConfiguration()
    configuration.findOrg = { throw RestError(code: .notAuthenticated, message: "nobody", outcome: .notSent) }
    let manager = try bench.manager(server, configuration: configuration)
    let state = try await manager.syncDown(target: Self.target, soupName: "accounts", syncName: "s")
    #expect(state.failure?.code == "notAuthenticated" && state.orgId == nil)
    #expect(server.requests.isEmpty)
    await bench.close()
  }

  // MARK: The limit

  private final class Limit: Sendable { let isOn = Mutex(false) }

  @Test func restraint_newSyncsAndGhosts_areRefusedBeforeAnythingIsSaved() async throws {
    let server = try server(), bench = try ScriptedStore(), limit = Limit()
    var configuration = SyncConfiguration()
    configuration.restraint = { _ in
      guard limit.isOn.withLock({ $0 }) else { return nil }
      var error = RestError(code: .requestLimitExceeded, message: "enough", outcome: .notSent)
      error.isLocal = true
      return error
    }
    let manager = try bench.manager(server, configuration: configuration)
    _ = try await manager.syncDown(target: Self.target, soupName: "accounts", syncName: "s")
    limit.isOn.withLock { $0 = true }
    let sent = server.requests.count
    for start in [
      { _ = try await manager.syncDown(target: Self.target, soupName: "accounts", syncName: "t") },
      { _ = try await manager.reSync(.name("s")) }, { _ = try await manager.cleanResyncGhosts(.name("s")) },
      { _ = try await manager.syncUp(options: ["fieldlist": ["Name"]], soupName: "accounts") },
    ] {
      let error = await #expect(throws: RestError.self) { try await start() }
      #expect(error.map { SyncError(wrapping: $0).json["local"] } == true)
    }
    #expect(try manager.getSyncStatus(.name("s"))?.status == .done)
    #expect(try !manager.hasSyncWithName("t"))
    #expect(server.requests.count == sent)
    await bench.close()
  }
}
