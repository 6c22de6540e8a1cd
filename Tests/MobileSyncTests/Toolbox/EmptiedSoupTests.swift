import JSON
import SmartStore
import Testing

@testable import MobileSync

/// Entries that a program removes with their soup, as the history tells it.
@Suite struct EmptiedSoupTests {
  @Test(arguments: [false, true]) func emptiedSoup_isTold_unsentEntriesFirst(isRemoved: Bool) async throws {
    let bench = try await SyncBench(accounts: 3)
    bench.keepHistory()
    _ = try await bench.down(name: "s")
    try bench.updateLocally("Account 2", ["Description": "mine"])
    if isRemoved { try bench.store.removeSoup("accounts") } else { try bench.store.clearSoup("accounts") }
    let rows = try bench.log("removed")
    #expect(rows.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == ["removed 3", "removed 1", "removed 2"])
    #expect(rows.allSatisfy { $0.contains(" script ") }, "\(rows)")
    await bench.close()
  }

  @Test func emptiedSoup_withoutHistory_isEmptied() async throws {
    let bench = try await SyncBench(accounts: 3)
    _ = try await bench.down(name: "s")
    try bench.store.clearSoup("accounts")
    try bench.store.removeSoup("accounts")
    try bench.store.removeSoup("accounts")
    #expect(try !bench.store.soupNames().contains("accounts"))
    await bench.close()
  }
}
