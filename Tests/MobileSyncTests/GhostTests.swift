import JSON
import SmartStore
import Synchronization
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows G1 and G2 of the acceptance list.
@Suite struct GhostTests {
  private func target(_ condition: String) -> JSONObject {
    [
      "type": "soql",
      "query": .string("SELECT Id, Name, LastModifiedDate FROM Account WHERE \(condition) ORDER BY LastModifiedDate"),
    ]
  }

  @Test func cleanResyncGhosts_deletedOnTheServer_isRemoved() async throws {
    let bench = try await SyncBench(accounts: 4, pageSize: 2)
    _ = try await bench.down(name: "s")
    let gone = try #require(try bench.entry(named: "Account 2")?["Id"]?.stringValue)
    try bench.org.delete("Account", id: gone)
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 1)
    #expect(try bench.names() == ["Account 0", "Account 1", "Account 3"])
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 0)
    await bench.close()
  }

  @Test func cleanResyncGhosts_dirtyEntry_stays() async throws {
    let bench = try await SyncBench(accounts: 2)
    _ = try await bench.down(name: "s")
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.createLocally("New")
    for entry in try bench.entries() where entry["Name"] != "New" {
      try bench.org.delete("Account", id: try #require(entry["Id"]?.stringValue))
    }
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 1)
    #expect(try bench.names() == ["Account 0", "New"])
    await bench.close()
  }

  @Test func cleanResyncGhosts_overlappingSyncs_eachCleansItsOwn() async throws {
    let bench = try await SyncBench(accounts: 6)
    let first = try await bench.manager.syncDown(target: target("Name <= 'Account 2'"), soupName: "accounts")
    let second = try await bench.manager.syncDown(target: target("Name >= 'Account 2'"), soupName: "accounts")
    #expect(first.counts.stored == 3 && second.counts.stored == 4)
    for n in [0, 2, 5] {
      let id = try #require(try bench.entry(named: "Account \(n)")?["Id"]?.stringValue)
      try bench.org.delete("Account", id: id)
    }
    #expect(try bench.entry(named: "Account 2")?["__sync_id__"] == .integer(second.id))
    #expect(try await bench.manager.cleanResyncGhosts(.id(first.id)) == 1)
    #expect(try bench.names() == ["Account 1", "Account 2", "Account 3", "Account 4", "Account 5"])
    #expect(try await bench.manager.cleanResyncGhosts(.id(second.id)) == 2)
    #expect(try bench.names() == ["Account 1", "Account 3", "Account 4"])
    await bench.close()
  }

  @Test func cleanResyncGhosts_stillWantedByAnotherSync_goesOverToIt() async throws {
    let bench = try await SyncBench(accounts: 3)
    let first = try await bench.manager.syncDown(target: target("Name != null"), soupName: "accounts")
    let second = try await bench.manager.syncDown(target: target("Description = null"), soupName: "accounts")
    let id = try #require(try bench.entry(named: "Account 1")?["Id"]?.stringValue)
    try bench.change(id, ["Description": "leaves the scope of the second"])
    #expect(try await bench.manager.cleanResyncGhosts(.id(second.id)) == 0)
    #expect(try bench.names() == ["Account 0", "Account 1", "Account 2"])
    #expect(try bench.entry(named: "Account 1")?["__sync_id__"] == .integer(first.id))
    try bench.org.delete("Account", id: id)
    #expect(try await bench.manager.cleanResyncGhosts(.id(first.id)) == 1)
    #expect(try bench.names() == ["Account 0", "Account 2"])
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func cleanResyncGhosts_madeHereAndDeletedThereBeforeAnyDown_isRemoved(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    for name in ["Gone", "Stays", "Edited"] { try bench.createLocally(name) }
    _ = try await bench.up()
    for name in ["Gone", "Edited"] {
      try bench.org.delete("Account", id: try #require(try bench.entry(named: name)?["Id"]?.stringValue))
    }
    try bench.updateLocally("Edited", ["Description": "mine"])
    // The sync's scope contains none of it.
    try bench.manager.createSyncDown(target: target("Name = 'other'"), soupName: "accounts", syncName: "s")
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 1)
    #expect(try bench.names() == ["Edited", "Stays"])
    await bench.close()
  }

  /// A record that a sync down brought belongs to that sync.
  @Test func cleanResyncGhosts_madeHereAndBroughtSince_isTheSyncDowns() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("New")
    _ = try await bench.up()
    _ = try await bench.down(name: "owner")
    try bench.manager.createSyncDown(target: target("Name = 'other'"), soupName: "accounts", syncName: "other")
    try bench.org.delete("Account", id: try #require(try bench.entry(named: "New")?["Id"]?.stringValue))
    #expect(try await bench.manager.cleanResyncGhosts(.name("other")) == 0)
    #expect(try await bench.manager.cleanResyncGhosts(.name("owner")) == 1)
    #expect(try bench.entries().isEmpty)
    await bench.close()
  }

  /// Entries that a script stored belong to the script.
  @Test func cleanResyncGhosts_storedByAScript_isNotAskedFor() async throws {
    let bench = try await SyncBench()
    try bench.save(["Id": "001000000000001AAA", "attributes": ["type": "Account"], "Name": "mine", "__local__": false])
    try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 0)
    #expect(bench.requests().isEmpty)
    #expect(try bench.names() == ["mine"])
    await bench.close()
  }

  @Test func cleanResyncGhosts_familyMadeHereAndDeletedThere_isRemoved() async throws {
    let family = try await ParentChildrenBench()
    try family.createAccount("A", id: "local_1")
    try family.createContact("A.0", id: "local_2", of: "local_1")
    #expect(try await family.up().counts.succeeded == 1)
    try family.bench.org.delete("Account", id: try #require(try family.entries("accounts").first?["Id"]?.stringValue))
    var target = ParentChildrenBench.sides("MASTER_DETAIL")
    target["parentFieldlist"] = ["Id", "Name", "LastModifiedDate"]
    target["childrenFieldlist"] = ["Id", "LastName", "LastModifiedDate"]
    try family.bench.manager.createSyncDown(target: target, soupName: "accounts", syncName: "s")
    #expect(try await family.bench.manager.cleanResyncGhosts(.name("s")) == 1)
    #expect(try family.entries("accounts").isEmpty && family.entries("contacts").isEmpty)
    await family.close()
  }

  @Test func cleanResyncGhosts_moreThanATransactionHolds_removesAll() async throws {
    let bench = try await SyncBench()
    let state = try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    let entries = (0..<2_300).map { n -> JSONValue in
      [
        "Id": .string("001\(100_000_000_000 + n)"), "Name": .string("\(n)"), "__local__": .bool(n == 7),
        "__sync_id__": .integer(state.id),
      ]
    }
    _ = try bench.store.upsert(JSONValue.array(entries).serialized(), into: "accounts")
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 2_299)
    #expect(try bench.names() == ["7"])
    await bench.close()
  }

  @Test func cleanResyncGhosts_nothingLocal_asksNothing() async throws {
    let bench = try await SyncBench(accounts: 1)
    try bench.manager.createSyncDown(target: SyncBench.accounts, soupName: "accounts", syncName: "s")
    #expect(try await bench.manager.cleanResyncGhosts(.name("s")) == 0)
    #expect(bench.requests().isEmpty)
    await bench.close()
  }

  @Test func cleanResyncGhosts_syncUpOrUnknown_isRefused() async throws {
    let bench = try await SyncBench()
    try bench.manager.createSyncUp(options: SyncBench.upload, soupName: "accounts", syncName: "up")
    #expect(throws: SyncError(.wrongSyncType, "Cannot run cleanResyncGhosts:up: wrong type:syncUp")) {
      try bench.manager.cleanResyncGhosts(.name("up")) { _ in }
    }
    #expect(throws: SyncError(.noSuchSync, "Sync 77 does not exist")) {
      try bench.manager.cleanResyncGhosts(.id(77)) { _ in }
    }
    await bench.close()
  }

  @Test func cleanResyncGhosts_serverFails_completesWithTheError() async throws {
    let bench = try await SyncBench(accounts: 1)
    _ = try await bench.down(name: "s")
    bench.org.setInterceptor { _ in .respond(status: 503, body: "busy") }
    await #expect(throws: SyncError.self) { try await bench.manager.cleanResyncGhosts(.name("s")) }
    #expect(try bench.names() == ["Account 0"] && !bench.manager.isRunning(1))
    await bench.close()
  }

  @Test func cleanResyncGhosts_stoppedWhileQueued_completes() async throws {
    let bench = try await SyncBench(accounts: 3, pageSize: 1)
    let saved = try await bench.down(name: "s")
    let manager = bench.manager
    let recorder = UpdateRecorder { if $0.progress == 33 { manager.stop() } }
    try manager.syncDown(target: SyncBench.accounts, soupName: "accounts", onUpdate: recorder.listener)
    let result = Mutex<Result<Int, SyncError>?>(nil)
    try manager.cleanResyncGhosts(.id(saved.id)) { ended in result.withLock { $0 = ended } }
    _ = await recorder.ended()
    await manager.waitUntilIdle()
    #expect(result.withLock { $0 } == .failure(SyncError(.stopped, "the sync was stopped")))
    #expect(manager.isStopped)
    await bench.close()
  }
}

