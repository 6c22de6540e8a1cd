import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// A soup is removed and registered again while a request is in flight. Its new entries have the
/// numbers of the old ones, and no answer about the old ones reaches them.
@Suite struct SoupMadeAnewTests {
  /// Makes the soup anew while the first request that `matches` is handled.
  private func startAfresh(_ bench: SyncBench, _ names: [String], when matches: @escaping @Sendable (String) -> Bool) {
    let once = Once()
    bench.org.setInterceptor { request in
      guard matches("\(request.method) \(request.path)"), once.take() else { return nil }
      do {
        try bench.store.removeSoup("accounts")
        try bench.store.registerSoup("accounts", indexSpecs: SyncBench.specs)
        for name in names { try bench.createLocally(name) }
      } catch {
        Issue.record(error)
      }
      return nil
    }
  }

  private func expectAllSent(_ bench: SyncBench, _ names: [String]) throws {
    #expect(try bench.dirtyCount() == 0)
    #expect(try bench.names() == names)
    for name in names {
      let id = try #require(try bench.entry(named: name)?["Id"]?.stringValue)
      #expect(try bench.onServer(id)?["Name"]?.stringValue == name)
    }
  }

  @Test(arguments: UploadKind.allCases, [SyncBench.upload, SyncBench.uploadLeave, SyncBench.merge])
  func syncUp_createsInFlight_newEntriesAreSent(kind: UploadKind, options: JSONObject) async throws {
    let bench = try await SyncBench(kind: kind), names = ["new 1", "new 2", "new 3"]
    for name in ["old 1", "old 2", "old 3"] { try bench.createLocally(name) }
    startAfresh(bench, names) { $0.hasPrefix("POST") }
    _ = try await bench.up(options)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up(options).status == .done)
    try expectAllSent(bench, names)
    #expect(try Set(names).isSubset(of: bench.serverNames()))
    await bench.close()
  }

  /// The verdicts about the old entries, and the time stamps of their updates, are not those of the
  /// new ones.
  @Test(arguments: UploadKind.allCases, [SyncBench.uploadLeave, SyncBench.merge])
  func syncUp_updatesInFlight_newEntriesAreSent(kind: UploadKind, options: JSONObject) async throws {
    for path in ["query", "composite", "sobjects"] {
      let bench = try await SyncBench(kind: kind), names = ["new 1", "new 2"]
      let (first, _) = try await bench.syncedAccount("A"), (second, _) = try await bench.syncedAccount("B")
      for id in [first, second] { try bench.edit(id, ["Description": "edited"]) }
      try bench.change(second, ["Description": "theirs"])
      startAfresh(bench, names) { $0.contains(path) }
      _ = try await bench.up(options)
      bench.org.setInterceptor(nil)
      #expect(try bench.conflicts().allSatisfy { $0.local["Name"]?.stringValue?.hasPrefix("new") != true })
      _ = try await bench.up(options)
      if try bench.entry(named: "new 1") != nil { try expectAllSent(bench, names) }
      await bench.close()
    }
  }

  @Test func cleanGhosts_orphansOfTheOldSoup_newEntriesStay() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("old")
    _ = try await bench.up()
    let id = try #require(try bench.entry(named: "old")?["Id"]?.stringValue)
    let down = try await bench.down(name: "accounts")
    #expect(down.status == .done)
    try bench.createLocally("old 2")
    _ = try await bench.up()
    let second = try #require(try bench.entry(named: "old 2")?["Id"]?.stringValue)
    for gone in [id, second] { try bench.org.delete("Account", id: gone) }
    startAfresh(bench, ["new 1", "new 2"]) { $0.contains("query") }
    _ = try await bench.manager.cleanGhosts(named: "accounts")
    bench.org.setInterceptor(nil)
    #expect(try bench.names() == ["new 1", "new 2"])
    await bench.close()
  }
}
