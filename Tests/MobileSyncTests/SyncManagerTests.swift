import JSON
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows S1, S3–S8, S10–S12, S14 and J4 of the acceptance list.
@Suite struct SyncManagerTests {
  @Test func make_freshStore_registersTheSyncsSoup() async throws {
    let bench = try await SyncBench()
    #expect(
      try bench.store.indexSpecs(ofSoup: "syncs_soup") == ["type", "name", "status"].map { IndexSpec(path: $0, type: .json1) })
    await bench.close()
  }

  @Test func make_statusesOfADeadProcess_onlyRunningBecomesStopped() async throws {
    let bench = try await SyncBench()
    var ids: [SyncStatus: Int64] = [:]
    for status in SyncStatus.allCases {
      for type in SyncType.allCases {
        var state = SyncState(
          type: type, name: nil, target: SyncBench.accounts, options: SyncOptions(), soupName: "accounts")
        state.status = status
        let saved = state
        ids[status] = try bench.store.writeBlocking(.synced) { try $0.create(saved.json, in: "syncs_soup") }
      }
    }
    let second = try bench.anotherManager()
    for (status, id) in ids {
      #expect(try second.getSyncStatus(.id(id))?.status == (status == .running ? .stopped : status))
    }
    await bench.close()
  }

  @Test func getSyncStatus_unknown_isNil() async throws {
    let bench = try await SyncBench()
    #expect(try bench.manager.getSyncStatus(.id(-1)) == nil)
    #expect(try bench.manager.getSyncStatus(.name("nobody")) == nil)
    #expect(try !bench.manager.hasSyncWithName("nobody"))
    await bench.close()
  }

  @Test(arguments: [nil, "named"])
  func create_get_delete(name: String?) async throws {
    let bench = try await SyncBench()
    for type in SyncType.allCases {
      let state =
        try type == .syncDown
        ? bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: name)
        : bench.manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: name)
      #expect(state.status == .new && state.progress == 0 && state.totalSize == -1 && state.maxTimeStamp == -1)
      let reference = name.map(SyncReference.name) ?? .id(state.id)
      #expect(try bench.manager.getSyncStatus(reference)?.json == state.json)
      try bench.manager.deleteSync(reference)
      #expect(try bench.manager.getSyncStatus(reference) == nil)
      #expect(try bench.manager.getSyncStatus(.id(state.id)) == nil)
      try bench.manager.deleteSync(reference)
    }
    await bench.close()
  }

  @Test func create_nameOfTheOtherKind_isRefused() async throws {
    let bench = try await SyncBench()
    try bench.manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: "one")
    #expect(throws: SyncError.duplicateName("one", .syncDown)) {
      try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "one")
    }
    #expect(throws: SyncError.duplicateName("one", .syncDown)) {
      try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "one") { _ in }
    }
    let message = SyncError.duplicateName("one", .syncDown).message
    #expect(message.contains("already a sync with name:one") && message.contains("reSync"))
    #expect(bench.manager.shared.withLock { $0.active.isEmpty })
    await bench.close()
  }

  @Test func reSync_unknown_isRefused() async throws {
    let bench = try await SyncBench()
    #expect(throws: SyncError(.noSuchSync, "Sync nobody does not exist")) {
      try bench.manager.reSync(.name("nobody")) { _ in }
    }
    #expect(throws: SyncError(.noSuchSync, "Sync 99 does not exist")) { try bench.manager.reSync(.id(99)) { _ in } }
    await bench.close()
  }

  @Test func reSync_running_isRefusedUntilItIsDone() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager
    let recorder = UpdateRecorder { state in
      guard state.status == .running else { return }
      #expect(throws: SyncError.alreadyRunning(state.id)) { try manager.reSync(.id(state.id)) { _ in } }
      #expect(throws: SyncError.alreadyRunning(state.id)) { try manager.deleteSync(.id(state.id)) }
    }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "one", onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    #expect(try await manager.reSync(.name("one")).status == .done)
    await bench.close()
  }

  /// The terminal update comes after the sync is released.
  @Test func reSync_fromTheTerminalUpdate_runs() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager, second = UpdateRecorder()
    let first = UpdateRecorder { state in
      if state.status.isTerminal { #expect(throws: Never.self) { try manager.reSync(.id(state.id), onUpdate: second.listener) } }
    }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: first.listener)
    #expect(await second.ended().status == .done)
    await bench.close()
  }

  @Test func stop_inTheMiddle_keepsWhatIsStoredAndRestartGoesOn() async throws {
    let bench = try await SyncBench(accounts: 10, pageSize: 1)
    // The records are older than the time that a re-sync looks back.
    bench.clock.advance(by: 120)
    let manager = bench.manager
    let recorder = UpdateRecorder { if $0.progress == 50 { manager.stop() } }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "one", onUpdate: recorder.listener)
    let stopped = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1"] + [0, 10, 20, 30, 40, 50].map { "RUNNING \($0)/10" } + ["STOPPED 50/10"])
    #expect(stopped.endTime > 0 && manager.isStopped && !manager.isStopping)
    #expect(try bench.entries().count == 5)
    let fifth = try bench.entries().compactMap { $0["LastModifiedDate"]?.stringValue.flatMap { TimeStamp.milliseconds($0) } }
      .max()
    #expect(stopped.maxTimeStamp == fifth)

    #expect(throws: SyncError(.managerStopped, "sync manager has state stopped")) {
      try manager.reSync(.name("one")) { _ in }
    }
    #expect(throws: SyncError.self) {
      try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "two") { _ in }
    }
    #expect(try !manager.hasSyncWithName("two"))

    try manager.restart(restartStopped: false) { _ in }
    #expect(try manager.getSyncStatus(.name("one"))?.status == .stopped)
    manager.stop()
    let again = UpdateRecorder()
    try manager.restart(restartStopped: true, onUpdate: again.listener)
    _ = await again.ended()
    #expect(again.lines == ["RUNNING 0/-1"] + [0, 16, 33, 50, 66, 83].map { "RUNNING \($0)/6" } + ["DONE 100/6"])
    #expect(try bench.names() == bench.serverNames())
    #expect(throws: SyncError.self) { try manager.restart(restartStopped: false) { _ in } }
    await bench.close()
  }

  @Test func stop_queuedSync_endsStoppedWithoutARequest() async throws {
    let bench = try await SyncBench(accounts: 5, pageSize: 1)
    let manager = bench.manager
    let second = UpdateRecorder()
    let first = UpdateRecorder { if $0.progress == 20 { manager.stop() } }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: first.listener)
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: second.listener)
    let (a, b) = (await first.ended(), await second.ended())
    #expect(a.status == .stopped && a.progress == 20)
    #expect(second.lines == ["RUNNING 0/-1", "STOPPED 0/-1"] && b.maxTimeStamp == -1 && b.counts.requests == 0)
    await bench.close()
  }

  @Test func stop_nothingActive_isStoppedAtOnce() async throws {
    let bench = try await SyncBench()
    bench.manager.stop()
    #expect(bench.manager.isStopped && !bench.manager.isStopping)
    await bench.close()
  }

  @Test func cancel_oneSync_leavesTheOthers() async throws {
    let bench = try await SyncBench(accounts: 4, pageSize: 1)
    let manager = bench.manager
    let first = UpdateRecorder { if $0.progress == 25 { manager.cancel($0.id) } }
    let second = UpdateRecorder()
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: first.listener)
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: second.listener)
    #expect(await first.ended().status == .stopped)
    #expect(await second.ended().status == .done)
    await bench.close()
  }

  @Test func shutdown_serverSilent_endsTheRunStopped() async throws {
    let bench = try await SyncBench(accounts: 1)
    let recorder = UpdateRecorder()
    bench.org.setInterceptor { _ in .delay(.seconds(600)) }
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    await bench.manager.shutdown()
    #expect(recorder.states.last?.status == .stopped)
    await bench.close()
  }

  @Test func syncs_ofOneSoup_runInOrder() async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let log = UpdateRecorder()
    for _ in 0..<3 {
      try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: log.listener)
    }
    await bench.manager.waitUntilIdle()
    let started = log.states.filter { $0.status == .running && $0.totalSize >= 0 }.map(\.id)
    #expect(started == started.sorted())
    #expect(log.states.filter { $0.status == .done }.count == 3)
    await bench.close()
  }

  @Test func getSyncStatus_afterARun_showsIt() async throws {
    let bench = try await SyncBench(accounts: 2)
    _ = try await bench.down(name: "mine")
    let state = try #require(try bench.manager.getSyncStatus(.name("mine")))
    #expect(state.progress == 100 && state.soupName == "accounts" && state.type == .syncDown)
    #expect(try bench.manager.getSyncStatus(.id(state.id)) == state)
    try bench.manager.deleteSync(.name("mine"))
    #expect(try bench.manager.getSyncStatus(.id(state.id)) == nil)
    await bench.close()
  }
}

