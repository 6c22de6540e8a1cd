import JSON
import RestClient
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows D1–D3 and D10 of the acceptance list, against the sandbox org.
@Suite struct SyncDownTests {
  @Test func syncDown_tenAccounts_reportsAndStoresThem() async throws {
    let bench = try await SyncBench(accounts: 10)
    let recorder = UpdateRecorder()
    let start = try bench.manager.syncDown(
      target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    #expect(start.status == .running && start.progress == 0 && start.totalSize == -1 && start.startTime > 0)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/10", "DONE 100/10"])
    #expect(end.endTime > 0 && end.counts.fetched == 10 && end.counts.stored == 10 && end.counts.requests == 1)
    #expect(end.counts.bytes > 500)
    let entries = try bench.entries()
    #expect(entries.count == 10)
    #expect(entries.allSatisfy { $0["__sync_id__"] == .integer(end.id) && $0["__local__"] == false })
    #expect(try bench.names() == bench.serverNames())
    #expect(try bench.manager.getSyncStatus(.id(end.id))?.json == end.json)
    await bench.close()
  }

  @Test func syncDown_pagesOfTen_reportsEachPage() async throws {
    let bench = try await SyncBench(accounts: 30, pageSize: 10)
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/30", "RUNNING 33/30", "RUNNING 66/30", "DONE 100/30"])
    #expect(end.counts.requests == 3)
    #expect(end.maxTimeStamp == bench.clock.now() * 1000)
    await bench.close()
  }

  @Test func syncDown_nothing_reportsThreeTimes() async throws {
    let bench = try await SyncBench()
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    _ = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"])
    await bench.close()
  }

  @Test func syncDown_leaveIfChanged_keepsDirtyRecord() async throws {
    let bench = try await SyncBench(accounts: 3)
    _ = try await bench.down(name: "first")
    try bench.updateLocally("Account 1", ["Description": "mine"])
    let end = try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"])
    #expect(end.counts.fetched == 3 && end.counts.stored == 2 && end.counts.skipped == 1 && end.counts.conflicting == 0)
    #expect(try bench.entry(named: "Account 1")?["Description"] == "mine")
    #expect(try bench.entry(named: "Account 1")?["__sync_id__"] != .integer(end.id))
    #expect(try bench.dirtyCount() == 1)
    _ = try await bench.down(["mergeMode": "OVERWRITE"])
    #expect(try bench.entry(named: "Account 1")?["Description"] == .null)
    #expect(try bench.dirtyCount() == 0)
    await bench.close()
  }

  /// The skip is decided in the transaction that writes, not when the run starts.
  @Test func syncDown_editedWhileItRuns_keepsTheEdit() async throws {
    let bench = try await SyncBench(accounts: 4, pageSize: 2)
    _ = try await bench.down()
    let recorder = UpdateRecorder { state in
      if state.progress == 50 { try? bench.updateLocally("Account 3", ["Description": "mine"]) }
    }
    try bench.manager.syncDown(
      target: SyncBench.accounts, options: ["mergeMode": "LEAVE_IF_CHANGED"], soupName: "accounts",
      onUpdate: recorder.listener)
    // The second page may be written before or after the edit, which must never be lost.
    _ = await recorder.ended()
    #expect(try bench.entry(named: "Account 3")?["Description"] == "mine")
    await bench.close()
  }

  @Test func reSync_twoChanged_fetchesTwo() async throws {
    let bench = try await SyncBench(accounts: 5)
    let first = try await bench.down(name: "accounts")
    for name in ["Account 1", "Account 3"] {
      let id = try #require(try bench.entry(named: name)?["Id"]?.stringValue)
      try bench.change(id, ["Description": "new"])
    }
    bench.org.clearRequests()
    let recorder = UpdateRecorder()
    try bench.manager.reSync(.name("accounts"), onUpdate: recorder.listener)
    let again = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/2", "DONE 100/2"])
    #expect(again.id == first.id && again.maxTimeStamp > first.maxTimeStamp && again.counts.stored == 2)
    #expect(try bench.entries().filter { $0["Description"] == "new" }.count == 2)
    let nothing = try await bench.manager.reSync(.id(first.id))
    #expect(nothing.totalSize == 0 && nothing.counts.requests == 1 && nothing.maxTimeStamp == again.maxTimeStamp)
    await bench.close()
  }

  @Test(arguments: [(2000, false), (5000, false), (200, true), (100, true)])
  func syncDown_batchSize_goesIntoTheHeader(size: Int, isSent: Bool) throws {
    let target = try SoqlSyncDownTarget(["query": "select Id from A", "maxBatchSize": .integer(Int64(size))])
    let request = SalesforceRequests(apiVersion: "v66.0").query(soql: target.query, batchSize: target.maxBatchSize)
    #expect(request.headers.map(\.value) == (isSent ? ["batchSize=200"] : []))
  }

  @Test func syncDown_malformedQuery_failsWithTheServersBody() async throws {
    let bench = try await SyncBench(accounts: 1)
    let end = try await bench.manager.syncDown(
      target: ["type": "soql", "query": "SELECT Id, Nonsense FROM Account"], soupName: "accounts")
    #expect(end.status == .failed && end.progress == 0)
    let body = try #require(try JSONValue(parsing: end.error).arrayValue?.first)
    #expect(body["errorCode"] == "INVALID_FIELD")
    #expect(end.failure?.domain == "network" && end.failure?.status == 400 && end.failure?.body == end.error)
    #expect(try bench.manager.getSyncStatus(.id(end.id))?.status == .failed)
    await bench.close()
  }

  @Test func syncDown_unknownSoup_fails() async throws {
    let bench = try await SyncBench(accounts: 1)
    let end = try await bench.manager.syncDown(target: SyncBench.accounts, soupName: "nowhere")
    #expect(end.status == .failed && end.failure?.domain == "smartstore" && end.failure?.code == "noSuchSoup")
    await bench.close()
  }

  @Test func syncDown_serverGoneInTheMiddleOfAPage_failsAndGoesOnLater() async throws {
    let bench = try await SyncBench(accounts: 6, pageSize: 2)
    bench.org.setInterceptor { $0.path.hasSuffix("-4") ? .dropConnection(afterBytes: 40) : nil }
    let failed = try await bench.down(name: "accounts")
    #expect(failed.status == .failed && failed.failure?.code == "noResponse" && failed.failure?.isRetryable == true)
    #expect(try bench.entries().count == 4 && failed.progress == 66)
    bench.org.setInterceptor(nil)
    let again = try await bench.manager.reSync(.name("accounts"))
    #expect(again.status == .done && again.error == "" && again.totalSize == 3)
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func syncDown_htmlInsteadOfJSON_fails() async throws {
    let bench = try await SyncBench(accounts: 1)
    bench.org.setInterceptor { _ in .respond(status: 200, headers: [("Content-Type", "text/html")], body: "<html>") }
    let end = try await bench.down()
    #expect(end.status == .failed && end.failure?.code == "invalidBody" && end.error.contains("cannot be used"))
    await bench.close()
  }

  @Test func syncDown_tokenRevoked_endsFailed() async throws {
    let bench = try await SyncBench(accounts: 1)
    try bench.org.expireSessions()
    let end = try await bench.down()
    #expect(end.status == .failed && end.failure?.code == "sessionExpired")
    await bench.close()
  }

  @Test func syncDown_readerDuringTheRun_seesWholePages() async throws {
    let bench = try await SyncBench(accounts: 40, pageSize: 10)
    let recorder = UpdateRecorder { state in
      guard state.status == .running, state.progress > 0 else { return }
      let count = (try? bench.entries().count) ?? -1
      #expect(count % 10 == 0 && count >= state.progress * 40 / 100)
    }
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    await bench.close()
  }

  /// Which of the changed records come depends on the limit, so users are warned.
  @Test func reSync_limitedQuery_isWarnedOf() async throws {
    let log = RecordedLog()
    var configuration = SyncBench.configuration
    configuration.logger = log.logger
    let bench = try await SyncBench(accounts: 2, configuration: configuration)
    let target: JSONObject = ["type": "soql", "query": "SELECT Id, Name FROM Account LIMIT 1"]
    let first = try await bench.manager.syncDown(target: target, soupName: "accounts")
    #expect(first.status == .done && !log.text.contains("LIMIT"))
    #expect(try await bench.manager.reSync(.id(first.id)).status == .done)
    #expect(log.text.contains("warning a re-sync of a query with LIMIT or OFFSET"))
    await bench.close()
  }

  @Test func syncDown_limitedQuery_warnsInTheState() async throws {
    let bench = try await SyncBench(accounts: 3)
    let manager = bench.manager, target: JSONObject = ["type": "soql", "query": "SELECT Id, Name FROM Account LIMIT 2"]
    let once = try await manager.syncDown(target: target, soupName: "accounts")
    #expect(once.warnings.isEmpty && once.json["warnings"] == [])
    let named = try await manager.syncDown(target: target, soupName: "accounts", syncName: "tutorial")
    #expect(named.warnings.count == 1 && named.warnings.first?.contains("LIMIT") == true)
    let again = try await manager.reSync(.id(once.id))
    #expect(again.warnings == named.warnings && again.json["warnings"] == .array(named.warnings.map { .string($0) }))
    #expect(try manager.getSyncStatus(.name("tutorial"))?.warnings == named.warnings)
    #expect(try await bench.down(name: "whole").warnings.isEmpty)
    await bench.close()
  }
}
