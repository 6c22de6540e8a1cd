import JSON
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Row Q7 of the acceptance list: every combination of changes of a parent and one of its children.
/// The decisions are tested for all of them as values; on the wire there is one for each outcome.
@Suite struct ParentChildrenMatrixTests {
  enum Change: String, CaseIterable, Sendable { case none, update, delete }

  struct Case: Sendable, CustomTestStringConvertible {
    var localParent = Change.none
    var remoteParent = Change.none
    var localChild = Change.none
    var remoteChild = Change.none

    var testDescription: String { "\(localParent) \(remoteParent) | \(localChild) \(remoteChild)" }

    init(
      localParent: Change = .none, remoteParent: Change = .none, localChild: Change = .none, remoteChild: Change = .none
    ) {
      (self.localParent, self.remoteParent) = (localParent, remoteParent)
      (self.localChild, self.remoteChild) = (localChild, remoteChild)
    }

    /// - Parameter text: The parent here and there, the child here and there: `-`, `u`pdated or
    ///   `d`eleted.
    init(_ text: String) {
      let changes = text.map { $0 == "u" ? Change.update : $0 == "d" ? .delete : .none }
      self.init(localParent: changes[0], remoteParent: changes[1], localChild: changes[2], remoteChild: changes[3])
    }

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

  /// One combination for each outcome on both sides; all with `TUREEN_CASES=all`.
  private static let outcomes =
    TestCases.all
    ? cases
    : [
      "u-u-",  // sent together
      "--d-",  // a child is deleted
      "d---",  // the children are deleted with their parent
      "dd--",  // both sides deleted the parent
      "u-dd",  // both sides deleted the child
      "uuuu",  // both overwritten
      "-uu-",  // a clean parent was changed there, and stays so
      "u--u",  // a clean child was changed there, and stays so
      "ud--",  // the parent is created again and brings its children
      "-du-",  // a child brings its parent back
      "-dd-",  // a local deletion does not bring the parent back
      "u-ud",  // the child is created again
      "u--d",  // a child that was only deleted there stays a ghost
      "d--u",  // a deletion overwrites somebody else's change of a child
    ].map { Case($0) }

