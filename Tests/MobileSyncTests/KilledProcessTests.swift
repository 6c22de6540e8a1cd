import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync

/// What a killed process leaves: the last commit, a RUNNING row, and a lease without a living
/// owner.
@Suite struct KilledProcessTests {
  @Test func syncDown_killedInTheMiddle_fetchesAtMostOnePageAgain() async throws {
    let bench = try await SyncBench(accounts: 10, pageSize: 2)
    let boot = bench.manager.leases.owner.split(separator: "/")
    let dead = "\(boot[0].prefix { $0 != ":" }):4194304:1/\(boot[1])/1"
    let recorder = UpdateRecorder { state in
      // Nothing of this run is written after that, as if it had ended here.
      guard state.progress == 60, state.status == .running else { return }
      try? bench.store.writeBlocking(.synced) { transaction in
        _ = try transaction.acquireLease(
          SyncLeases.name(state.id), owner: dead, now: 0, duration: .max / 2, takeover: { _ in true })
      }
    }
    try bench.manager.syncDown(
      target: SyncBench.accounts, soupName: "accounts", syncName: "s", onUpdate: recorder.listener)
    _ = await recorder.ended()
    #expect(try bench.entries().count == 6)

    let next = try bench.anotherManager()
    let found = try #require(try next.getSyncStatus(.name("s")))
    #expect(found.status == .stopped && found.progress == 60)
    let again = try await next.reSync(.name("s"))
    #expect(again.status == .done && again.counts.fetched == 5, "four that were missing, and one with the last stamp")
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func syncDown_failedInTheMiddleOfEqualStamps_missesNothing() async throws {
    let bench = try await SyncBench(pageSize: 2)
    for n in 0..<6 { try bench.org.create("Account", fields: ["Name": .string("A\(n)")]) }
    bench.org.setInterceptor { $0.path.hasSuffix("-4") ? .dropConnection(afterBytes: 10) : nil }
    #expect(try await bench.down(name: "s").status == .failed)
    #expect(try bench.entries().count == 4)
    bench.org.setInterceptor(nil)
    #expect(try await bench.manager.reSync(.name("s")).status == .done)
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }
}
