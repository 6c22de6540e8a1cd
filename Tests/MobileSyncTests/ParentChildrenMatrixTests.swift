import JSON
import SandboxOrg
import Testing

@testable import MobileSync

/// Row Q7 of the acceptance list: every combination of changes of a parent and one of its children.
@Suite struct ParentChildrenMatrixTests {
  enum Change: String, CaseIterable, Sendable { case none, update, delete }

  struct Case: Sendable, CustomTestStringConvertible {
    var localParent = Change.none
    var remoteParent = Change.none
    var localChild = Change.none
    var remoteChild = Change.none

    var testDescription: String { "\(localParent) \(remoteParent) | \(localChild) \(remoteChild)" }
    var hasLocalChange: Bool { localParent != .none || localChild != .none }

    /// Whether nothing was changed on the other side that this side did not change as well.
    var isHarmless: Bool {
      let parent = remoteParent == .none || remoteParent == .delete && localParent == .delete
      // The children are deleted with their parent, on both sides.
      let childGoes = localChild == .delete || localParent == .delete
      let child =
        remoteChild == .none && remoteParent != .delete || (remoteChild == .delete || remoteParent == .delete) && childGoes
      return parent && child
    }
  }

  private static let cases: [Case] = Change.allCases.flatMap { localParent in
    Change.allCases.flatMap { remoteParent in
      Change.allCases.flatMap { localChild in
        Change.allCases.map { remoteChild in
          Case(localParent: localParent, remoteParent: remoteParent, localChild: localChild, remoteChild: remoteChild)
        }
      }
    }
  }.filter(\.hasLocalChange)

  @Test(arguments: cases)
  func syncUp_everyCombination_leaveThenOverwrite(_ item: Case) async throws {
    let family = try await ParentChildrenBench()
    let ids = try family.addFamily("A", children: 2)
    try await family.down()
    try apply(item, family, ids)
    let before = try Self.picture(family)
    let first = try await family.up(.leaveIfChanged)
    #expect(first.status == .done && first.totalSize == 1)
    if item.isHarmless {
      #expect(first.counts.succeeded == 1 && first.counts.conflicting == 0)
      #expect(try await family.up().totalSize == 0)
    } else {
      #expect(first.counts.conflicting == 1)
      #expect(try Self.picture(family) == before)
      let second = try await family.up()
      #expect(second.counts.succeeded == 1 && second.counts.failed == 0)
    }
    #expect(try family.dirtyCount() == 0)
    try expectLocalChanges(item, family, ids)
    await family.close()
  }

  private func apply(_ item: Case, _ family: ParentChildrenBench, _ ids: (id: String, children: [String])) throws {
    switch item.localParent {
    case .none: break
    case .update: try family.edit("accounts", "A", ["Description": "mine", "__locally_updated__": true])
    case .delete: try family.edit("accounts", "A", ["__locally_deleted__": true])
    }
    switch item.localChild {
    case .none: break
    case .update: try family.edit("contacts", "A.0", ["Department": "mine", "__locally_updated__": true])
    case .delete: try family.edit("contacts", "A.0", ["__locally_deleted__": true])
    }
    switch item.remoteChild {
    case .none: break
    case .update: try family.change("Contact", ids.children[0], ["Department": "theirs"])
    case .delete: try family.bench.org.delete("Contact", id: ids.children[0])
    }
    switch item.remoteParent {
    case .none: break
    case .update: try family.change("Account", ids.id, ["Description": "theirs"])
    case .delete: try family.bench.org.delete("Account", id: ids.id)
    }
  }

  /// Checks that the local changes are on both sides.
  private func expectLocalChanges(
    _ item: Case, _ family: ParentChildrenBench, _ ids: (id: String, children: [String])
  ) throws {
    let accounts = try family.entries("accounts"), contacts = try family.entries("contacts")
    if item.localParent == .delete {
      #expect(accounts.isEmpty && contacts.isEmpty)
      #expect(try family.serverFamilies().isEmpty)
      return
    }
    let id = try #require(accounts.first?["Id"]?.stringValue)
    if item.localParent == .update {
      #expect(try family.onServer("Account", id, "Description")?["Description"] == "mine")
    }
    let child = contacts.first { $0["LastName"] == "A.0" }
    if item.localChild == .delete { #expect(child == nil) }
    if item.localChild == .update {
      let id = try #require(child?["Id"]?.stringValue)
      #expect(try family.onServer("Contact", id, "Department, AccountId")?["Department"] == "mine")
    }
    let isParentNew = id != ids.id
    // A local deletion needs no parent on the server: a child that only the server deleted stays a
    // ghost.
    #expect(isParentNew == (item.remoteParent == .delete && (item.localParent == .update || item.localChild == .update)))
    // A parent that is created again brings its children.
    if isParentNew || item.remoteParent != .delete && (item.remoteChild != .delete || item.localChild != .none) {
      #expect(try family.serverFamilies() == family.storedFamilies())
    }
  }

  private static func picture(_ family: ParentChildrenBench) throws -> [String] {
    try (family.entries("accounts") + family.entries("contacts")).map { JSONValue.object($0).text } + family.serverFamilies()
  }
}
