import JSON
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// The calls under the native SDK's names, as a tool written in Swift uses them.
@Suite struct NativeApiTests {
  @Test func everyCall_byName_works() async throws {
    let bench = try await SyncBench(accounts: 2)
    let manager = bench.manager
    let rows = try bench.store.observe("select count(*) from {accounts}")
    var counts = rows.makeAsyncIterator()
    let before = try await counts.next()
    #expect(before == [[0]])

    try manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "down")
    try manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: "up")
    var updates = manager.updates(named: "down").makeAsyncIterator()
    let first = try await manager.reSync(named: "down")
    #expect(first.status == .done && first.totalSize == 2)
    var seen: [SyncStatus] = []
    while let state = await updates.next() {
      seen.append(state.status)
      if state.status.isTerminal { break }
    }
    #expect(seen == [.running, .running, .done])
    let after = try await counts.next()
    #expect(after == [[2]])

    try bench.updateLocally("Account 0", ["Description": "mine"])
    #expect(try await manager.reSync(named: "up").counts.succeeded == 1)
    #expect(try await manager.reSync(id: first.id).status == .done)
    #expect(try await manager.runSync(try #require(try manager.getSyncStatus(.name("down")))).status == .done)
    try bench.org.delete("Account", id: try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue))
    #expect(try await manager.cleanGhosts(named: "down") == 1)
    #expect(try await manager.cleanGhosts(id: first.id) == 0)
    await bench.close()
    // The stream ends with the manager.
    while await updates.next() != nil {}
  }

  @Test func runSync_ofAState_goesOnFromThere() async throws {
    let bench = try await SyncBench(accounts: 3)
    let end = try await bench.down(name: "d")
    let old = try #require(try bench.manager.getSyncStatus(.name("d")))
    try bench.change(try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue), ["Description": "new"])
    let again = try await bench.manager.runSync(old)
    #expect(again.id == end.id && again.counts.fetched == 1)
    try bench.manager.deleteSync(.name("d"))
    #expect(throws: SyncError(.noSuchSync, "Sync \(end.id) does not exist")) {
      try bench.manager.runSync(old) { _ in }
    }
    await bench.close()
  }

  /// Row S9.
  @Test func instance_sameStore_isTheSameManager() async throws {
    let bench = try await SyncBench()
    let first = try SyncManager.instance(for: bench.store, client: bench.client)
    #expect(try SyncManager.instance(for: bench.store, client: bench.client) === first)
    let other = try TemporaryStore()
    let second = try SyncManager.instance(for: other.store, client: bench.client)
    #expect(second !== first)
    await first.shutdown()
    let third = try SyncManager.instance(for: bench.store, client: bench.client)
    #expect(third !== first)
    await third.shutdown()
    await second.shutdown()
    await bench.close()
  }

  @Test func state_ofASyncThatWaits_isQueued() async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let manager = bench.manager
    let (reached, signal) = AsyncStream.makeStream(of: Bool.self)
    let second = try manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "second")
    let first = UpdateRecorder { state in
      guard state.progress == 33 else { return }
      let queued = try? manager.reSync(id: second.id) { _ in }
      let stored = try? manager.getSyncStatus(.id(second.id))
      signal.yield(queued?.isQueued ?? false && stored?.isQueued ?? false)
    }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: first.listener)
    for await isQueued in reached {
      #expect(isQueued)
      break
    }
    await manager.waitUntilIdle()
    let end = try #require(try manager.getSyncStatus(.id(second.id)))
    #expect(end.status == .done && !end.isQueued && end.json["queued"] == false)
    #expect(end.limitInfo.hasPrefix("api-usage="))
    await bench.close()
  }

  // MARK: Configurations

  private func config(_ query: String, _ mode: String = "OVERWRITE") -> JSONValue {
    [
      "syncs": [
        [
          "syncName": "down", "syncType": "syncDown", "soupName": "accounts", "options": ["mergeMode": .string(mode)],
          "target": ["type": "soql", "query": .string(query)],
        ]
      ]
    ]
  }

  @Test func setupSyncs_changedDefinition_takesEffectAndSaysSo() async throws {
    let bench = try await SyncBench(accounts: 2)
    let all = "SELECT Id, Name, LastModifiedDate FROM Account ORDER BY LastModifiedDate"
    bench.manager.setupSyncs(from: config(all), fileName: "f")
    let first = try await bench.manager.reSync(named: "down")
    var updates = bench.manager.updates(named: "down").makeAsyncIterator()
    bench.manager.setupSyncs(from: config(all), fileName: "f")
    #expect(try bench.manager.getSyncStatus(.name("down"))?.maxTimeStamp == first.maxTimeStamp)
    bench.manager.setupSyncs(from: config(all, "LEAVE_IF_CHANGED"), fileName: "f")
    let second = await updates.next()
    let options = try #require(second)
    #expect(options.options.mergeMode == .leaveIfChanged && options.maxTimeStamp == first.maxTimeStamp)
    #expect(options.status == .done)
    bench.manager.setupSyncs(from: config("SELECT Id FROM Account WHERE Name != 'x'"), fileName: "f")
    let third = await updates.next()
    let target = try #require(third)
    #expect(target.id == first.id && target.status == .new && target.maxTimeStamp == -1)
    #expect(try bench.manager.getSyncStatus(.name("down"))?.json == target.json)
    #expect(try await bench.manager.reSync(named: "down").totalSize == 2)
    await bench.close()
  }

  @Test func setupSyncs_changedDefinitionOfARunningSync_keepsTheOldOne() async throws {
    let bench = try await SyncBench(accounts: 2, pageSize: 1)
    let manager = bench.manager
    manager.setupSyncs(from: config("SELECT Id FROM Account"), fileName: "f")
    let (problems, signal) = AsyncStream.makeStream(of: [String].self)
    let changed = config("SELECT Id, Name FROM Account")
    let recorder = UpdateRecorder { state in
      if state.progress == 50 { signal.yield(manager.setupSyncs(from: changed, fileName: "f")) }
    }
    let state = try manager.reSync(named: "down", onUpdate: recorder.listener)
    for await found in problems {
      #expect(found == ["f: entry 1 (down): sync \(state.id) is still running"])
      break
    }
    #expect(await recorder.ended().status == .done)
    await bench.close()
  }

  // MARK: Caches

  /// Row L1.
  @Test func fetchMetadata_eachMode_usesItsSource() async throws {
    let bench = try await SyncBench()
    let metadata = try MetadataSyncManager(bench.manager)
    #expect(try await metadata.fetchMetadata(forObject: "Account", mode: .cacheOnly) == nil)
    #expect(bench.requests().isEmpty)
    let first = try #require(try await metadata.fetchMetadata(forObject: "Account"))
    #expect(first.keyPrefix == "001" && first.label == "Account" && first.isQueryable && !first.isCustom && !first.fields.isEmpty)
    #expect(bench.requests().count == 1)
    #expect(try await metadata.fetchMetadata(forObject: "Account") == first)
    #expect(try await metadata.fetchMetadata(forObject: "Account", mode: .cacheOnly) == first)
    #expect(bench.requests().count == 1)
    _ = try await metadata.fetchMetadata(forObject: "Account", mode: .serverFirst)
    #expect(bench.requests().count == 2)
    #expect(try bench.store.rows("select count(*) from {sfdcMetadata}") == "[[1]]")
    #expect(try bench.store.rows("select count(*) from {syncs_soup}") == "[[0]]", "fetches leave no syncs behind")
    bench.org.setInterceptor { _ in .respond(status: 503, body: "busy") }
    await #expect(throws: SyncError.self) { try await metadata.fetchMetadata(forObject: "Contact") }
    await bench.close()
  }

  /// Row L2.
  @Test func fetchLayout_eachMode_usesItsSource() async throws {
    let body =
      #"{"id":"00h1","layoutType":"Full","mode":"View","sections":[{"id":"s","columns":2,"rows":1,"useHeading":true,"#
      + #""heading":"H","layoutRows":[{"layoutItems":[{"label":"Name","required":true,"layoutComponents":[{}]}]}]}]}"#
    let server = try ScriptedServer(.json(body), .json(body), .restError(404, "NOT_FOUND", "none"))
    let bench = try ScriptedStore()
    let layouts = try LayoutSyncManager(try bench.manager(server))
    let key = LayoutKey("Account", formFactor: "Large", layoutType: "Full", mode: "View")
    #expect(try await layouts.fetchLayout(key, mode: .cacheOnly) == nil)
    let first = try #require(try await layouts.fetchLayout(key))
    #expect(first.rawData["Id"] == "Account-Large-Full-View-null" && first.id == "00h1" && first.mode == "View")
    let section = try #require(first.sections.first), item = try #require(section.layoutRows.first?.first)
    #expect(section.heading == "H" && section.columns == 2 && section.usesHeading && !section.isCollapsible)
    #expect(item.label == "Name" && item.isRequired && item.components.count == 1)
    #expect(try await layouts.fetchLayout(key) == first && server.requests.count == 1)
    _ = try await layouts.fetchLayout(key, mode: .serverFirst)
    #expect(try bench.store.rows("select count(*) from {sfdcLayouts}") == "[[1]]")
    await #expect(throws: SyncError.self) { try await layouts.fetchLayout(LayoutKey("Other")) }
    #expect(server.requests.count == 3)
    await bench.close()
  }
}
