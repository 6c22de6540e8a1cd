import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync

/// Server changes that conflict with local edits during a sync down.
@Suite struct DownConflictTests {
  private static let sosl: JSONObject = [
    "type": "sosl", "query": "FIND {Walrus} IN NAME FIELDS RETURNING Account(Id, Name, Description, LastModifiedDate)",
  ]

  /// Each side's changes reach the other side; the entry stays dirty with what is left to send.
  @Test(arguments: [SyncBench.accounts, sosl])
  func syncDown_merge_takesWhatOnlyTheServerChanged(target: JSONObject) async throws {
    let bench = try await SyncBench()
    let id = try bench.addAccount("Walrus", "base")
    _ = try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: "d")
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "Walrus Two"])
    let end = try await bench.manager.syncDown(target: target, options: SyncBench.merge, soupName: "accounts", syncName: "m")
    #expect(end.status == .done && end.counts.merged == 1 && end.counts.conflicting == 0 && end.counts.skipped == 0)
    #expect(end.counts.stored == 1 && end.counts.fetched == 1)
    #expect(try bench.shown(id) == "Walrus Two/mine*" && bench.conflicts().isEmpty)
    #expect(try bench.entry(withId: id)?["__sync_id__"] == .integer(end.id))
    // The server's version is the base of the next comparison: only the description is a local
    // change.
    #expect(try await bench.up(SyncBench.uploadLeave).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "Walrus Two/mine" && bench.shown(id) == "Walrus Two/mine")
    await bench.close()
  }

  @Test(arguments: [SyncBench.accounts, sosl])
  func syncDown_mergeOfOneField_isAConflict(target: JSONObject) async throws {
    let bench = try await SyncBench()
    let id = try bench.addAccount("Walrus", "base")
    _ = try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: "d")
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "Walrus Two", "Description": "theirs"])
    let told = ConflictRecorder(), updates = UpdateRecorder()
    let start = try bench.manager.syncDown(
      target: target, options: SyncBench.merge, soupName: "accounts", syncName: "m", onConflict: told.listener,
      onUpdate: updates.listener)
    let end = await updates.ended()
    #expect(end.status == .done && end.counts.conflicting == 1 && end.counts.skipped == 1 && end.counts.stored == 0)
    #expect(try bench.shown(id) == "Walrus/mine*")
    let conflict = try #require(try bench.manager.conflicts(sync: .id(start.id)).first)
    #expect(told.all == [conflict])
    #expect(conflict.kind == .changed && conflict.fields == ["Description"] && conflict.syncId == start.id)
    #expect(conflict.localChanges == ["Description"] && Set(conflict.remoteChanges) == ["Name", "Description"])
    #expect(conflict.base?["Description"] == "base" && conflict.local["Description"] == "mine")
    #expect(conflict.server?["Description"] == "theirs" && conflict.detectedAt > 0)
    #expect(conflict.merged["Name"] == "Walrus Two" && conflict.merged["Description"] == "mine")
    await bench.close()
  }

  @Test func syncDown_mergeOfEqualChanges_isCleanWithoutAnUpload() async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "same"])
    try bench.change(id, ["Description": "same", "Name": "B"])
    let end = try await bench.down(SyncBench.merge)
    #expect(end.counts.merged == 1 && end.counts.stored == 1 && end.counts.conflicting == 0)
    #expect(try bench.shown(id) == "B/same" && bench.dirtyCount() == 0)
    #expect(try bench.store.readBlocking { try $0.base(of: 1, in: "accounts") } == nil)
    await bench.close()
  }

  @Test func syncDown_mergeAndNothingNewThere_leavesTheEdit() async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let end = try await bench.down(SyncBench.merge)
    #expect(end.counts.skipped == 1 && end.counts.merged == 0 && end.counts.conflicting == 0)
    #expect(try bench.shown(id) == "A/mine*" && bench.conflicts().isEmpty)
    await bench.close()
  }

  @Test(arguments: [SyncBench.merge, SyncBench.uploadLeave])
  func syncDown_deletedHereChangedThere_isAConflict(options: JSONObject) async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.deleteLocally("A")
    try bench.change(id, ["Description": "theirs"])
    let end = try await bench.down(options)
    #expect(end.counts.conflicting == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.kind == .deletedHere && conflict.remoteChanges == ["Description"])
    #expect(try bench.entry(withId: id)?["__locally_deleted__"] == true)
    await bench.close()
  }

  @Test func syncDown_leaveIfChanged_countsAndKeepsOnlyRealConflicts() async throws {
    let bench = try await SyncBench(accounts: 2)
    _ = try await bench.down(name: "first")
    let ids = try bench.entries().compactMap { $0["Id"]?.stringValue }
    for id in ids { try bench.edit(id, ["Description": "mine"]) }
    try bench.change(ids[0], ["Name": "theirs"])
    let end = try await bench.down(SyncBench.uploadLeave)
    #expect(end.counts.skipped == 2 && end.counts.conflicting == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(try bench.conflicts().count == 1 && conflict.local["Id"] == .string(ids[0]))
    #expect(conflict.localChanges == ["Description"] && conflict.remoteChanges == ["Name"] && conflict.fields == [])
    #expect(try bench.shown(ids[0]) == "Account 0/mine*")
    await bench.close()
  }

  /// A sync that fetches everything finds the conflict each time: it is counted each time, but
  /// reported once.
  @Test func syncDown_sameConflictAgain_isNoNews() async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    let told = ConflictRecorder()
    func run() async throws -> SyncState {
      let updates = UpdateRecorder()
      try bench.manager.syncDown(
        target: SyncBench.accounts, options: SyncBench.merge, soupName: "accounts", onConflict: told.listener,
        onUpdate: updates.listener)
      return await updates.ended()
    }
    for _ in 0..<2 { #expect(try await run().counts.conflicting == 1) }
    #expect(told.all.count == 1)
    try bench.change(id, ["Description": "theirs again"])
    #expect(try await run().counts.conflicting == 1)
    #expect(told.all.map { $0.server?["Description"] } == ["theirs", "theirs again"])
    #expect(try bench.conflicts().count == 1)
    await bench.close()
  }

  @Test func syncDown_overwrite_endsTheConflict() async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    _ = try await bench.down(SyncBench.merge)
    #expect(try bench.conflicts().count == 1)
    _ = try await bench.down()
    #expect(try bench.conflicts().isEmpty && bench.shown(id) == "A/theirs")
    await bench.close()
  }

  @Test func entry_removed_takesItsConflictAlong() async throws {
    let bench = try await SyncBench()
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    _ = try await bench.down(SyncBench.merge)
    #expect(try bench.manager.conflicts().count == 1)
    try bench.store.remove([entryId], from: "accounts")
    #expect(try bench.manager.conflicts().isEmpty)
    await bench.close()
  }

  /// Without a base it is unknown who changed what, so every difference is a conflict.
  @Test func syncDown_mergeWithoutBase_neverOverwrites() async throws {
    let bench = try await SyncBench()
    let id = try bench.addAccount("A", "theirs")
    try bench.save(["Id": .string(id), "Name": "A", "Description": "mine", "__local__": true, "__locally_updated__": true])
    let end = try await bench.down(SyncBench.merge)
    #expect(end.counts.conflicting == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.base == nil && conflict.fields == ["Description"])
    #expect(try bench.shown(id) == "A/mine*")
    await bench.close()
  }

  /// A sync down does not see deletions: they are found with the ghosts.
  @Test(arguments: [SyncBench.merge, SyncBench.uploadLeave])
  func cleanResyncGhosts_deletedThereChangedHere_isAConflictOfMerge(options: JSONObject) async throws {
    let bench = try await SyncBench(accounts: 3)
    let down = try await bench.down(options, name: "m")
    let ids = try bench.entries().compactMap { $0["Id"]?.stringValue }
    for id in ids.prefix(2) { try bench.edit(id, ["Description": "mine"]) }
    try bench.org.delete("Account", id: ids[0])
    try bench.org.delete("Account", id: ids[2])
    let told = ConflictRecorder()
    for _ in 0..<2 {
      let (results, continuation) = AsyncStream.makeStream(of: Int?.self)
      try bench.manager.cleanResyncGhosts(.id(down.id), onConflict: told.listener) { continuation.yield(try? $0.get()) }
      for await removed in results {
        #expect(removed != nil)
        break
      }
    }
    let merges = options == SyncBench.merge
    #expect(try bench.entries().count == 2 && bench.dirtyCount() == 2)
    #expect(try bench.conflicts().map(\.kind) == (merges ? [.deletedThere] : []))
    #expect(told.all.map(\.local["Id"]) == (merges ? [.string(ids[0])] : []))
    await bench.close()
  }

  /// parent_children: parents and children are merged individually.
  @Test func syncDown_mergeOfFamilies_concernsEachRecordAlone() async throws {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    try family.change("Account", ids.id, ["Name": "A new"])
    try family.change("Contact", ids.children[0], ["Department": "theirs"])
    try family.change("Contact", ids.children[1], ["Department": "new"])
    var target = ParentChildrenBench.sides("MASTER_DETAIL")
    target["parentFieldlist"] = ["Id", "Name", "Description"]
    target["childrenFieldlist"] = ["Id", "LastName", "Department", "AccountId"]
    target["parentSoqlFilter"] = ""
    let end = try await family.bench.manager.syncDown(target: target, options: SyncBench.merge, soupName: "accounts")
    #expect(end.status == .done && end.counts.merged == 1 && end.counts.conflicting == 1, "\(end.error)")
    let account = try #require(try family.entries("accounts").first)
    #expect(account["Name"] == "A new" && account["Description"] == "mine" && account["__local__"] == true)
    let conflicts = try family.bench.manager.conflicts()
    #expect(conflicts.map(\.soupName) == ["contacts"] && conflicts[0].fields == ["Department"])
    let other = try #require(try family.entries("contacts").first { $0["LastName"] == "A.1" })
    #expect(other["Department"] == "new" && other["__local__"] == false)
    await family.close()
  }
}
