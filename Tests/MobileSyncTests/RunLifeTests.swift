import Dispatch
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Runs that are cancelled, abandoned by their process, or started during shutdown.
@Suite struct RunLifeTests {
  // MARK: Who is told first

  @Test func updates_openedByTheListenerOfTheEnd_haveNothingOfThatRun() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager, opened = Mutex<AsyncStream<SyncState>?>(nil)
    let recorder = UpdateRecorder { state in
      if state.status.isTerminal { opened.withLock { $0 = manager.updates(id: state.id) } }
    }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    await bench.close()
    let later = try #require(opened.withLock { $0 })
    #expect(await later.reduce(into: []) { $0.append($1.status) } == [])
  }

  @Test func updates_listenerStartsTheSyncAgain_showOneRunAfterTheOther() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager, second = UpdateRecorder()
    let first = UpdateRecorder { state in
      if state.status.isTerminal { #expect(throws: Never.self) { try manager.reSync(.id(state.id), onUpdate: second.listener) } }
    }
    let updates = manager.updates(named: "down")
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "down", onUpdate: first.listener)
    #expect(await second.ended().status == .done)
    await bench.close()
    let told = await updates.reduce(into: []) { $0.append($1.json) }
    #expect(told == (first.states + second.states).map(\.json))
  }

  @Test func conflictUpdates_openedByTheListenerOfAConflict_lackIt() async throws {
    let bench = try await SyncBench(accounts: 1)
    let manager = bench.manager, opened = Mutex<AsyncStream<SyncConflict>?>(nil)
    _ = try await manager.syncDown(target: SyncBench.accounts, soupName: "accounts")
    try bench.updateLocally("Account 0", ["Description": "mine"])
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.org.update("Account", id: id, fields: ["Description": "theirs"])
    let recorder = UpdateRecorder()
    try manager.syncDown(
      target: SyncBench.accounts, options: SyncBench.merge, soupName: "accounts",
      onConflict: { _ in opened.withLock { $0 = manager.conflictUpdates() } }, onUpdate: recorder.listener)
    #expect(await recorder.ended().counts.conflicting == 1)
    await bench.close()
    let later = try #require(opened.withLock { $0 })
    #expect(await later.reduce(into: 0) { count, _ in count += 1 } == 0)
  }

  // MARK: Another process that died

  /// Leaves a sync in the state of a process that was killed while it ran.
  private func abandon(_ name: String, _ bench: SyncBench) throws -> Int64 {
    let made = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: name)
    let parts = bench.manager.leases.owner.split(separator: "/")
    let dead = "\(parts[0].prefix { $0 != ":" }):4194304:1/\(parts[1])/1"
    try bench.store.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease(
        SyncLeases.name(made.id), owner: dead, now: 0, duration: .max / 2, takeover: { _ in true })
      var state = made
      state.enter(.running, now: 1)
      try SyncsSoup.save(state, in: transaction)
    }
    return made.id
  }

  @Test func getSyncStatus_processDiedMeanwhile_isStopped() async throws {
    let bench = try await SyncBench(accounts: 2)
    let id = try abandon("s", bench)
    var updates = bench.manager.updates(named: "s").makeAsyncIterator()
    let column = QuerySpec.smart("SELECT {syncs_soup:status} FROM {syncs_soup}", pageSize: 1)
    #expect(try bench.store.query(column).elementsEqual(#"[["RUNNING"]]"#.utf8), "a query reads what the process wrote last")
    let found = try bench.manager.getSyncStatus(.id(id))
    #expect(found?.status == .stopped && (found?.endTime ?? 0) > 0)
    #expect(await updates.next()?.status == .stopped)
    // The store has the new state for other readers.
    let stored = try bench.store.readBlocking { try SyncsSoup.find(.id(id), in: $0) }
    #expect(stored?.status == .stopped)
    #expect(try bench.store.query(column).elementsEqual(#"[["STOPPED"]]"#.utf8))
    #expect(try await bench.manager.reSync(.id(id)).status == .done)
    await bench.close()
  }

  @Test func restart_processDiedMeanwhile_runsItsSync() async throws {
    let bench = try await SyncBench(accounts: 2)
    let id = try abandon("s", bench)
    bench.manager.stop()
    let recorder = UpdateRecorder()
    #expect(try bench.manager.restart(restartStopped: true, onUpdate: recorder.listener) == [id])
    #expect(await recorder.ended().status == .done)
    await bench.close()
  }

  @Test func getSyncStatus_runningInAnotherManager_staysRunning() async throws {
    let bench = try await SyncBench(accounts: 4, pageSize: 2)
    let other = try bench.anotherManager(), seen = Mutex<[SyncStatus?]>([])
    let recorder = UpdateRecorder { state in
      guard state.status == .running else { return }
      let status = try? other.getSyncStatus(.id(state.id))?.status
      seen.withLock { $0.append(status) }
    }
    try bench.manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    #expect(await recorder.ended().status == .done)
    #expect(seen.withLock { $0.allSatisfy { $0 == .running } && !$0.isEmpty })
    await bench.close()
  }

  // MARK: Cancelling

  /// Blocks a fetch until it is released.
  private func holding(_ bench: SyncBench, _ method: String) -> AsyncStream<Bool> {
    let (reached, signal) = AsyncStream.makeStream(of: Bool.self)
    bench.org.setInterceptor { request in
      guard request.method == method, !request.path.contains("oauth") else { return nil }
      signal.yield(true)
      return .delay(.seconds(3_600))
    }
    return reached
  }

  private func first(_ stream: AsyncStream<Bool>) async { for await _ in stream { return } }

  @Test func syncDown_awaitingTaskIsCancelled_endsStopped() async throws {
    let bench = try await SyncBench(accounts: 2)
    let reached = holding(bench, "GET")
    let waiting = Task { try await bench.down(name: "s") }
    await first(reached)
    waiting.cancel()
    let end = try await waiting.value
    #expect(end.status == .stopped)
    #expect(try bench.manager.getSyncStatus(.name("s"))?.status == .stopped && !bench.manager.isRunning(end.id))
    bench.org.setInterceptor(nil)
    #expect(try await bench.manager.reSync(.name("s")).status == .done)
    await bench.close()
  }

  @Test func reSync_awaitingTaskIsCancelled_endsStopped() async throws {
    let bench = try await SyncBench(accounts: 2)
    #expect(try await bench.down(name: "s").status == .done)
    let reached = holding(bench, "GET"), manager = bench.manager
    let waiting = Task { try await manager.reSync(named: "s") }
    await first(reached)
    waiting.cancel()
    #expect(try await waiting.value.status == .stopped)
    await bench.close()
  }

  /// A sync up that waits in the queue is cancelled at once, and sends nothing.
  @Test func syncUp_awaitingTaskIsCancelledInTheQueue_sendsNothing() async throws {
    let bench = try await SyncBench(accounts: 2)
    try bench.createLocally("L")
    let reached = holding(bench, "GET"), manager = bench.manager
    let recorder = UpdateRecorder()
    let down = try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    await first(reached)
    var states = manager.updates(named: "up").makeAsyncIterator()
    let waiting = Task {
      try await manager.syncUp(options: SyncBench.upload, soupName: "accounts", syncName: "up")
    }
    #expect(await states.next()?.isQueued == true)
    waiting.cancel()
    #expect(try await waiting.value.status == .stopped)
    #expect(!bench.requests().contains { $0.hasPrefix("POST") } && manager.isRunning(down.id))
    manager.cancel(down.id)
    #expect(await recorder.ended().status == .stopped)
    await bench.close()
  }

  @Test func cleanResyncGhosts_awaitingTaskIsCancelled_throwsStopped() async throws {
    let bench = try await SyncBench(accounts: 2)
    #expect(try await bench.down(name: "s").status == .done)
    let reached = holding(bench, "GET"), manager = bench.manager
    let waiting = Task { try await manager.cleanGhosts(named: "s") }
    await first(reached)
    waiting.cancel()
    await #expect(throws: SyncError(.stopped, "the sync was stopped")) { try await waiting.value }
    await bench.close()
  }

  @Test func syncDown_taskCancelledBefore_startsNothing() async throws {
    let bench = try await SyncBench(accounts: 2)
    let waiting = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await bench.down(name: "s")
    }
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(try !bench.manager.hasSyncWithName("s") && bench.requests().isEmpty)
    await bench.close()
  }

  // MARK: Ends

  @Test func runs_ended_leaveNothingBehind() async throws {
    let bench = try await SyncBench(accounts: 1)
    for _ in 0..<20 { _ = try await bench.down() }
    let named = try await bench.down(name: "s")
    _ = try await bench.manager.cleanGhosts(id: named.id)
    await bench.manager.waitUntilIdle()
    let left = bench.manager.shared.withLock { [$0.runs.count, $0.tasks.count, $0.active.count, $0.queued.count] }
    #expect(left == [0, 0, 0, 0])
    let (ended, signal) = AsyncStream.makeStream(of: Bool.self)
    bench.manager.whenEnded([named.id]) { signal.yield(true) }
    await first(ended)
    await bench.close()
  }

  /// A run that is started during shutdown either does not start, or has ended when `shutdown`
  /// returns.
  @Test func reSync_whileShuttingDown_neverRunsOn() async throws {
    for round in 0..<40 {
      let bench = try await SyncBench(accounts: 2)
      let made = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
      let manager = bench.manager, recorder = UpdateRecorder()
      async let started: Bool = {
        for _ in 0..<round { await Task.yield() }
        return (try? await SyncManager.onStartQueue { try manager.reSync(.id(made.id), onUpdate: recorder.listener) }) != nil
      }()
      await manager.shutdown()
      let countAtEnd = recorder.states.count, isOver = recorder.states.last?.status.isTerminal ?? true
      let didStart = await started
      #expect(isOver && recorder.states.count == countAtEnd, "round \(round): \(recorder.lines)")
      #expect(didStart || recorder.states.isEmpty)
      #expect(manager.shared.withLock { $0.isIdle })
      #expect(throws: SyncError.self) { try manager.reSync(.id(made.id)) { _ in } }
      await bench.close()
    }
  }

  /// A deterministic version: the run is saved as RUNNING when the shutdown starts.
  @Test func shutdown_whileASyncIsBeingStarted_waitsForItsEnd() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager, states = Mutex<[SyncStatus]>([])
    let (reached, signal) = AsyncStream.makeStream(of: Bool.self), ended = Mutex(false)
    let gate = DispatchSemaphore(value: 0)
    async let started = SyncManager.onStartQueue {
      try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s") { state in
        states.withLock { $0.append(state.status) }
        // The first update comes before the run's task exists.
        guard state.status == .running, states.withLock({ $0.count }) == 1 else { return }
        signal.yield(true)
        gate.wait()
      }
    }
    await first(reached)
    let end = Task {
      await manager.shutdown()
      ended.withLock { $0 = true }
    }
    while manager.shared.withLock({ $0.isAccepting }) { try await Task.sleep(for: .milliseconds(1)) }
    #expect(!ended.withLock { $0 })
    gate.signal()
    _ = try await started
    await end.value
    #expect(states.withLock { $0.last } == .stopped)
    await bench.close()
  }
}
