import JSON
import SandboxOrg
import Testing

@testable import MobileSync

/// Conflicts of parents and children that are sent together.
@Suite struct ParentChildrenConflictTests {
  private func bench() async throws -> (ParentChildrenBench, id: String, children: [String]) {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    return (family, ids.id, ids.children)
  }

  @Test func syncUp_mergeOfDifferentFields_bringsBothSidesTogether() async throws {
    let (family, id, children) = try await bench()
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    try family.change("Account", id, ["Name": "A new"])
    try family.change("Contact", children[0], ["LastName": "A.0 new"])
    try family.change("Contact", children[1], ["Department": "theirs"])
    let end = try await family.up(.merge)
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.merged == 2 && end.counts.conflicting == 0)
    #expect(try family.onServer("Account", id, "Name, Description")?["Name"] == "A new")
    #expect(try family.onServer("Account", id, "Description")?["Description"] == "mine")
    let child = try family.onServer("Contact", children[0], "LastName, Department")
    #expect(child?["LastName"] == "A.0 new" && child?["Department"] == "mine")
    #expect(try family.onServer("Contact", children[1], "Department")?["Department"] == "theirs")
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }

  @Test(arguments: [MergeMode.merge, .leaveIfChanged])
  func syncUp_childChangedOnBothSides_keepsTheFamilyHere(mergeMode: MergeMode) async throws {
    let (family, id, children) = try await bench()
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    try family.change("Contact", children[0], ["Department": "theirs"])
    let end = try await family.up(mergeMode)
    #expect(end.status == .done && end.counts.succeeded == 0 && end.counts.conflicting == 1)
    let conflict = try #require(try family.bench.manager.conflicts().first)
    #expect(conflict.soupName == "contacts" && conflict.fields == ["Department"])
    #expect(try family.dirtyCount() == 2)
    #expect(try family.onServer("Account", id, "Description")?["Description"] == .null)
    try family.bench.manager.resolveConflict(inSoup: "contacts", entryId: conflict.entryId, with: .local)
    #expect(try await family.up(mergeMode).counts.succeeded == 1)
    #expect(try family.onServer("Contact", children[0], "Department")?["Department"] == "mine")
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }

  /// Deleting the parent would delete somebody else's change of a child.
  @Test func syncUp_parentDeletedHereChildChangedThere_isAConflict() async throws {
    let (family, id, children) = try await bench()
    try family.edit("accounts", "A", ["__locally_deleted__": true])
    try family.change("Contact", children[0], ["Department": "theirs"])
    #expect(try await family.up(.merge).counts.conflicting == 1)
    let conflict = try #require(try family.bench.manager.conflicts().first)
    #expect(conflict.soupName == "accounts" && conflict.kind == .deletedHere)
    #expect(try family.onServer("Account", id, "Id") != nil && family.onServer("Contact", children[0], "Id") != nil)
    try family.bench.manager.resolveConflict(inSoup: "accounts", entryId: conflict.entryId, with: .server)
    #expect(try family.dirtyCount() == 0 && family.entries("accounts").first?["__locally_deleted__"] == false)
    await family.close()
  }

  @Test func syncUp_childChangedHereParentDeletedThere_isAConflict() async throws {
    let (family, id, _) = try await bench()
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    try family.bench.org.delete("Account", id: id)
    #expect(try await family.up(.merge).counts.conflicting == 1)
    let conflicts = try family.bench.manager.conflicts()
    #expect(conflicts.map(\.soupName) == ["contacts"] && conflicts.map(\.kind) == [.deletedThere])
    #expect(try family.dirtyCount() == 1)
    await family.close()
  }

  @Test func syncUp_resolverForAFamily_letsItGo() async throws {
    let (family, id, _) = try await bench()
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.change("Account", id, ["Description": "theirs"])
    family.bench.manager.registerResolver("both") { conflict in
      .record(["Description": .string("\(conflict.local["Description"]?.stringValue ?? "") and theirs")])
    }
    let end = try await family.bench.manager.syncUp(
      target: ParentChildrenBench.upTarget("LOOKUP"), options: ["mergeMode": "MERGE", "resolver": "both"], soupName: "accounts")
    #expect(end.status == .done && end.counts.succeeded == 1 && end.counts.merged == 1, "\(end.error)")
    #expect(try family.onServer("Account", id, "Description")?["Description"] == "mine and theirs")
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }
}
