import JSON
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Iteration over a sync's runs.
@Suite struct SyncRunsTests {
  private static func bench(_ pageSize: Int = 1) async throws -> SyncBench {
    let bench = try await SyncBench(accounts: 3, pageSize: pageSize)
    try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "down")
    return bench
  }

  @Test func runs_iterated_runTheSyncAndEndWithItsLastState() async throws {
    let bench = try await Self.bench()
    let runs = bench.manager.runs(named: "down")
    #expect(try bench.manager.getSyncStatus(.name("down"))?.status == .new, "nothing runs before")
    var states: [SyncState] = []
    for try await state in runs { states.append(state) }
    #expect(states.first?.status == .running && states.last?.status == .done)
    #expect(states.map(\.progress) == states.map(\.progress).sorted() && states.last?.totalSize == 3)
    // Each iteration is a separate run.
    try bench.change(try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue), ["Description": "new"])
    var last: SyncState?
    for try await state in bench.manager.runs(id: try #require(states.last?.id)) { last = state }
    #expect(last?.status == .done && last?.counts.fetched == 1)
    await bench.close()
  }

  @Test func runs_loopLeftEarly_stopsTheRun() async throws {
    let bench = try await Self.bench()
    for try await state in bench.manager.runs(named: "down") where state.progress > 0 { break }
    await bench.manager.waitUntilIdle()
    let state = try #require(try bench.manager.getSyncStatus(.name("down")))
    #expect(state.status == .stopped && state.counts.stored < 3, "\(state)")
    #expect(try await bench.manager.reSync(named: "down").status == .done)
    #expect(try bench.names().count == 3)
    await bench.close()
  }

  @Test func runs_taskCancelled_stopsTheRunAndEndsTheLoop() async throws {
    let bench = try await Self.bench()
    let (reached, signal) = AsyncStream.makeStream(of: Void.self)
    let manager = bench.manager
    let loop = Task {
      var count = 0
      for try await _ in manager.runs(named: "down") {
        count += 1
        signal.yield()
        // Until it is cancelled.
        try? await Task.sleep(for: .seconds(3600))
      }
      return count
    }
    for await _ in reached { break }
    loop.cancel()
    #expect(try await loop.value >= 1)
    await manager.waitUntilIdle()
    #expect(try manager.getSyncStatus(.name("down"))?.status != .running)
    await bench.close()
  }

  @Test func runs_inATaskThatIsCancelledAlready_startNothing() async throws {
    let bench = try await Self.bench()
    let manager = bench.manager
    let loop = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      for try await _ in manager.runs(named: "down") {}
    }
    await #expect(throws: CancellationError.self) { try await loop.value }
    #expect(try manager.getSyncStatus(.name("down"))?.status == .new)
    await bench.close()
  }

  @Test func runs_thatCannotStart_throw() async throws {
    let bench = try await Self.bench()
    await #expect(throws: SyncError.self) { for try await _ in bench.manager.runs(named: "other") {} }
    bench.manager.stop()
    await #expect(throws: SyncError.self) { for try await _ in bench.manager.runs(named: "down") {} }
    await bench.close()
  }

  @Test func run_withUpdates_tellsEveryStateAndGivesTheLast() async throws {
    let bench = try await Self.bench()
    let recorder = UpdateRecorder()
    let end = try await bench.manager.run(.name("down"), onUpdate: recorder.listener)
    let told = await recorder.ended()
    #expect(end.status == .done && told == end)
    await bench.close()
  }
}
