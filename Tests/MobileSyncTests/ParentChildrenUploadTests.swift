import JSON
import SandboxOrg
import Testing

@testable import MobileSync
@testable import Salesforce

/// Rows Q1–Q6 of the acceptance list.
@Suite struct ParentChildrenUploadTests {
  @Test(arguments: MergeMode.allCases, ["MASTER_DETAIL", "LOOKUP"])
  func syncUp_newFamilies_getIdsAndLinks(mergeMode: MergeMode, relationship: String) async throws {
    let family = try await ParentChildrenBench()
    for n in 0..<6 {
      try family.createAccount("A\(n)", id: "local_\(n)")
      for m in 0..<3 { try family.createContact("A\(n).\(m)", id: "local_\(n)\(m)", of: "local_\(n)") }
    }
    let recorder = UpdateRecorder()
    try family.bench.manager.syncUp(
      target: ParentChildrenBench.upTarget(relationship), options: SyncOptions(mergeMode: mergeMode).json, soupName: "accounts",
      onUpdate: recorder.listener)
    let end = await recorder.ended()
    #expect(
      recorder.lines == ["RUNNING 0/-1", "RUNNING 0/6"] + [16, 33, 50, 66, 83].map { "RUNNING \($0)/6" } + ["DONE 100/6"])
    #expect(end.counts.succeeded == 6 && end.counts.failed == 0)
    #expect(family.bench.requests() == Array(repeating: "POST /services/data/v66.0/composite", count: 6))
    #expect(try family.serverFamilies() == (0..<6).map { "A\($0): A\($0).0 A\($0).1 A\($0).2" })
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    for soup in ["accounts", "contacts"] {
      #expect(try family.entries(soup).allSatisfy { $0["Id"]?.stringValue?.hasPrefix("00") ?? false })
    }
    await family.close()
  }

  @Test func syncUp_childrenMovedToNewParents_followThem() async throws {
    let family = try await ParentChildrenBench()
    try family.addFamily("Old", children: 2)
    try await family.down()
    try family.createAccount("New", id: "local_1")
    try family.edit("contacts", "Old.0", ["AccountId": "local_1", "__locally_updated__": true])
    #expect(try await family.up().counts.succeeded == 1)
    #expect(try family.serverFamilies() == ["New: Old.0", "Old: Old.1"])
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    await family.close()
  }

  @Test func syncUp_newChildrenOfCleanParents_areSent() async throws {
    let family = try await ParentChildrenBench()
    let ids = try ["A", "B", "C"].map { try family.addFamily($0, children: 1).id }
    try await family.down()
    for (n, id) in ids.prefix(2).enumerated() { try family.createContact("N\(n)", id: "local_\(n)", of: id) }
    let end = try await family.up()
    #expect(end.totalSize == 2 && end.counts.succeeded == 2)
    #expect(try family.serverFamilies() == ["A: A.0 N0", "B: B.0 N1", "C: C.0"])
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    await family.close()
  }

  @Test func syncUp_newChildOfADeletedParent_bringsTheParentBack() async throws {
    let family = try await ParentChildrenBench()
    let old = try family.addFamily("A", children: 1).id
    try await family.down()
    try family.createContact("N", id: "local_1", of: old)
    try family.bench.org.delete("Account", id: old)
    let end = try await family.up()
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.failed == 0)
    #expect(try family.serverFamilies() == ["A: A.0 N"])
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    #expect(try family.entries("accounts").first?["Id"] != .string(old))
    await family.close()
  }

  @Test func syncUp_badRecords_leaveTheirSiblingsAlone() async throws {
    let family = try await ParentChildrenBench()
    let long = String(repeating: "x", count: 300)
    try family.addFamily("A", children: 2)
    try family.addFamily("B", children: 1)
    try await family.down()
    try family.edit("accounts", "A", ["Name": .string(long), "__locally_updated__": true])
    try family.edit("contacts", "A.0", ["LastName": .string(long), "__locally_updated__": true])
    try family.edit("contacts", "A.1", ["Department": "d", "__locally_updated__": true])
    try family.edit("contacts", "B.0", ["Department": "d", "__locally_updated__": true])
    let end = try await family.up()
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.failed == 1)
    let dirty = try (family.entries("accounts") + family.entries("contacts")).filter { $0["__local__"] == true }
    #expect(dirty.count == 2)
    for entry in dirty {
      let error = try JSONValue(parsing: try #require(entry["__last_error__"]?.stringValue))
      #expect(error["message"]?.stringValue?.contains("data value too large") == true)
    }
    await family.close()
  }

  @Test(arguments: [(true, false), (false, true), (true, true)])
  func syncUp_externalIds_findWhatIsThere(forParent: Bool, forChildren: Bool) async throws {
    let family = try await ParentChildrenBench()
    let there = try family.addFamily("Old", children: 1)
    var target = ParentChildrenBench.upTarget("MASTER_DETAIL")
    if forParent { target["parent"] = ["sobjectType": "Account", "soupName": "accounts", "externalIdFieldName": "Id"] }
    if forChildren, var children = target["children"]?.objectValue {
      children["externalIdFieldName"] = "Id"
      target["children"] = .object(children)
    }
    let parent = forParent ? there.id : "local_1"
    try family.createAccount("New", id: parent)
    try family.createContact("C", id: forChildren ? there.children[0] : "local_2", of: parent)
    let end = try await family.bench.manager.syncUp(target: target, options: nil, soupName: "accounts")
    #expect(end.counts.succeeded == 1 && end.counts.failed == 0)
    let expected =
      forParent ? (forChildren ? ["New: C"] : ["New: C Old.0"]) : ["New: C", "Old: "]
    #expect(try family.serverFamilies() == expected && family.dirtyCount() == 0)
    await family.close()
  }

  // MARK: Beyond the Mobile SDK

  /// More requests than one call takes.
  @Test func syncUp_largeFamily_takesSeveralCalls() async throws {
    let family = try await ParentChildrenBench()
    try family.createAccount("A", id: "local_1")
    for n in 0..<60 { try family.createContact("C\(100 + n)", id: "local_c\(n)", of: "local_1") }
    let end = try await family.up()
    #expect(end.counts.succeeded == 1 && family.bench.requests().count == 3)
    #expect(try family.serverFamilies() == ["A: " + (0..<60).map { "C\(100 + $0)" }.joined(separator: " ")])
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    await family.close()
  }

  @Test func syncUp_answerForAFamilyLost_createsItOnce() async throws {
    let family = try await ParentChildrenBench(realTime: true)
    try family.createAccount("A", id: "local_1")
    for n in 0..<3 { try family.createContact("A.\(n)", id: "local_c\(n)", of: "local_1") }
    family.bench.org.setInterceptor { $0.path.hasSuffix("/composite") ? .dropAfterHandling : nil }
    #expect(try await family.up().status == .failed)
    family.bench.org.setInterceptor(nil)
    #expect(try await family.up().status == .done)
    #expect(try family.serverFamilies() == ["A: A.0 A.1 A.2"])
    #expect(try family.storedFamilies() == family.serverFamilies() && family.dirtyCount() == 0)
    await family.close()
  }

  @Test func syncUp_childEditedWhileUploaded_staysDirty() async throws {
    let family = try await ParentChildrenBench()
    try family.createAccount("A", id: "local_1")
    try family.createContact("C", id: "local_2", of: "local_1")
    family.bench.org.setInterceptor { request in
      if request.path.hasSuffix("/composite") { try? family.edit("contacts", "C", ["Department": "late"]) }
      return nil
    }
    _ = try await family.up()
    family.bench.org.setInterceptor(nil)
    let child = try #require(try family.entries("contacts").first)
    #expect(child["__local__"] == true && child["__locally_created__"] == false && child["Department"] == "late")
    #expect(try await family.up().counts.succeeded == 1)
    let id = try #require(child["Id"]?.stringValue)
    #expect(try family.onServer("Contact", id, "Department")?["Department"] == "late" && family.dirtyCount() == 0)
    #expect(try family.serverFamilies() == ["A: C"])
    await family.close()
  }

  /// An unknown type is refused each time: the family is not sent forever.
  @Test func syncUp_unknownType_ends() async throws {
    let family = try await ParentChildrenBench()
    try family.addFamily("A", children: 0)
    try await family.down()
    try family.edit("accounts", "A", ["attributes": ["type": "Nonsense"], "__locally_updated__": true])
    let end = try await family.up()
    #expect(end.status == .done && end.counts.failed == 1)
    #expect(try family.dirtyCount() == 1)
    await family.close()
  }

  @Test func newSync_wrongTarget_namesTheKey() async throws {
    let family = try await ParentChildrenBench()
    var target = ParentChildrenBench.upTarget("LOOKUP")
    target["childrenCreateFieldlist"] = nil
    let expected = SyncError(.invalidTarget, "parent_children target: 'childrenCreateFieldlist' is missing")
    #expect(throws: expected) { try family.bench.manager.createSyncUp(target: target, soupName: "accounts") }
    await family.close()
  }
}
