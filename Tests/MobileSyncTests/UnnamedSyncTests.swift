import JSON
import SmartStore
import Synchronization
import TestSupport
import Testing

@testable import MobileSync

/// Syncs without a name; every call leaves one.
@Suite struct UnnamedSyncTests {
  private static func ids(_ bench: SyncBench) throws -> Set<Int64> {
    Set(try bench.store.readBlocking { try $0.entryIds(in: "syncs_soup", without: "name") })
  }

  /// The engine's clock advances by a second whenever it is read.
  private static func configuration() -> SyncConfiguration {
    let time = Ticks()
    var configuration = SyncConfiguration()
    configuration.unnamedSyncs = 10
    configuration.now = { time.next() }
    return configuration
  }

  @Test func syncDown_unnamedManyTimes_keepsThoseThatRanLast() async throws {
    let bench = try await SyncBench(configuration: Self.configuration())
    let waiting = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts")
    let first = try await bench.down(), second = try await bench.down(), named = try await bench.down(name: "named")
    var last: [Int64] = []
    for _ in 0..<30 {
      last.append(try await bench.down().id)
      _ = try await bench.manager.reSync(.id(second.id))
    }
    let left = try Self.ids(bench)
    #expect((10...11).contains(left.count) && left.isSuperset(of: last.suffix(8)))
    #expect(left.contains(waiting.id) && left.contains(second.id) && !left.contains(first.id))
    #expect(try bench.manager.getSyncStatus(.name("named"))?.id == named.id)
    await bench.close()
  }

  @Test func syncDown_unnamedWhileAnotherRuns_leavesThatOne() async throws {
    let bench = try await SyncBench(accounts: 1, configuration: Self.configuration())
    let started = Mutex<[Int64]>([])
    let manager = bench.manager
    // Its ghosts are being cleaned; its status is that of its last run, the oldest one.
    let old = try await bench.down()
    bench.org.setInterceptor { request in
      guard request.parameter("q")?.lowercased().hasPrefix("select id from") == true else { return nil }
      for _ in 0..<20 {
        if let state = try? manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: { _ in }) {
          started.withLock { $0.append(state.id) }
        }
      }
      return nil
    }
    _ = try await manager.cleanResyncGhosts(.id(old.id))
    bench.org.setInterceptor(nil)
    #expect(started.withLock { $0.count } == 20)
    #expect(try Self.ids(bench).isSuperset(of: [old.id] + started.withLock { $0 }))
    await bench.close()
  }
}

private final class Ticks: Sendable {
  private let ms = Mutex<Int64>(1_700_000_000_000)

  func next() -> Int64 {
    ms.withLock { ms in
      ms += 1000
      return ms
    }
  }
}
