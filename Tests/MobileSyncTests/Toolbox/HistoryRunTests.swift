import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

extension SyncBench {
  /// Keeps a history from now on.
  func keepHistory(_ level: HistoryLevel = .all, _ report: @escaping @Sendable (String) -> Void = { _ in }) {
    store.keepHistory(level, of: HistoryActor(.script, name: "edits.lua", host: "here", uid: 1, version: "1"), report: report)
  }

  /// `cause entry version fields reason run`, a line each.
  func log(_ causes: String...) throws -> [String] {
    try store.readBlocking { snapshot in
      try snapshot.history(HistoryQuery(.log)).filter { causes.isEmpty || causes.contains($0.texts[0] ?? "") }.map { row in
        [
          row.texts[0] ?? "", "\(row.integers[4] ?? 0)", "v\(row.integers[5] ?? 0)",
          HistoryText.list(row.texts[2])?.joined(separator: ",") ?? "-", row.texts[1] ?? "-",
          row.integers[1].map { "run \($0)" } ?? "-",
        ].joined(separator: " ")
      }
    }
  }

  func rows(_ table: HistoryTable) throws -> [HistoryRow] { try store.readBlocking { try $0.history(HistoryQuery(table)) } }

  func runs(_ change: (inout RunFilter) -> Void = { _ in }) throws -> [ToldRun] {
    var filter = RunFilter()
    change(&filter)
    return try manager.look.runs(filter)
  }
}

