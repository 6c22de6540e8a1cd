import JSON
import SandboxOrg
import Testing

@testable import MobileSync

/// Families whose answers are lost, and families whose soups are made anew in flight.
@Suite struct ParentChildrenUnansweredTests {
  private static let careful = [MergeMode.leaveIfChanged, .merge]

  @Test(arguments: careful)
  func syncUp_editedAgainAfterALostAnswer_goesUp(mergeMode: MergeMode) async throws {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    for text in ["first", "second"] {
      try family.edit("accounts", "A", ["Description": .string(text), "__locally_updated__": true])
      try family.edit("contacts", "A.0", ["Department": .string(text), "__locally_updated__": true])
      family.bench.clock.advance(by: 60)
      if text == "first" { family.bench.org.setInterceptor { $0.method == "POST" ? .dropAfterHandling : nil } }
      let end = try await family.up(mergeMode)
      family.bench.org.setInterceptor(nil)
      #expect(end.status == (text == "first" ? .failed : .done) && end.counts.conflicting == 0, "\(end.error)")
    }
    #expect(try family.onServer("Account", ids.id, "Description")?["Description"] == "second")
    #expect(try family.onServer("Contact", ids.children[0], "Department")?["Department"] == "second")
    #expect(try family.dirtyCount() == 0 && family.bench.manager.conflicts().isEmpty)
    await family.close()
  }

  @Test func syncUp_parentSoupIsMadeAnewInFlight_newParentsAreSent() async throws {
    let family = try await ParentChildrenBench(), bench = family.bench, once = Once()
    try bench.createLocally("old")
    bench.org.setInterceptor { request in
      guard request.method == "POST", once.take() else { return nil }
      do {
        try bench.store.removeSoup("accounts")
        try bench.store.registerSoup("accounts", indexSpecs: SyncBench.specs)
        try bench.createLocally("new")
      } catch {
        Issue.record(error)
      }
      return nil
    }
    _ = try await family.up(.merge)
    bench.org.setInterceptor(nil)
    #expect(try await family.up(.merge).status == .done)
    #expect(try bench.serverNames() == ["new", "old"])
    let id = try #require(try bench.entry(named: "new")?["Id"]?.stringValue)
    #expect(try bench.onServer(id)?["Name"] == "new" && bench.dirtyCount() == 0)
    await family.close()
  }
}
