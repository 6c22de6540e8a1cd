import JSON
import SandboxOrg
import SmartStore
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows U1–U18 of the acceptance list, for each target that sends records individually or together.
@Suite struct SyncUpTests {
  @Test(arguments: UploadKind.allCases)
  func syncUp_updated_reachTheServerAndGetClean(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 4)
    _ = try await bench.down()
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Name": .string("New \(n)")]) }
    bench.org.clearRequests()
    let recorder = UpdateRecorder()
    try bench.manager.syncUp(target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/3", "RUNNING 33/3", "RUNNING 66/3", "DONE 100/3"])
    #expect(end.counts.succeeded == 3 && end.counts.failed == 0 && end.type == .syncUp)
    #expect(try bench.serverNames() == ["Account 3", "New 0", "New 1", "New 2"])
    let root = "/services/data/v66.0"
    switch kind {
    case .collection: #expect(bench.requests() == ["PATCH \(root)/composite/sobjects"])
    case .batch: #expect(bench.requests() == ["POST \(root)/composite"])
    case .plain:
      #expect(bench.requests().map { $0.prefix(47) } == Array(repeating: "PATCH \(root)/sobjects/Account/001", count: 3))
    }
    try expectClean(bench)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_updateFieldlist_sendsOnlyThose(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let id = try bench.addAccount("A", "server")
    _ = try await bench.down()
    try bench.updateLocally("A", ["Name": "B", "Description": "mine"])
    _ = try await bench.up(["mergeMode": "OVERWRITE"], target: ["updateFieldlist": ["Name"], "createFieldlist": []])
    #expect(try bench.onServer(id)?["Name"] == "B" && bench.onServer(id)?["Description"] == "server")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_createFieldlist_sendsOnlyThose(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["Description": "mine"])
    _ = try await bench.up(["mergeMode": "OVERWRITE"], target: ["createFieldlist": ["Name"]])
    let entry = try #require(try bench.entry(named: "A"))
    let id = try #require(entry["Id"]?.stringValue)
    #expect(id.hasPrefix("001") && entry["Description"] == "mine")
    #expect(try bench.onServer(id)?["Description"] == .null)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_bothFieldlists_eachForItsKind(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    try bench.updateLocally("Account 0", ["Description": "d0"])
    try bench.createLocally("New", ["Description": "d1"])
    let end = try await bench.up(
      ["mergeMode": "OVERWRITE"], target: ["createFieldlist": ["Name"], "updateFieldlist": ["Description"]])
    #expect(end.counts.succeeded == 2)
    let records = try bench.org.query("SELECT Name, Description FROM Account ORDER BY Name")["records"]?.arrayValue
    #expect(records?.map { $0["Description"] } == ["d0", .null])
    await bench.close()
  }

  @Test(arguments: [SyncBench.upload, SyncBench.uploadLeave], UploadKind.allCases)
  func syncUp_created_getServerIds(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let entryId = try bench.createLocally(#"Quote " backslash \ and ü"#, ["Description": "line\nbreak"])
    try bench.createLocally("B")
    let end = try await bench.up(options)
    #expect(end.status == .done && end.counts.succeeded == 2)
    #expect(try bench.serverNames().sorted() == [#"Quote " backslash \ and ü"#, "B"].sorted())
    let entries = try bench.entries()
    #expect(entries.allSatisfy { $0["Id"]?.stringValue?.hasPrefix("001") ?? false })
    #expect(entries.contains { $0["_soupEntryId"] == .integer(entryId) })
    #expect(try bench.store.readBlocking { try $0.unsettledUploads(in: "accounts") }.isEmpty)
    try expectClean(bench)
    await bench.close()
  }

  /// Two full batches of each target and one more record take three calls, and one update each.
  @Test(arguments: UploadKind.allCases)
  func syncUp_manyCreated_goInBatches(kind: UploadKind) async throws {
    let counts: [UploadKind: Int] = [.collection: 401, .batch: 51, .plain: 3]
    let bench = try await SyncBench(kind: kind), count = try #require(counts[kind])
    let entries = (0..<count).map { n -> JSONValue in
      [
        "Id": .string("local_\(n)"), "attributes": ["type": "Account"], "Name": .string("A\(n)"), "__local__": true,
        "__locally_created__": true,
      ]
    }
    _ = try bench.store.upsert(JSONValue.array(entries).serialized(), into: "accounts")
    let recorder = UpdateRecorder()
    try bench.manager.syncUp(target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    #expect(await recorder.ended().counts.succeeded == count)
    #expect(recorder.states.count == count + 2)
    #expect(bench.requests().count == 3)
    try expectClean(bench)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_deleted_goOnBothSides(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3)
    _ = try await bench.down()
    try bench.deleteLocally("Account 0")
    try bench.deleteLocally("Account 2")
    let end = try await bench.up()
    #expect(end.counts.succeeded == 2)
    #expect(try bench.names() == ["Account 1"] && bench.serverNames() == ["Account 1"])
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_createdAndDeleted_isRemovedWithoutARequest(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["__locally_deleted__": true])
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(end.status == .done && end.totalSize == 1 && bench.requests().isEmpty)
    #expect(try bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_updatedOnBothSides_leaveThenOverwrite(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 2)
    _ = try await bench.down()
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.updateLocally("Account 0", ["Description": "mine"])
    try bench.updateLocally("Account 1", ["Description": "mine"])
    try bench.change(id, ["Description": "theirs"])
    let left = try await bench.up(SyncBench.uploadLeave)
    #expect(left.status == .done && left.progress == 100 && left.totalSize == 2)
    #expect(left.counts.succeeded == 1 && left.counts.conflicting == 1)
    #expect(try bench.onServer(id)?["Description"] == "theirs" && bench.dirtyCount() == 1)
    #expect(try bench.entry(named: "Account 0")?["__last_error__"] == nil)
    _ = try await bench.up()
    #expect(try bench.onServer(id)?["Description"] == "mine" && bench.dirtyCount() == 0)
    await bench.close()
  }

  @Test(arguments: [UploadKind.batch, .collection, .plain])
  func syncUp_entryWithoutAType_isRefusedWithAReasonAndOthersGo(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("Typed")
    try bench.createLocally("Untyped", ["attributes": .null])
    try bench.createLocally("Typed, too")
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.succeeded == 2 && end.counts.failed == 1)
    #expect(try bench.serverNames() == ["Typed", "Typed, too"])
    let error = try bench.entry(named: "Untyped")?["__last_error__"]?.stringValue ?? ""
    #expect(error.contains("attributes.type") && error.contains("INVALID_TYPE"), "\(error)")
    #expect(bench.org.requests().allSatisfy { $0.status < 400 })
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_deletedHereUpdatedThere_leaveThenOverwrite(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.deleteLocally("Account 0")
    try bench.change(id, ["Description": "theirs"])
    #expect(try await bench.up(SyncBench.uploadLeave).counts.conflicting == 1)
    #expect(try bench.onServer(id) != nil && bench.entries().count == 1)
    _ = try await bench.up()
    #expect(try bench.onServer(id) == nil && bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: [SyncBench.upload, SyncBench.uploadLeave], UploadKind.allCases)
  func syncUp_deletedOnBothSides_isRemoved(options: JSONObject, kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    let id = try #require(try bench.entry(named: "Account 0")?["Id"]?.stringValue)
    try bench.deleteLocally("Account 0")
    try bench.org.delete("Account", id: id)
    let end = try await bench.up(options)
    #expect(end.status == .done && end.counts.failed == 0)
    #expect(try bench.entries().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_updatedHereDeletedThere_overwriteCreatesItAgain(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3)
    _ = try await bench.down()
    let before = try bench.entries()
    let gone = try #require(before[1]["Id"]?.stringValue)
    try bench.org.delete("Account", id: gone)
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    let end = try await bench.up()
    #expect(end.counts.succeeded == 3 && end.counts.failed == 0)
    let after = try bench.entries()
    #expect(after[0]["Id"] == before[0]["Id"] && after[2]["Id"] == before[2]["Id"] && after[1]["Id"] != before[1]["Id"])
    let created = try #require(after[1]["Id"]?.stringValue)
    #expect(try bench.onServer(created)?["Description"] == "mine")
    #expect(try bench.serverNames() == ["Account 0", "Account 1", "Account 2"])
    try expectClean(bench)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_updatedHereDeletedThere_leaveKeepsItDirty(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 3)
    _ = try await bench.down()
    let gone = try #require(try bench.entries()[1]["Id"]?.stringValue)
    try bench.org.delete("Account", id: gone)
    for n in 0..<3 { try bench.updateLocally("Account \(n)", ["Description": "mine"]) }
    let end = try await bench.up(SyncBench.uploadLeave)
    #expect(end.status == .done && end.counts.succeeded == 2 && end.counts.conflicting == 1)
    let dirty = try bench.entries().filter { $0["__local__"] == true }
    #expect(dirty.count == 1 && dirty[0]["Id"] == .string(gone) && dirty[0]["__last_error__"] == nil)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_badRecordsAmongGoodOnes_doNotBlockThem(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("Good 1")
    let long = try bench.createLocally(String(repeating: "x", count: 256))
    let empty = try bench.createLocally("")
    try bench.createLocally("Good 2")
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.succeeded == 2 && end.counts.failed == 2)
    #expect(try bench.serverNames() == ["Good 1", "Good 2"])
    for (id, text) in [(long, "data value too large"), (empty, "Required fields are missing: [Name]")] {
      let entry = try #require(try bench.entries().first { $0["_soupEntryId"] == .integer(id) })
      #expect(entry["__locally_created__"] == true && entry["__local__"] == true)
      let error = try JSONValue(parsing: try #require(entry["__last_error__"]?.stringValue))
      #expect((error.arrayValue?.first ?? error)["message"]?.stringValue?.contains(text) == true)
    }
    // After a correction the upload succeeds and the error is removed.
    var entry = try #require(try bench.entries().first { $0["_soupEntryId"] == .integer(empty) })
    entry["Name"] = "Good 3"
    try bench.save(entry)
    _ = try await bench.up()
    #expect(try bench.entry(named: "Good 3")?["__last_error__"] == nil)
    #expect(try bench.entry(named: "Good 3")?["__local__"] == false)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_externalIdField_updatesWhatExists(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    let ids = try [bench.addAccount("S0", "d"), bench.addAccount("S1", "d")]
    for (n, id) in ids.enumerated() { try bench.createLocally("L\(n)", ["Id": .string(id), "Description": "mine"]) }
    try bench.createLocally("L2", ["Id": .null, "Description": "mine"])
    let end = try await bench.up(
      ["fieldlist": ["Name"], "mergeMode": "OVERWRITE"], target: ["externalIdFieldName": "Id"])
    #expect(end.counts.succeeded == 3)
    #expect(try bench.serverNames() == ["L0", "L1", "L2"])
    for id in ids { #expect(try bench.onServer(id)?["Description"] == "d") }
    #expect(try bench.entry(named: "L0")?["Id"] == .string(ids[0]))
    #expect(try bench.entry(named: "L2")?["Id"]?.stringValue?.hasPrefix("001") == true)
    try expectClean(bench)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_customExternalId_twice_createsOnce(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("A", ["External_Id__c": "x-1"])
    bench.org.setInterceptor { $0.method != "GET" ? .dropAfterHandling : nil }
    let target: JSONObject = ["externalIdFieldName": "External_Id__c"]
    #expect(try await bench.up(target: target).status == .failed)
    bench.org.setInterceptor(nil)
    #expect(try await bench.up(target: target).counts.succeeded == 1)
    #expect(try bench.serverNames() == ["A"])
    try expectClean(bench)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_nothingDirty_isDone(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind, accounts: 1)
    _ = try await bench.down()
    bench.org.clearRequests()
    let recorder = UpdateRecorder()
    try bench.manager.syncUp(target: bench.upTarget, options: SyncBench.upload, soupName: "accounts", onUpdate: recorder.listener)
    _ = await recorder.ended()
    #expect(recorder.lines == ["RUNNING 0/-1", "RUNNING 0/0", "DONE 100/0"] && bench.requests().isEmpty)
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_noFieldlist_isRefusedAtOnce(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    #expect(throws: SyncError.self) { try bench.manager.syncUp(soupName: "accounts") { _ in } }
    try bench.createLocally("A")
    let end = try await bench.up(["mergeMode": "OVERWRITE"], target: ["updateFieldlist": ["Name"]])
    #expect(end.status == .done && end.counts.failed == 1 && bench.requests().isEmpty)
    let error = try JSONValue(parsing: try #require(try bench.entry(named: "A")?["__last_error__"]?.stringValue))
    #expect(error["statusCode"] == "NO_FIELDLIST")
    await bench.close()
  }

  @Test(arguments: UploadKind.allCases)
  func syncUp_unknownTypes_otherRecordsGoThrough(kind: UploadKind) async throws {
    let bench = try await SyncBench(kind: kind)
    try bench.createLocally("Bad", ["attributes": ["type": "Nonsense"]])
    try bench.createLocally("None", ["attributes": .null])
    try bench.createLocally("Good")
    let end = try await bench.up()
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.failed == 2)
    #expect(try bench.serverNames() == ["Good"])
    let error = kind == .collection ? "Nonsense" : "The requested resource does not exist"
    #expect(try bench.entry(named: "Bad")?["__last_error__"]?.stringValue?.contains(error) == true)
    await bench.close()
  }

  private func expectClean(_ bench: SyncBench) throws {
    #expect(try bench.dirtyCount() == 0)
    for entry in try bench.entries() {
      #expect(entry["__last_error__"] == nil && entry["__locally_created__"] != true && entry["__locally_updated__"] != true)
    }
  }
}
