import JSON
import SmartStore

/// A parent and its children as stored in their soups. Immutable.
struct ParentChildrenGroup: Sendable {
  let target: any ParentChildrenUploadTarget
  let parent: DirtyBatch
  let children: DirtyBatch
  /// The soups that both were read from.
  let soups: FamilySoups

  var info: ParentChildrenInfo { target.info }
  /// The parent's id, a server id or a local one.
  var parentId: String? { parent.recordId(0) }

  /// - Parameter parent: A batch of one entry.
  init(
    _ target: any ParentChildrenUploadTarget, parent: DirtyBatch, children: DirtyBatch, soups: FamilySoups = FamilySoups()
  ) {
    self.target = target
    self.soups = soups
    self.parent = parent
    self.children = children
  }

  /// Reads a family.
  /// - Returns: nil if the parent no longer exists.
  init?(
    _ entryId: Int64, _ target: any ParentChildrenUploadTarget, _ plans: ParentChildrenBatchPlans, in snapshot: StoreSnapshot
  ) throws {
    let info = target.info
    let batch = try DirtyBatch(snapshot.entries([entryId], in: info.parent.soup), plan: plans.parents)
    guard batch.count == 1 else { return nil }
    let ids = try batch.recordId(0).map { id in
      try snapshot.entryIds(in: info.children.soup, where: info.parentIdField, equals: .text(id))
    }
    let children = try DirtyBatch(snapshot.entries(ids ?? [], in: info.children.soup), plan: plans.children)
    self.init(target, parent: batch, children: children, soups: try FamilySoups(info, in: snapshot))
  }

  /// Returns the parents that are dirty or have a dirty child, by entry id.
  static func dirty(_ info: ParentChildrenInfo, in snapshot: StoreSnapshot) throws -> [Int64] {
    var ids = Set(try snapshot.dirtyEntryIds(in: info.parent.soup))
    let parentIds = IdSet(
      try snapshot.externalIds(in: info.children.soup, path: info.parentIdField, ownedBy: nil, dirty: true))
    if !parentIds.isEmpty {
      let found = try snapshot.entryIds(
        in: info.parent.soup, where: info.parent.fields.id, equalsEach: parentIds.map { .text($0) })
      for parents in found { ids.formUnion(parents) }
    }
    return ids.sorted()
  }

  // MARK: Members

  func batch(_ member: ParentChildrenMember) -> (batch: DirtyBatch, index: Int) {
    switch member {
    case .parent: (parent, 0)
    case .child(let i): (children, i)
    }
  }

  func side(_ member: ParentChildrenMember) -> RelatedType { member == .parent ? info.parent : info.children }

  /// Returns the type in the record or, if it has none, that of the target.
  func type(_ member: ParentChildrenMember) -> String {
    let (batch, i) = batch(member)
    let type = batch.type(i)
    return type == "null" ? side(member).type : type
  }

  func sent(_ part: ParentChildrenPlan.Part) -> SentRecord {
    let (batch, i) = batch(part.member)
    return SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: part.action)
  }

  /// Returns what an update of a member can send: the sync itself sends a child's reference to its parent.
  func sendable(_ member: ParentChildrenMember) -> SendableMembers {
    let listed = SendableMembers(fields: batch(member).batch.plan.update ?? [])
    return member == .parent ? listed : listed.adding(info.parentIdField)
  }

  /// Whether the parent gets an id from the server.
  var isParentNew: Bool { [.create, .upsert].contains(parent.action(0)) }

  var plan: ParentChildrenPlan {
    ParentChildrenPlan(
      parent: parent.action(0), children: (0..<children.count).map(children.action), relationship: info.relationship)
  }
}

/// The soups of parents and children at some time. If one is registered again, its entries are
/// others.
struct FamilySoups: Sendable, Equatable {
  private var numbers: [(name: String, number: Int64)] = []

  init() {}

  init(_ info: ParentChildrenInfo, in snapshot: StoreSnapshot) throws {
    numbers = try [info.parent.soup, info.children.soup].map { ($0, try snapshot.soupNumber(of: $0)) }
  }

  func areSame(in snapshot: StoreSnapshot) throws -> Bool {
    try numbers.allSatisfy { try snapshot.soupNumber(of: $0.name) == $0.number }
  }

  func number(of name: String) -> Int64? { numbers.first { $0.name == name }?.number }

  static func == (a: FamilySoups, b: FamilySoups) -> Bool { a.numbers.map(\.number) == b.numbers.map(\.number) }
}

/// The fields to find in the entries of both soups.
struct ParentChildrenBatchPlans: Sendable {
  let parents: DirtyBatch.Plan
  let children: DirtyBatch.Plan

  /// - Parameter fieldlist: The options' list, for parents if the target has no list for them.
  init(_ target: any ParentChildrenUploadTarget, fieldlist: [String]?) {
    parents = target.parents.plan(fieldlist: fieldlist)
    children = target.children.plan(fieldlist: nil)
  }
}