  @Test(arguments: outcomes)
  func syncUp_eachOutcome_leaveThenOverwrite(_ item: Case) async throws {
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

  // MARK: Values

  /// A family with its changes on both sides, in memory.
  private struct Family {
    let group: ParentChildrenGroup
    var bases: [ParentChildrenMember: JSONObject] = [:]
    var remote: ParentChildrenVersions

    init(_ item: Case, relationship: String = "MASTER_DETAIL") throws {
      let target = try ParentChildrenSyncUpTarget(ParentChildrenBench.upTarget(relationship))
      let plans = ParentChildrenBatchPlans(target, fieldlist: nil)
      let parent = Self.record("001P", ["Name": "A", "Description": .null])
      let children = (0..<2).map { n in
        Self.record("003C\(n)", ["LastName": .string("A.\(n)"), "Department": .null, "AccountId": "001P"])
      }
      let hereParent = Self.edited(parent, item.localParent, "Description")
      let hereChildren = [Self.edited(children[0], item.localChild, "Department"), Self.edited(children[1], .none, "")]
      group = try ParentChildrenGroup(
        target, parent: DirtyBatch(Self.batch([hereParent]), plan: plans.parents),
        children: DirtyBatch(Self.batch(hereChildren), plan: plans.children))
      // A clean member is its own base.
      bases[.parent] = item.localParent == .none ? hereParent : parent
      for n in 0..<2 { bases[.child(n)] = n == 0 && item.localChild != .none ? children[n] : hereChildren[n] }
      // The server deletes the children with their parent.
      let thereChild = item.remoteParent == .delete ? .delete : item.remoteChild
      var versions: IdMap<ServerVersion> = [:]
      if thereChild != .delete { versions["003C0"] = Self.there(children[0], thereChild, "Department") }
      if item.remoteParent != .delete { versions["003C1"] = .record(children[1]) }
      remote = ParentChildrenVersions(parent: Self.there(parent, item.remoteParent, "Description"), children: versions)
    }

    private static func record(_ id: String, _ fields: JSONObject) -> JSONObject {
      var record = fields
      record["Id"] = .string(id)
      record["LastModifiedDate"] = "2026-01-01T00:00:00.000+0000"
      return record
    }

    private static func edited(_ record: JSONObject, _ change: Change, _ field: String) -> JSONObject {
      var entry = record
      if change == .update { entry[field] = "mine" }
      entry["__local__"] = .bool(change != .none)
      entry["__locally_updated__"] = .bool(change == .update)
      entry["__locally_deleted__"] = .bool(change == .delete)
      return entry
    }

    private static func there(_ record: JSONObject, _ change: Change, _ field: String) -> ServerVersion {
      guard change != .delete else { return .deleted }
      var record = record
      if change == .update {
        record[field] = "theirs"
        record["LastModifiedDate"] = "2026-01-01T00:01:00.000+0000"
      }
      return .record(record)
    }

    private static func batch(_ entries: [JSONObject]) -> EntryBatch {
      var batch = EntryBatch(text: JSONValue.array(entries.map { .object($0) }).serialized())
      batch.ids = entries.indices.map { Int64($0 + 1) }
      batch.versions = entries.map { _ in 1 }
      return batch
    }
  }

  /// By the fields and, if the server does not show them, by the dates alone.
  @Test(arguments: cases)
  func compare_everyCombination_findsWhatOnlyTheServerChanged(_ item: Case) throws {
    var family = try Family(item)
    let isGone = item.remoteParent == .delete
    var expected: [ParentChildrenChange] = []
    if item.remoteParent != .none, !isGone || item.localParent != .delete {
      expected.append(ParentChildrenChange(member: .parent, isDeleted: isGone))
    }
    let goes = item.localParent == .delete || item.localChild == .delete
    let thereChild = isGone ? .delete : item.remoteChild
    if thereChild != .none, thereChild == .update || !goes {
      expected.append(ParentChildrenChange(member: .child(0), isDeleted: thereChild == .delete))
    }
    if isGone, item.localParent != .delete { expected.append(ParentChildrenChange(member: .child(1), isDeleted: true)) }
    for mergeMode in [MergeMode.leaveIfChanged, .merge] {
      for hasFields in [true, false] {
        family.remote.hasFields = hasFields
        let found = ParentChildrenComparison(
          family: family.group, bases: family.bases, remote: family.remote, mergeMode: mergeMode
        ).findings
        #expect(found.changes == expected, "\(mergeMode), fields \(hasFields)")
        #expect(found.changes.isEmpty == item.isHarmless)
      }
    }
  }

  @Test(arguments: cases, ParentChildrenInfo.Relationship.allCases)
  func plan_everyCombination_sendsWhatChangedHere(_ item: Case, relationship: ParentChildrenInfo.Relationship) throws {
    let plan = try Family(item, relationship: relationship.rawValue).group.plan
    let actions: [Change: UploadAction] = [.update: .update, .delete: .delete]
    let parent = actions[item.localParent].map { ParentChildrenPlan.Part(member: .parent, action: $0) }
    var child = actions[item.localChild].map { ParentChildrenPlan.Part(member: .child(0), action: $0) }
    let deletesChildren = item.localParent == .delete && relationship == .masterDetail
    if deletesChildren { child = nil }
    // A parent is deleted behind its children, and otherwise sent before them.
    let parts = item.localParent == .delete ? [child, parent] : [parent, child]
    #expect(plan.parts == parts.compactMap { $0 } && plan.removals.isEmpty)
    #expect(plan.deletesChildren == deletesChildren)
  }

  @Test func plan_parentThatIsCreated_bringsItsCleanChildren() {
    let plan = ParentChildrenPlan(
      parent: .create, children: [.nothing, .update, .delete, .removeLocally, .create], relationship: .masterDetail)
    func part(_ member: ParentChildrenMember, _ action: UploadAction) -> ParentChildrenPlan.Part {
      ParentChildrenPlan.Part(member: member, action: action)
    }
    let expected = [
      part(.parent, .create), part(.child(0), .update), part(.child(1), .update), part(.child(2), .delete),
      part(.child(4), .create),
    ]
    #expect(plan.parts == expected && plan.removals == [.child(3)] && !plan.deletesChildren)
    #expect(plan.calls(size: 2) == [Array(expected[0..<2]), Array(expected[2..<4]), [expected[4]]])
  }

  // MARK: On the wire

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