@Suite struct SyncLeaseTests {
  @Test func reSync_runningInAnotherManager_isRefusedAndStaysRunning() async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let recorder = UpdateRecorder { state in
      guard state.status == .running, state.progress == 33 else { return }
      do {
        let other = try bench.anotherManager()
        #expect(try other.getSyncStatus(.id(state.id))?.status == .running)
        #expect(throws: SyncError.self) { try other.reSync(.id(state.id)) { _ in } }
        #expect(throws: SyncError.self) { try other.deleteSync(.id(state.id)) }
      } catch {
        Issue.record(error)
      }
    }
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    let id = try #require(recorder.states.first?.id)
    #expect(try await bench.anotherManager().reSync(.id(id)).status == .done)
    await bench.close()
  }

  @Test func make_leaseOfADeadProcess_isFreeAtOnce() async throws {
    let bench = try await SyncBench(accounts: 1)
    let state = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts")
    try leave(state, owner: dead(bench), on: bench)
    let other = try bench.anotherManager()
    #expect(try other.getSyncStatus(.id(state.id))?.status == .stopped)
    #expect(try await other.reSync(.id(state.id)).status == .done)
    await bench.close()
  }

  @Test func make_leaseOfAnotherMachine_countsUntilItExpires() async throws {
    let bench = try await SyncBench(accounts: 1)
    let state = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts")
    try leave(state, owner: "another-boot:1:1/pid:[1]/1", on: bench)
    #expect(try bench.anotherManager().getSyncStatus(.id(state.id))?.status == .running)
    var later = SyncConfiguration()
    later.now = { SyncConfiguration.systemTime() + 3_600_000 }
    let other = try SyncManager(store: bench.store, client: bench.client, configuration: later)
    #expect(try other.getSyncStatus(.id(state.id))?.status == .stopped)
    await bench.close()
  }

  @Test func syncDown_takenOverInTheMiddle_writesNothingMore() async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let recorder = UpdateRecorder { state in
      guard state.progress == 33 else { return }
      try? bench.store.writeBlocking(.synced) { transaction in
        _ = try transaction.acquireLease(
          SyncLeases.name(state.id), owner: "another", now: 0, duration: .max / 2, takeover: { _ in true })
      }
    }
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(end.status == .failed && end.failure?.code == "leaseLost")
    #expect(try bench.entries().count == 1)
    #expect(try bench.manager.getSyncStatus(.id(end.id))?.status == .running, "the row is the other process's")
    await bench.close()
  }

  /// Returns the owner text of a process of this boot that has certainly ended.
  private func dead(_ bench: SyncBench) -> String {
    let parts = bench.manager.leases.owner.split(separator: "/").map(String.init)
    let boot = parts[0].prefix { $0 != ":" }
    return "\(boot):4194304:1/\(parts[1])/1"
  }

  private func leave(_ state: SyncState, owner: String, on bench: SyncBench) throws {
    var running = state
    running.enter(.running, now: 1)
    let saved = running
    try bench.store.writeBlocking(.synced) { transaction in
      try SyncsSoup.save(saved, in: transaction)
      _ = try transaction.acquireLease(
        SyncLeases.name(state.id), owner: owner, now: SyncConfiguration.systemTime(), duration: 600_000,
        takeover: { _ in false })
    }
  }
}