@Suite struct SyncConfigurationTests {
  @Test func setupSyncs_goodAndBadEntries_eachIsChecked() async throws {
    let bench = try await SyncBench()
    let contents = try JSONValue(
      parsing: """
        {"syncs":[
          {"syncName":"down","syncType":"syncDown","soupName":"accounts",
           "target":{"type":"soql","query":"SELECT Name FROM Account LIMIT 10000"},"options":{"mergeMode":"OVERWRITE"}},
          {"syncName":"up","syncType":"syncUp","soupName":"accounts","target":{"createFieldlist":["Name"]},
           "options":{"fieldlist":["Id","Name"],"mergeMode":"LEAVE_IF_CHANGED"}},
          {"syncName":"sideways","syncType":"syncSideways","soupName":"accounts","target":{}},
          {"syncType":"syncDown","soupName":"accounts","target":{}},
          {"syncName":"mode","syncType":"syncUp","soupName":"a","target":{},"options":{"fieldlist":[],"mergeMode":"NO"}},
          {"syncName":"bare","syncType":"syncDown","soupName":"a"}]}
        """)
    let problems = bench.manager.setupSyncs(from: contents, fileName: "usersyncs.json")
    #expect(
      problems == [
        "usersyncs.json: entry 3 (sideways): 'syncType' must be syncDown or syncUp, got 'syncSideways'",
        "usersyncs.json: entry 4 (no name): 'syncName' must be a string that is not empty",
        "usersyncs.json: entry 5 (mode): options: mergeMode must be OVERWRITE, LEAVE_IF_CHANGED or MERGE, got 'NO'",
        "usersyncs.json: entry 6 (bare): 'target' is missing",
      ])
    let down = try #require(try bench.manager.getSyncStatus(.name("down")))
    #expect(
      down.status == .new
        && down.target["query"] == "select Id,LastModifiedDate,Name from Account order by LastModifiedDate limit 10000")
    #expect(
      try bench.manager.getSyncStatus(.name("up"))?.options == SyncOptions(mergeMode: .leaveIfChanged, fieldlist: ["Id", "Name"]))
    #expect(bench.manager.setupSyncs(from: contents, fileName: "usersyncs.json").count == 4)
    #expect(try bench.manager.getSyncStatus(.name("down")) == down)
    #expect(bench.manager.setupSyncs(from: ["sync": []], fileName: "x") == ["x: 'syncs' must be an array"])
    await bench.close()
  }
}
