import JSON
import RestClient
import SandboxOrg
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync

/// Leases of runs: how they are renewed, and what a run does that has lost its own.
@Suite struct LeaseTests {
  private static let down = SyncBench.accounts

  private func lease(_ id: Int64, _ bench: SyncBench) throws -> Lease? {
    try bench.store.readBlocking { try $0.lease(SyncLeases.name(id)) }
  }

  /// Gives the lease to another host.
  private static func steal(_ id: Int64, _ store: Store) throws {
    try store.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease(
        SyncLeases.name(id), owner: "another-boot:1:1/pid:[1]/1", now: SyncConfiguration.systemTime(), duration: 600_000,
        takeover: { _ in true })
    }
  }

  /// Holds requests back for good.
  /// - Returns: An element for each of them.
  private func holding(_ bench: SyncBench, _ method: String) -> AsyncStream<Void> {
    let (reached, signal) = AsyncStream.makeStream(of: Void.self)
    bench.org.setInterceptor { request in
      guard request.method == method, !request.path.contains("oauth") else { return nil }
      signal.yield()
      return .delay(.seconds(3_600))
    }
    return reached
  }

  @Test func syncDown_longRequest_keepsItsLease() async throws {
    let clock = LeaseClock(), bench = try await SyncBench(accounts: 1, configuration: clock.configuration)
    var reached = holding(bench, "GET").makeAsyncIterator()
    let recorder = UpdateRecorder()
    let id = try bench.manager.syncDown(target: Self.down, soupName: "accounts", onUpdate: recorder.listener).id
    await reached.next()
    let first = try #require(try lease(id, bench))
    for times in 1...6 {
      clock.advance(by: 10_000)
      await clock.letRenew()
      let renewed = try #require(try lease(id, bench))
      // On PostgreSQL the server's clock counts, which goes on while the test's stands still.
      #expect(TestEngine.isPostgres || renewed.expiresAt == first.expiresAt + Int64(times) * 10_000)
      #expect(renewed.fence == first.fence && renewed.owner == first.owner)
    }
    bench.manager.stop()
    #expect(await recorder.ended().status == .stopped)
    #expect(try lease(id, bench)?.expiresAt == 0, "given back")
    await bench.close()
  }

  @Test func syncDown_leaseTakenDuringARequest_endsAtTheNextRenewal() async throws {
    let clock = LeaseClock(), bench = try await SyncBench(accounts: 1, configuration: clock.configuration)
    var reached = holding(bench, "GET").makeAsyncIterator()
    let recorder = UpdateRecorder()
    let id = try bench.manager.syncDown(target: Self.down, soupName: "accounts", onUpdate: recorder.listener).id
    await reached.next()
    try Self.steal(id, bench.store)
    let stolen = try lease(id, bench)
    clock.advance(by: 10_000)
    await clock.letRenew()
    let end = await recorder.ended()
    #expect(end.status == .failed && end.failure?.code == "leaseLost")
    let left = try lease(id, bench)
    #expect(left?.owner == stolen?.owner && left?.fence == stolen?.fence, "the other host's lease stays")
    await bench.close()
  }

  /// A host that was suspended for longer than a lease sends nothing more once another one may have taken over.
  @Test(arguments: [true, false]) func syncUp_suspendedBetweenRequests_sendsOnlyWithItsLease(isTaken: Bool) async throws {
    let clock = LeaseClock(), bench = try await SyncBench(kind: .plain, configuration: clock.configuration)
    for n in 0..<3 { try bench.createLocally("new \(n)") }
    let sent = Mutex(0), store = bench.store
    let id = try bench.manager.createSyncUp(target: bench.upTarget, options: SyncBench.upload, soupName: "accounts").id
    bench.org.setInterceptor { request in
      guard request.method == "POST", request.path.contains("sobjects") else { return nil }
      let count = sent.withLock { count in
        count += 1
        return count
      }
      guard count == 1 else { return nil }
      clock.advance(by: 20_000)
      if isTaken { try? Self.steal(id, store) }
      return nil
    }
    let recorder = UpdateRecorder()
    try bench.manager.reSync(.id(id), onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(sent.withLock { $0 } == (isTaken ? 1 : 3))
    #expect(end.status == (isTaken ? .failed : .done) && end.failure?.code == (isTaken ? "leaseLost" : nil))
    #expect(try bench.serverNames().count == (isTaken ? 1 : 3))
    await bench.close()
  }

  /// A request that nobody may send any more, because the store cannot be reached to renew the lease.
  @Test func send_leaseCannotBeRenewed_isNotSent() async throws {
    let clock = LeaseClock(), bench = try await SyncBench(accounts: 1, configuration: clock.configuration)
    let configuration = clock.configuration, control = RunControl()
    let lease = try bench.store.writeBlocking(.synced) { transaction in
      try bench.manager.leases.acquire(1, now: configuration.now(), duration: configuration.leaseMs, in: transaction)
    }
    let held = HeldLease(lease, since: 0, control, configuration), renewals = LeaseRenewals(bench.store, configuration)
    let query = bench.client.requests.query(soql: "SELECT Id FROM Account")
    func send() async -> RestError? {
      await renewals.holding(held) {
        do {
          _ = try await bench.client.send(query)
          return nil
        } catch { return error as? RestError }
      }
    }
    clock.advance(by: 19_999)
    bench.store.close()
    #expect(await send() == nil)
    bench.org.clearRequests()
    clock.advance(by: 1)
    let refused = await send()
    #expect(refused?.code == .cancelled && refused?.outcome == .notSent)
    #expect(bench.requests() == [])
    let failure = held.failure as? SyncError
    #expect(failure?.is(.leaseNotRenewed) == true && failure?.isRetryable == true)
    #expect(failure?.message.hasPrefix("the lease 'sync:1' was not renewed for 20 s, so nothing more is sent: ") == true)
    #expect(control.isStopping)
    await bench.close()
  }

  /// A run that could not reach the store at its end leaves a lease that nobody renews, also if its process goes on.
  @Test(
    .enabled(if: TestEngine.isSQLite, "on PostgreSQL leases end by the server's clock; see LeaseTests of PostgresStoreTests"),
    arguments: [(59_000, false), (61_000, true)])
  func reSync_expiredLeaseOfALivingProcess_isFreeAfterAMinute(ago: Int64, isFree: Bool) async throws {
    let bench = try await SyncBench(accounts: 1)
    let id = try bench.manager.createSyncDown(target: Self.down, soupName: "accounts").id, other = try bench.anotherManager()
    let owner = bench.manager.leases.owner
    try bench.store.writeBlocking(.synced) { transaction in
      _ = try transaction.acquireLease(
        SyncLeases.name(id), owner: owner, now: SyncConfiguration.systemTime() - 600_000, duration: 600_000 - ago,
        takeover: { _ in false })
    }
    let recorder = UpdateRecorder()
    do {
      try other.reSync(.id(id), onUpdate: recorder.listener)
      #expect(isFree)
      #expect(await recorder.ended().status == .done)
    } catch let error as SyncError {
      #expect(!isFree && error.is(.runningElsewhere))
    }
    await other.shutdown()
    await bench.close()
  }

  // MARK: Ghosts

  @Test func cleanResyncGhosts_runningElsewhere_isRefused() async throws {
    let bench = try await SyncBench(accounts: 2)
    let id = try await bench.down().id
    try Self.steal(id, bench.store)
    let error = await #expect(throws: SyncError.self) { try await bench.manager.cleanResyncGhosts(.id(id)) }
    #expect(error?.is(.runningElsewhere) == true)
    await bench.close()
  }

  @Test func cleanResyncGhosts_running_keepsOthersOut() async throws {
    let clock = LeaseClock(), bench = try await SyncBench(accounts: 2, configuration: clock.configuration)
    let id = try await bench.down().id, other = try bench.anotherManager()
    var reached = holding(bench, "GET").makeAsyncIterator()
    let cleaning = Task { try await bench.manager.cleanResyncGhosts(.id(id)) }
    await reached.next()
    let error = #expect(throws: SyncError.self) { try other.reSync(.id(id), onUpdate: { _ in }) }
    #expect(error?.is(.runningElsewhere) == true)
    try Self.steal(id, bench.store)
    clock.advance(by: 10_000)
    await clock.letRenew()
    let lost = await #expect(throws: SyncError.self) { try await cleaning.value }
    #expect(lost?.code == "leaseLost")
    await bench.close()
  }
}

