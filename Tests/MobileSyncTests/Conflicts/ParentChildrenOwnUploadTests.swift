import JSON
import SandboxOrg
import Testing

@testable import MobileSync

/// Families that were sent before, and changes in the same second.
@Suite struct ParentChildrenOwnUploadTests {
  private static let careful = [MergeMode.leaveIfChanged, .merge]

  private func bench() async throws -> (ParentChildrenBench, id: String, children: [String]) {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    return (family, ids.id, ids.children)
  }

  @Test(arguments: careful)
  func syncUp_editedAgainAfterAnUpload_goesUp(mergeMode: MergeMode) async throws {
    let (family, id, children) = try await bench()
    for text in ["first", "second"] {
      try family.edit("accounts", "A", ["Description": .string(text), "__locally_updated__": true])
      try family.edit("contacts", "A.0", ["Department": .string(text), "__locally_updated__": true])
      family.bench.clock.advance(by: 60)
      let end = try await family.up(mergeMode)
      #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0, "\(end.error)")
      #expect(try family.onServer("Account", id, "Description")?["Description"] == .string(text))
      #expect(try family.onServer("Contact", children[0], "Department")?["Department"] == .string(text))
    }
    // A clean child that was sent before does not count as somebody else's change.
    try family.edit("accounts", "A", ["Description": "third", "__locally_updated__": true])
    #expect(try await family.up(mergeMode).counts.succeeded == 1)
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }

  @Test(arguments: careful)
  func syncUp_childChangedThereInTheSecondOfTheCopy_isAConflict(mergeMode: MergeMode) async throws {
    let (family, _, children) = try await bench()
    try family.bench.org.update("Contact", id: children[0], fields: ["Department": "theirs"])
    try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    #expect(try await family.up(mergeMode).counts.conflicting == 1)
    #expect(try family.onServer("Contact", children[0], "Department")?["Department"] == "theirs")
    await family.close()
  }

  /// The server still has the child under its old parent.
  @Test(arguments: careful)
  func syncUp_childMovedHere_goesUp(mergeMode: MergeMode) async throws {
    let (family, _, children) = try await bench()
    let other = try family.addFamily("B", children: 0).id
    try await family.down()
    try family.edit("contacts", "A.0", ["AccountId": .string(other), "__locally_updated__": true])
    let end = try await family.up(mergeMode, "LOOKUP")
    #expect(end.counts.succeeded == 1 && end.counts.conflicting == 0, "\(end.error)")
    #expect(try family.onServer("Contact", children[0], "AccountId")?["AccountId"] == .string(other))
    await family.close()
  }

  /// Entries may contain fields of a script; the server is then asked for the other fields.
  @Test func syncUp_fieldOfAScriptInAFamily_isNotAskedFor() async throws {
    let (family, id, _) = try await bench()
    try family.edit("accounts", "A", ["starred": true, "__local__": false])
    try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    try family.bench.org.update("Account", id: id, fields: ["Description": "theirs"])
    #expect(try await family.up(.leaveIfChanged).counts.conflicting == 1)
    try family.bench.org.update("Account", id: id, fields: ["Description": nil])
    #expect(try await family.up(.leaveIfChanged).counts.succeeded == 1)
    #expect(try family.onServer("Account", id, "Description")?["Description"] == "mine")
    await family.close()
  }
}
