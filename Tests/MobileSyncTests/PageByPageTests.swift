import Foundation
import JSON
import RestClient
import SandboxOrg
import Testing

@testable import MobileSync
@testable import Salesforce

/// Queries that are read a few pages at a time, as a user scrolls.
@Suite struct PageByPageTests {
  private static let onePage: JSONObject = ["maxPages": 1]

  /// - Parameter sameSecond: Gives all records one modification date, as after a bulk load.
  private func bench(sameSecond: Bool = false) async throws -> SyncBench {
    let bench = try await SyncBench(accounts: sameSecond ? 0 : 7, pageSize: 2)
    if sameSecond { for n in 0..<7 { try bench.org.create("Account", fields: ["Name": .string("Account \(n)")]) } }
    bench.clock.advance(by: 3600)
    bench.org.clearRequests()
    return bench
  }

  private func queries(_ bench: SyncBench) -> Int { bench.org.requests().count { $0.path.contains("/query") } }

  @Test(
    arguments: [
      "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY LastModifiedDate",
      "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY Name DESC",
    ], [false, true])
  func more_untilTheEnd_bringsEachPageOnce(query: String, sameSecond: Bool) async throws {
    let bench = try await bench(sameSecond: sameSecond), target: JSONObject = ["type": "soql", "query": .string(query)]
    var state = try await bench.manager.syncDown(
      target: target, options: Self.onePage, soupName: "accounts", syncName: "s")
    var counts = [try bench.entries().count]
    #expect(state.status == .stopped && state.hasMore && state.counts.pages == 1)
    while state.hasMore {
      state = try await bench.manager.more(.name("s"))
      counts.append(try bench.entries().count)
    }
    #expect(state.status == .done && counts == [2, 4, 6, 7] && queries(bench) == 4, "\(counts)")
    #expect(try bench.names() == bench.serverNames())
    // Nothing is left, so nothing is requested.
    let end = try await bench.manager.more(.name("s"))
    #expect(end.status == .done && !end.hasMore && queries(bench) == 4)
    await bench.close()
  }

  @Test func more_locatorExpired_asksForTheRest() async throws {
    let bench = try await bench()
    let first = try await bench.manager.syncDown(
      target: SyncBench.accounts, options: ["maxPages": 2], soupName: "accounts", syncName: "s")
    #expect(first.status == .stopped && first.hasMore)
    try bench.org.faults.add(.expireLocator, when: .nth(1), path: "query/*")
    let second = try await bench.manager.more(.name("s"))
    #expect(try bench.entries().count == 7 && !second.hasMore && second.status == .done)
    await bench.close()
  }

  @Test func more_failed_goesOnFromThere() async throws {
    let bench = try await bench()
    _ = try await bench.manager.syncDown(
      target: SyncBench.accounts, options: Self.onePage, soupName: "accounts", syncName: "s")
    try bench.org.faults.add(.dropBeforeResponse(), when: .nth(1), path: "query/*")
    #expect(try await bench.manager.more(.name("s")).status == .failed)
    #expect(try bench.entries().count == 2)
    let again = try await bench.manager.more(.name("s"))
    #expect(again.hasMore && again.status == .stopped)
    #expect(try bench.entries().count == 4)
    await bench.close()
  }

  @Test func reSync_afterTheFirstPage_bringsTheRestPageByPage() async throws {
    let bench = try await bench()
    var state = try await bench.manager.syncDown(
      target: SyncBench.accounts, options: ["maxPages": 3], soupName: "accounts", syncName: "s")
    #expect(state.hasMore)
    state = try await bench.manager.reSync(.name("s"))
    #expect(state.status == .done && !state.hasMore)
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func restart_leavesASyncAloneThatHasHadItsPages() async throws {
    let bench = try await bench()
    _ = try await bench.manager.syncDown(
      target: SyncBench.accounts, options: Self.onePage, soupName: "accounts", syncName: "s")
    bench.manager.stop()
    #expect(try bench.manager.restart(restartStopped: true, onUpdate: { _ in }) == [])
    await bench.close()
  }

  @Test func refresh_asksForEverythingAgain_andKeepsEntriesMeanwhile() async throws {
    let bench = try await bench(), seen = EntryCounts()
    #expect(try await bench.down(name: "s").status == .done)
    bench.org.clearRequests()
    let recorder = UpdateRecorder()
    try bench.manager.refresh(.name("s")) { state in
      if let count = try? bench.entries().count { seen.add(count) }
      recorder.listener(state)
    }
    let end = await recorder.ended()
    #expect(end.status == .done && end.counts.fetched == 7 && queries(bench) == 4)
    #expect(seen.all.allSatisfy { $0 == 7 } && !seen.all.isEmpty)
    #expect(bench.org.requests().allSatisfy { !$0.query.joined().contains("LastModifiedDate >") })
    await bench.close()
  }

  @Test func refreshAndMore_ofASyncUp_areRefused() async throws {
    let bench = try await bench()
    try bench.manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: "up")
    for start in [SyncManager.refreshOf, SyncManager.moreOf] {
      let error = #expect(throws: SyncError.self) { try start(bench.manager) }
      #expect(error?.code == "wrongSyncType")
    }
    await bench.close()
  }

  @Test func maxPages_whereNoRunCanGoOn_isRefused() async throws {
    let bench = try await bench()
    for target in [
      ["type": "mru", "sobjectType": "Account", "fieldlist": ["Name"]],
      ["type": "layout", "sobjectType": "Account", "formFactor": "Large", "layoutType": "Full", "mode": "View"],
    ] as [JSONObject] {
      let error = #expect(throws: SyncError.self) {
        try bench.manager.createSyncDown(target: target, options: Self.onePage, soupName: "accounts")
      }
      #expect(error?.code == "invalidOptions" && error?.message.contains("maxPages") == true)
    }
    for wrong in [0, -1, "two", 1.5] as [JSONValue] {
      let error = #expect(throws: SyncError.self) {
        try bench.manager.createSyncDown(target: SyncBench.accounts, options: ["maxPages": wrong], soupName: "accounts")
      }
      #expect(error?.code == "invalidOptions" && error?.place == [.key("options"), .key("maxPages")])
    }
    await bench.close()
  }
}

extension SyncManager {
  fileprivate static func refreshOf(_ manager: SyncManager) throws { try manager.refresh(.name("up")) { _ in } }
  fileprivate static func moreOf(_ manager: SyncManager) throws { try manager.more(.name("up")) { _ in } }
}

/// Counts the entries of a soup at certain moments.
private final class EntryCounts: @unchecked Sendable {
  private let lock = NSLock()
  private var counts: [Int] = []

  var all: [Int] { lock.withLock { counts } }

  func add(_ count: Int) { lock.withLock { counts.append(count) } }
}