/// A clock that stands still, and renewals of leases that wait until they are let.
private final class LeaseClock: Sendable {
  private struct State {
    var elapsed: Int64 = 0
    var renewal: CheckedContinuation<Void, Never>?
    var waiting: CheckedContinuation<Void, Never>?
  }

  private let start = SyncConfiguration.systemTime()
  private let state = Mutex(State())

  var configuration: SyncConfiguration {
    var configuration = SyncBench.configuration
    configuration.now = { self.start + self.state.withLock { $0.elapsed } }
    configuration.uptime = { self.state.withLock { $0.elapsed } }
    configuration.pause = { _ in try await self.pause() }
    return configuration
  }

  func advance(by ms: Int64) { state.withLock { $0.elapsed += ms } }

  private func pause() async throws {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isOver, waiting) = state.withLock { state in
          defer { state.waiting = nil }
          if Task.isCancelled { return (true, state.waiting) }
          state.renewal = continuation
          return (false, state.waiting)
        }
        if isOver { continuation.resume() }
        waiting?.resume()
      }
    } onCancel: {
      takeRenewal()?.resume()
    }
    try Task.checkCancellation()
  }

  private func takeRenewal() -> CheckedContinuation<Void, Never>? {
    state.withLock { state in
      defer { state.renewal = nil }
      return state.renewal
    }
  }

  /// Lets one renewal happen, and returns after it.
  func letRenew() async {
    await untilPaused()
    takeRenewal()?.resume()
    await untilPaused()
  }

  /// Returns when the renewals wait, or have ended.
  private func untilPaused() async {
    await withCheckedContinuation { continuation in
      let isPaused = state.withLock { state in
        if state.renewal == nil { state.waiting = continuation }
        return state.renewal != nil
      }
      if isPaused { continuation.resume() }
    }
  }
}
