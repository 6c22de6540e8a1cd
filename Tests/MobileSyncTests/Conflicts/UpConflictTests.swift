import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// Local edits that conflict with server changes during an upload, for each target that sends the
/// records of one soup.
@Suite struct UpConflictTests {
  @Test(arguments: UploadKind.allCases)
  func syncUp_merge_sendsAndTakesInOneRun(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "B"])
    let end = try await bench.up(SyncBench.merge)
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.merged == 1 && end.counts.conflicting == 0)
    #expect(try bench.shownOnServer(id) == "B/mine" && bench.shown(id) == "B/mine")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeOfOneField_isAConflictAndOthersGoOn(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, entryId) = try await bench.syncedAccount("A")
    let (other, _) = try await bench.syncedAccount("Other")
    for each in [id, other] { try bench.edit(each, ["Description": "mine"]) }
    try bench.change(id, ["Description": "theirs"])
    let told = ConflictRecorder(), updates = UpdateRecorder()
    let start = try bench.manager.syncUp(
      target: bench.upTarget, options: SyncBench.merge, soupName: "accounts", onConflict: told.listener,
      onUpdate: updates.listener)
    let end = await updates.ended()
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.conflicting == 1 && end.counts.skipped == 1)
    #expect(try bench.shownOnServer(id) == "A/theirs" && bench.shown(id) == "A/mine*" && bench.shown(other) == "Other/mine")
    let conflict = try #require(try bench.manager.conflicts(sync: .id(start.id)).first)
    #expect(conflict.entryId == entryId && conflict.fields == ["Description"] && told.all == [conflict])
    #expect(conflict.base?["Description"] == "base" && conflict.server?["Description"] == "theirs")
    #expect(try bench.entry(withId: id)?["__last_error__"] == nil)
    // A later successful upload ends the conflict.
    #expect(try await bench.up().counts.succeeded == 1)
    #expect(try bench.conflicts().isEmpty && bench.shownOnServer(id) == "A/mine")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeOfEqualChanges_sendsNothing(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "same"])
    try bench.change(id, ["Description": "same"])
    bench.org.clearRequests()
    let end = try await bench.up(SyncBench.merge)
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0 && end.counts.merged == 1)
    #expect(try bench.shown(id) == "A/same")
    #expect(!bench.requests().contains { $0.hasPrefix("PATCH") || $0.hasSuffix("/composite") })
    await bench.close()
  }

  /// Our own upload changes the server's date; the fields show that nobody else changed anything.
  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeAfterAnOwnUpload_goesUp(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    for text in ["one", "two"] {
      try bench.edit(id, ["Description": .string(text)])
      bench.clock.advance(by: 60)
      #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
      #expect(try bench.shownOnServer(id) == "A/\(text)" && bench.conflicts().isEmpty)
    }
    await bench.close()
  }

  /// A parent is an object or null in the entries; the org has no such field.
  @Test(arguments: UploadKind.allCases, [(true, "ParentId, "), (false, "ParentId, "), (true, ""), (false, "")])
  func syncUp_mergeWithAParentInTheEntry_asksForNoUnknownField(
    kind: UploadKind, _ entry: (hasParent: Bool, fields: String)
  ) async throws {
    let bench = try await SyncBench(kind: kind), hasParent = entry.hasParent
    let id = try bench.addAccount("A", "base")
    if hasParent { try bench.change(id, ["ParentId": .string(try bench.addAccount("Parent"))]) }
    let query = "SELECT Id, Name, Description, \(entry.fields)Parent.Name, LastModifiedDate FROM Account WHERE Name = 'A'"
    let target: JSONObject = ["type": "soql", "query": .string(query)]
    _ = try await bench.manager.syncDown(target: target, options: nil, soupName: "accounts", syncName: nil)
    #expect(try (bench.entry(withId: id)?["Parent"]?.isNull == true) == !hasParent)
    try bench.edit(id, ["Description": "mine"])
    bench.org.clearRequests()
    let end = try await bench.up(SyncBench.merge)
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0)
    #expect(bench.org.requests().allSatisfy { $0.status < 400 }, "no request is refused")
    #expect(try bench.shownOnServer(id) == "A/mine")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeDeletedHereChangedThere_isAConflict(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, entryId) = try await bench.syncedAccount()
    try bench.deleteLocally("A")
    try bench.change(id, ["Description": "theirs"])
    #expect(try await bench.up(SyncBench.merge).counts.conflicting == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.kind == .deletedHere && conflict.remoteChanges == ["Description"])
    #expect(try bench.shownOnServer(id) == "A/theirs")
    try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .local)
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.onServer(id) == nil && bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeDeletedHereTouchedThere_isDeleted(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.deleteLocally("A")
    // A new date, but the values of the base are unchanged.
    try bench.change(id, ["Description": "base"])
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.onServer(id) == nil && bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_mergeChangedHereDeletedThere_isAConflict(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.org.delete("Account", id: id)
    #expect(try await bench.up(SyncBench.merge).counts.conflicting == 1)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.kind == .deletedThere && conflict.server == nil && conflict.base?["Description"] == "base")
    #expect(try bench.shown(id) == "A/mine*")
    try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .local)
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    let entry = try #require(try bench.entries().first), new = try #require(entry["Id"]?.stringValue)
    #expect(new != id && entry["__local__"] == false && entry["_soupEntryId"] == .integer(entryId))
    #expect(try bench.shownOnServer(new) == "A/mine")
    await bench.close()
  }

  @Test(arguments: [SyncBench.merge, SyncBench.uploadLeave], UploadKind.allCases)
  func syncUp_deletedOnBothSides_isNoConflict(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.deleteLocally("A")
    try bench.org.delete("Account", id: id)
    let end = try await bench.up(options)
    #expect(end.counts.conflicting == 0 && end.counts.failed == 0)
    #expect(try bench.entries().isEmpty && bench.conflicts().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_leaveIfChanged_keepsWhatTheServerHas(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, entryId) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "B"])
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(end.counts.conflicting == 1 && end.counts.succeeded == 0)
    let conflict = try #require(try bench.conflicts().first)
    #expect(conflict.server?["Name"] == "B" && conflict.remoteChanges == ["Name"] && conflict.fields == [])
    #expect(conflict.merged["Name"] == "B" && conflict.merged["Description"] == "mine")
    try bench.manager.resolveConflict(inSoup: "accounts", entryId: entryId, with: .local)
    #expect(try await bench.up(SyncBench.uploadLeave).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "B/mine" && bench.shown(id) == "B/mine")
    await bench.close()
  }

  /// Somebody changes the record between the comparison and the update: it is compared again.
  @Test(arguments: [UploadKind.plain, .batch], [("Name", "B"), ("Description", "theirs")])
  func syncUp_mergeChangedThereInTheLastMoment_isMergedOrLeft(kind: UploadKind, change: (String, String)) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "mine"])
    let first = Once()
    bench.org.setInterceptor { request in
      let isUpdate = kind == .plain ? request.method == "PATCH" : request.path.hasSuffix("/composite")
      if isUpdate, first.take() {
        try? bench.change(id, [change.0: .string(change.1)])
      }
      return nil
    }
    let end = try await bench.up(SyncBench.merge)
    bench.org.setInterceptor(nil)
    if change.0 == "Name" {
      #expect(end.counts.succeeded == 1 && end.counts.merged == 1 && end.counts.conflicting == 0 && end.counts.skipped == 0)
      #expect(try bench.shownOnServer(id) == "B/mine" && bench.shown(id) == "B/mine")
    } else {
      #expect(end.counts.succeeded == 0 && end.counts.conflicting == 1)
      #expect(try bench.conflicts().first?.fields == ["Description"] && bench.shown(id) == "A/mine*")
      #expect(try bench.shownOnServer(id) == "A/theirs")
    }
    await bench.close()
  }

  /// The sent version is the base of an edit made meanwhile, so our own upload does not count as
  /// somebody else's change.
  @Test(arguments: UploadKind.allCases)
  func syncUp_editedWhileUploaded_mergesAgainstWhatWasSent(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let (id, _) = try await bench.syncedAccount()
    try bench.edit(id, ["Description": "one"])
    let first = Once()
    bench.org.setInterceptor { request in
      let isUpdate = request.method == "PATCH" || request.path.hasSuffix("/composite")
      if isUpdate, first.take() { try? bench.edit(id, ["Description": "two"]) }
      return nil
    }
    bench.clock.advance(by: 60)
    _ = try await bench.up(SyncBench.merge)
    bench.org.setInterceptor(nil)
    #expect(try bench.shownOnServer(id) == "A/one" && bench.shown(id) == "A/two*")
    bench.clock.advance(by: 60)
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "A/two" && bench.conflicts().isEmpty)
    await bench.close()
  }

  /// The server cannot be asked for a field that a script keeps in a clean entry.
  @Test func syncUp_mergeWithALocalField_asksForTheOthers() async throws {
    let bench = try await SyncBench()
    let (id, _) = try await bench.syncedAccount()
    var entry = try #require(try bench.entry(withId: id))
    entry["starred"] = true
    try bench.save(entry)
    try bench.edit(id, ["Description": "mine"])
    try bench.change(id, ["Name": "B"])
    let end = try await bench.up(SyncBench.merge)
    #expect(end.status == .done && end.counts.succeeded == 1)
    #expect(try bench.shownOnServer(id) == "B/mine" && bench.entry(withId: id)?["starred"] == true)
    await bench.close()
  }

  @Test func syncUp_mergeOfNewRecords_isAsEver() async throws {
    let bench = try await SyncBench()
    try bench.createLocally("New")
    #expect(try await bench.up(SyncBench.merge).counts.succeeded == 1)
    #expect(try bench.serverNames() == ["New"] && bench.dirtyCount() == 0)
    await bench.close()
  }
}
