import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync

/// How often syncs ask the store. Each call is an exchange with the database if that is on another
/// machine, so the number must not depend on the number of records.
struct StoreCallTests {
  private static let lookUps = [
    "entryIds", "storedEntries", "areStored", "bases", "conflicts", "versions", "unsettledUploads",
  ]

  /// Returns the look-ups of one run.
  private func lookUps(_ counts: CallCounts, _ run: () async throws -> Void) async throws -> [String: Int] {
    _ = counts.take()
    try await run()
    return counts.take().filter { Self.lookUps.contains($0.key) }
  }

  /// Creates accounts within one second, so that a re-sync gets all of them again.
  private func bench(_ accounts: Int, _ counts: CallCounts) async throws -> SyncBench {
    let bench = try await SyncBench(counts: counts)
    for n in 0..<accounts { _ = try bench.org.create("Account", fields: ["Name": .string("A\(n)")]) }
    return bench
  }

  private func reSync(_ accounts: Int, edited: Bool) async throws -> [String: Int] {
    let counts = CallCounts(), bench = try await bench(accounts, counts)
    let down = try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"])
    #expect(down.counts.stored == accounts)
    if edited { for n in 0..<accounts { try bench.updateLocally("A\(n)", ["Description": "mine"]) } }
    let calls = try await lookUps(counts) {
      let again = try await bench.manager.reSync(id: down.id)
      #expect(again.status == .done)
      #expect(again.totalSize == 0, "every record came again and was known")
    }
    await bench.close()
    return calls
  }

  @Test(arguments: [false, true]) func reSync_recordsComeAgain_asksOncePerPage(_ edited: Bool) async throws {
    let few = try await reSync(2, edited: edited), many = try await reSync(20, edited: edited)
    #expect(few == many)
    #expect(few["areStored"] == 1)
  }

  @Test func reSync_afterUploads_asksOncePerPage() async throws {
    func calls(_ accounts: Int) async throws -> [String: Int] {
      let counts = CallCounts(), bench = try await bench(accounts, counts)
      let down = try await bench.down(["mergeMode": "LEAVE_IF_CHANGED"])
      for n in 0..<accounts { try bench.updateLocally("A\(n)", ["Description": "mine"]) }
      bench.clock.advance(by: 60)
      _ = try await bench.up()
      let calls = try await lookUps(counts) {
        let again = try await bench.manager.reSync(id: down.id)
        #expect(again.status == .done && again.totalSize == 0, "the echoes are not changes")
      }
      await bench.close()
      return calls
    }
    #expect(try await calls(2) == calls(20))
  }

  @Test func reSync_bothSidesEdited_readsOncePerPage() async throws {
    func calls(_ accounts: Int) async throws -> [String: Int] {
      let counts = CallCounts(), bench = try await bench(accounts, counts)
      let down = try await bench.down(["mergeMode": "MERGE"])
      for n in 0..<accounts { try bench.updateLocally("A\(n)", ["Description": "mine"]) }
      for (n, entry) in try bench.entries().enumerated() {
        try bench.change(try #require(entry["Id"]?.stringValue), ["Name": .string("theirs \(n)")])
      }
      let calls = try await lookUps(counts) {
        let again = try await bench.manager.reSync(id: down.id)
        #expect(again.status == .done && again.counts.merged == accounts)
      }
      await bench.close()
      return calls
    }
    let few = try await calls(2), many = try await calls(20)
    #expect(few == many)
    #expect(few["conflicts"] == 1)
  }
}