/// What the runs of syncs leave in the history.
@Suite struct HistoryRunTests {
  private static let options: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "MERGE"]

  private func bench(
    _ kind: UploadKind = .collection, accounts: Int = 0, pageSize: Int = 2000,
    configuration: SyncConfiguration = SyncBench.configuration
  ) async throws -> SyncBench {
    let bench = try await SyncBench(kind: kind, accounts: accounts, pageSize: pageSize, configuration: configuration)
    bench.keepHistory()
    try bench.manager.createSyncUp(
      target: bench.upTarget, options: Self.options, soupName: "accounts", syncName: "accountsUp")
    return bench
  }

  // MARK: Runs

  /// Row 43: a run's counts and requests are those of the sync and the server.
  @Test func row43_run_hasTheCountsOfTheSyncAndTheRequestsOfTheServer() async throws {
    let bench = try await bench(accounts: 5, pageSize: 2)
    let down = try await bench.down(name: "accountsDown")
    try bench.createLocally("New")
    let up = try await bench.manager.reSync(.name("accountsUp"))
    let ghosts = try await bench.manager.cleanResyncGhosts(.name("accountsDown"))
    let runs = try bench.runs()
    #expect(runs.map(\.number) == [3, 2, 1] && runs.map(\.status) == ["DONE", "DONE", "DONE"])
    #expect(runs.map { $0.json["name"] } == ["accountsDown", "accountsUp", "accountsDown"])
    #expect(runs.map { $0.json["kind"] } == ["ghosts", "syncUp", "syncDown"])
    for (run, state) in [(runs[2], down), (runs[1], up)] {
      let counts = try #require(run.json["counts"])
      for field in SyncCounts.fields { #expect(counts[field.name] == .integer(Int64(state.counts[keyPath: field.path]))) }
      #expect(run.json["startedAt"] == .integer(state.startTime) && run.json["endedAt"] == .integer(state.endTime))
      #expect(run.json["limitInfo"]?.stringValue == state.limitInfo && run.json["by"]?["name"] == "edits.lua")
    }
    #expect(runs[0].json["counts"]?["removed"] == .integer(Int64(ghosts)))
    // Every request of the server's log is an event, in its run.
    let seen = bench.requests()
    let told = try bench.manager.look.requestsJSON()["requests"]?.arrayValue ?? []
    #expect(told.map { "\($0["method"]?.stringValue ?? "") \($0["path"]?.stringValue ?? "")" }.sorted() == seen.sorted())
    #expect(told.allSatisfy { $0["status"] == 200 && $0["server"] == "127.0.0.1" && $0["attempt"] == 1 }, "\(told)")
    let detail = try bench.manager.look.run(1).json
    #expect(detail["events"]?.arrayValue?.filter { $0["kind"] == "page" }.compactMap { $0["rows"] } == [2, 2, 1])
    #expect(detail["events"]?.arrayValue?.last?["kind"] == "end" && detail["omitted"] == 0 && detail["entries"] == [])
    let entries = try bench.manager.look.run(2).json["entries"]
    #expect(entries?.arrayValue?.map { $0["cause"] } == ["uploaded"], "\(String(describing: entries))")
    await bench.close()
  }

  @Test func run_thatFails_hasItsErrorAndItsRequests() async throws {
    let bench = try await bench(accounts: 1)
    bench.org.setInterceptor { _ in .respond(status: 503, body: "[]") }
    let state = try await bench.down(name: "accountsDown")
    bench.org.setInterceptor(nil)
    _ = try await bench.manager.reSync(.name("accountsDown"))
    let run = try #require(try bench.runs { $0.onlyFailed = true }.first), json = run.json
    #expect(try run.number == 1 && json["status"] == "FAILED" && bench.runs { $0.onlyFailed = true }.count == 1)
    #expect(json["error"]?["message"]?.stringValue == state.failure?.message && json["error"]?["domain"] == "network")
    #expect(try bench.manager.look.run(1).json["errors"] == [["code": "503", "count": 1]])
    #expect(throws: SyncError.self) { try bench.manager.look.run(99) }
    let overview = try bench.manager.getOverview()
    #expect(overview.json["history"] == "all")
    await bench.close()
  }

  /// After a failure the history still knows the last success.
  @Test func lastSuccess_afterAFailure_isKnown() async throws {
    let bench = try await bench(accounts: 1)
    let done = try await bench.down(name: "accountsDown")
    bench.org.setInterceptor { _ in .respond(status: 503, body: "[]") }
    #expect(try await bench.manager.reSync(.name("accountsDown")).status == .failed)
    let sync = try #require(try bench.manager.getOverview().syncs.first { $0.state.name == "accountsDown" })
    #expect(sync.lastSuccess == done.endTime)
    await bench.close()
  }

  @Test func runsOfOneSync_since_before_areFiltered() async throws {
    let bench = try await bench(accounts: 1)
    _ = try await bench.down(name: "a")
    for _ in 0..<3 { _ = try await bench.manager.reSync(.name("a")) }
    _ = try await bench.manager.reSync(.name("accountsUp"))
    #expect(try bench.runs { $0.sync = .name("a") }.map(\.number) == [4, 3, 2, 1])
    #expect(try bench.runs { ($0.before, $0.limit) = (4, 2) }.map(\.number) == [3, 2])
    #expect(try bench.runs { $0.since = .max }.isEmpty)
    #expect(throws: SyncError.self) { try bench.runs { $0.sync = .name("none") } }
    await bench.close()
  }

  // MARK: Row 14: killed runs

  /// At each commit of a run: the rows of the log are those of what is in the soup, the run is ABANDONED, and closed by
  /// the next manager.
  @Test(arguments: 1...6) func row14_killedRun_isAbandonedThenClosed(page: Int) async throws {
    let bench = try await bench(accounts: 14, pageSize: 2)
    let boot = bench.manager.leases.owner.split(separator: "/")
    let dead = "\(boot[0].prefix { $0 != ":" }):4194304:1/\(boot[1])/1"
    let pages = Mutex(0)
    let recorder = UpdateRecorder { state in
      guard state.status == .running, state.progress > 0,
        pages.withLock({ count in
          count += 1
          return count
        }) == page
      else { return }
      // Nothing of this run is written after that, as if it had ended here.
      try? bench.store.writeBlocking(.synced) { transaction in
        _ = try transaction.acquireLease(
          SyncLeases.name(state.id), owner: dead, now: 0, duration: .max / 2, takeover: { _ in true })
      }
    }
    try bench.manager.syncDown(
      target: SyncBench.accounts, soupName: "accounts", syncName: "s", onUpdate: recorder.listener)
    _ = await recorder.ended()
    let stored = try bench.entries().count
    let events = try bench.rows(.events).filter { $0.texts[0] == "page" }
    #expect(events.reduce(0) { $0 + ($1.integers[3] ?? 0) } == Int64(stored), "a page has its row in its own transaction")
    #expect(try bench.runs().map(\.status) == ["ABANDONED"])
    #expect(try bench.rows(.runs).map { $0.texts[2] } == ["RUNNING"], "the row stays")
    let next = try bench.anotherManager()
    #expect(try bench.rows(.runs).map { $0.texts[2] } == ["ABANDONED"])
    #expect(try await next.reSync(.name("s")).status == .done)
    #expect(try bench.runs().map(\.status) == ["DONE", "ABANDONED"])
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func row14_ghostRunOfADeadProcess_isClosedByTheNextRun() async throws {
    let bench = try await bench(accounts: 1)
    let state = try await bench.down(name: "s"), boot = bench.manager.leases.owner.split(separator: "/")
    let dead = "\(boot[0].prefix { $0 != ":" }):4194304:1/\(boot[1])/1"
    try await bench.store.write(.synced) { transaction in
      _ = transaction.history?.begin(HistoryRun(state.id, name: "s", .ghosts, pid: 1, job: nil, startedAt: 1))
      _ = try transaction.acquireLease(SyncLeases.name(state.id), owner: dead, now: 0, duration: 1, takeover: { _ in true })
    }
    #expect(try bench.runs().map(\.status) == ["ABANDONED", "DONE"])
    _ = try await bench.manager.reSync(.name("s"))
    #expect(try bench.rows(.runs).map { $0.texts[2] } == ["DONE", "ABANDONED", "DONE"])
    await bench.close()
  }

  // MARK: Requests of a long run

  /// Row 15: the first requests and every failure as they end, the last ones at the end, and a count of the rest.
  @Test func row15_longRun_keepsItsEdges() throws {
    func kept(_ count: Int, failing: Set<Int> = []) throws -> (events: [HistoryRow], early: Int) {
      let test = try TemporaryStore()
      test.store.keepHistory(.all, of: HistoryActor(.host))
      let run = try test.store.writeBlocking(.pulled) {
        $0.history?.begin(HistoryRun(1, name: nil, .syncDown, pid: 1, job: nil, startedAt: 1))
      }
      let history = RunHistory(run)
      for n in 1...count {
        history.note(
          RestTrace(
            method: .GET, path: "/\(n)", status: failing.contains(n) ? 500 : 200, errorCode: nil, attempt: 1, bytesSent: 0,
            bytesReceived: 1, durationMs: 1, server: "s", startedAt: Int64(n)))
      }
      let step = history.step()
      try test.store.writeBlocking(.pulled) { history.begin(step, in: $0, now: 1) }
      history.written(step)
      let early = try test.store.readBlocking { try $0.history(HistoryQuery(.events)) }.count
      let last = history.step()
      try test.store.writeBlocking(.pulled) { transaction in
        history.begin(last, in: transaction, now: 2)
        history.end(RunEnd(status: "DONE", at: 2, text: "{}"), last, in: transaction)
      }
      return (try test.store.readBlocking { try $0.history(HistoryQuery(.events)) }, early)
    }
    let short = try kept(40)
    #expect(short.early == 40 && short.events.count == 41 && short.events.last?.integers[3] == 0)
    let whole = try kept(500)
    #expect(whole.early == 50 && whole.events.count == 501 && whole.events.last?.integers[3] == 0)
    let long = try kept(10_000, failing: [300, 9_999])
    #expect(long.early == 52 && long.events.count == 103 && long.events.last?.integers[3] == 9_898, "\(long.events.count)")
    #expect(long.events.dropLast().last?.texts[3] == "/10000" && long.events.contains { $0.texts[3] == "/300" })
  }

  // MARK: Row 16: the history fails

  @Test(
    .enabled(if: TestEngine.isSQLite, "drops a table of the file"), arguments: ["entry_log", "run_events", "sync_runs", "actors"])
  func row16_droppedTable_theSyncIsDoneAndOneLineSaysWhy(table: String) async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let lines = Mutex<[String]>([])
    bench.keepHistory { text in lines.withLock { $0.append(text) } }
    try bench.store.executeOnSeparateConnection("DROP TABLE \(table)")
    #expect(try await bench.down(name: "s").status == .done)
    try bench.createLocally("New")
    let up = try await bench.up()
    #expect(up.status == .done && up.counts.succeeded == 1)
    #expect(try bench.names() == bench.serverNames())
    #expect(lines.withLock { $0 }.count == 1 && lines.withLock { $0 }[0].contains(table), "\(lines.withLock { $0 })")
    await bench.close()
  }

  // MARK: Row 10: off

  @Test(arguments: UploadKind.allCases) func row10_off_keepsNothingAndChangesNothing(kind: UploadKind) async throws {
    var ends: [[String]] = []
    for level in [HistoryLevel.off, .all] {
      let bench = try await SyncBench(kind: kind, accounts: 3, pageSize: 2)
      bench.keepHistory(level)
      let down = try await bench.down(name: "s")
      try bench.updateLocally("Account 1", ["Name": .string(String(repeating: "n", count: 300))])
      try bench.updateLocally("Account 0", ["Description": "mine"])
      let up = try await bench.up()
      let requests = bench.requests().map { $0.replacingOccurrences(of: "001", with: "") }
      ends.append(
        [down, up].map { state in
          SyncCounts.fields.filter { $0.name != "bytes" }.map { "\($0.name) \(state.counts[keyPath: $0.path])" }.joined(
            separator: " ")
        } + ["\(requests.count)"] + (try bench.names()))
      for table in HistoryTable.allCases { #expect(try bench.rows(table).isEmpty == (level == .off), "\(table)") }
      #expect(try bench.runs().isEmpty == (level == .off))
      #expect(try bench.manager.look.runsJSON()["history"] == .string(level.rawValue))
      await bench.close()
    }
    #expect(ends[0] == ends[1])
  }
}
