import JSON
import RestClient
import SandboxOrg
import Testing

@testable import MobileSync
@testable import Salesforce

/// A server that loses a query cursor before the last page: the query is repeated.
@Suite struct ExpiredLocatorTests {
  private static let targets: [JSONObject] = [
    SyncBench.accounts,
    ["type": "soql", "query": "SELECT Id, Name, Description, LastModifiedDate FROM Account ORDER BY Name"],
    ["type": "soql", "query": "SELECT Id, Name, Description, LastModifiedDate FROM Account ORDER BY LastModifiedDate LIMIT 9"],
    ["type": "mru", "sobjectType": "Account", "fieldlist": ["Name", "Description"]],
  ]

  /// - Parameter age: Seconds since the newest record; records of the last minute are requested
  ///   again in any case.
  private func bench(age: Int64) async throws -> SyncBench {
    let bench = try await SyncBench(accounts: 10, pageSize: 2)
    try await bench.viewAccounts()
    bench.clock.advance(by: age)
    bench.org.clearRequests()
    return bench
  }

  @Test(arguments: targets, [0, 7_200])
  func syncDown_locatorExpires_bringsEverythingAndCountsItOnce(target: JSONObject, age: Int64) async throws {
    let bench = try await bench(age: age), expected = target["query"]?.stringValue?.contains("LIMIT") == true ? 9 : 10
    try bench.org.faults.add(.expireLocator, when: .nth(3), path: "query/*")
    let recorder = UpdateRecorder()
    try bench.manager.syncDown(target: target, soupName: "accounts", syncName: "s", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(end.status == .done && end.error.isEmpty, "\(end.error)")
    #expect(end.totalSize == expected && end.counts.fetched == expected && end.counts.stored == expected, "\(end.counts)")
    #expect(try bench.names() == Array(bench.serverNames().prefix(expected)))
    let progress = recorder.states.map(\.progress)
    #expect(progress == progress.sorted(), "\(progress)")
    #expect(bench.org.faults.active.first?.fired == 1)
    bench.org.faults.clear()
    // Nothing is left for the next run.
    let again = try await bench.manager.reSync(.name("s"))
    #expect(again.status == .done)
    await bench.close()
  }

  /// Stored records that are old enough are not requested again.
  @Test func syncDown_locatorExpires_goesOnFromWhatIsStored() async throws {
    let bench = try await bench(age: 7_200)
    try bench.org.faults.add(.expireLocator, when: .nth(4), path: "query/*")
    #expect(try await bench.down().status == .done)
    let queries = bench.org.requests().filter { $0.path.hasSuffix("/query") }
    #expect(queries.count == 2 && queries.last?.query.joined().contains("LastModifiedDate > ") == true, "\(queries.map(\.query))")
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func reSync_locatorExpires_bringsEveryChange() async throws {
    let bench = try await bench(age: 7_200)
    #expect(try await bench.down(name: "s").status == .done)
    for id in try bench.entries().compactMap({ $0["Id"]?.stringValue }) { try bench.change(id, ["Description": "news"]) }
    try bench.org.faults.add(.expireLocator, when: .nth(2), path: "query/*")
    let end = try await bench.manager.reSync(.name("s"))
    #expect(end.status == .done && end.totalSize == 10 && end.counts.fetched == 10, "\(end.totalSize) \(end.counts)")
    #expect(try bench.entries().allSatisfy { $0["Description"] == "news" })
    await bench.close()
  }

  @Test func syncDown_locatorExpiresEachTime_failsWithTheServersWords() async throws {
    let bench = try await bench(age: 0)
    try bench.org.faults.add(.expireLocator, path: "query/*")
    let end = try await bench.down(name: "s")
    #expect(end.status == .failed && end.error.contains("INVALID_QUERY_LOCATOR"))
    #expect(bench.org.requests().filter { $0.path.hasSuffix("/query") }.count == 2)
    await bench.close()
  }

  @Test func cleanResyncGhosts_locatorExpires_removesOnlyGhosts() async throws {
    let bench = try await bench(age: 0)
    #expect(try await bench.down(name: "s").status == .done)
    try bench.org.delete("Account", id: try #require(try bench.entry(named: "Account 3")?["Id"]?.stringValue))
    try bench.org.faults.add(.expireLocator, when: .nth(3), path: "query/*")
    #expect(try await bench.manager.cleanGhosts(named: "s") == 1)
    #expect(try bench.names() == bench.serverNames())
    await bench.close()
  }

  @Test func syncDown_familiesAndLocatorExpires_bringsBoth() async throws {
    let families = try await ParentChildrenBench(pageSize: 2)
    for n in 0..<6 { try families.addFamily("F\(n)", children: 3) }
    try families.bench.org.faults.add(.expireLocator, when: .nth(3), path: "query/*")
    try await families.down()
    #expect(families.bench.org.faults.active.first?.fired == 1)
    #expect(try families.bench.names() == families.bench.serverNames())
    let children = try families.bench.org.query("SELECT Id FROM Contact")["records"]?.arrayValue ?? []
    let ids = try families.bench.store.readBlocking {
      try $0.externalIds(in: "contacts", path: "Id", ownedBy: nil, dirty: false)
    }
    #expect(Set(ids) == Set(children.compactMap { $0["Id"]?.stringValue }) && ids.count == 18)
    await families.close()
  }

  /// The search decides whether a create is sent again: a lost cursor must not put it in doubt.
  @Test func syncUp_locatorExpiresWhileALostCreateIsLookedFor_findsIt() async throws {
    let bench = try await SyncBench(pageSize: 2, realTime: true)
    for n in 0..<5 { try bench.createLocally("L\(n)") }
    bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil }
    #expect(try await bench.up().status == .failed)
    bench.org.setInterceptor(nil)
    try bench.org.faults.add(.expireLocator, when: .nth(1), path: "query/*")
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.inDoubt == 0, "\(end.error) \(end.counts)")
    #expect(try bench.serverNames() == ["L0", "L1", "L2", "L3", "L4"] && bench.dirtyCount() == 0)
    await bench.close()
  }
}
