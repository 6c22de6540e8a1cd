import JSON
import SmartStore

/// A parent and its children as stored in their soups, or a child alone whose parent is not in its soup. Immutable.
struct ParentChildrenGroup: Sendable {
  /// Finds a family in the soups.
  enum Key: Sendable, Hashable {
    /// The entry id of a parent.
    case parent(Int64)
    /// The entry id of a child that has no parent in the soup.
    case child(Int64)
  }

  let target: any ParentChildrenUploadTarget
  /// One entry; none if a child is alone.
  let parent: DirtyBatch
  let children: DirtyBatch
  /// The soups that both were read from.
  let soups: FamilySoups

  var info: ParentChildrenInfo { target.info }
  var hasParent: Bool { parent.count > 0 }
  /// The id of the stored parent, a server id or a local one; nil if a child is alone.
  var parentId: String? { hasParent ? parent.recordId(0) : nil }
  var parentFlags: LocalFlags? { hasParent ? parent.flags(0) : nil }
  var parentAction: UploadAction { hasParent ? parent.action(0) : .nothing }

  /// - Parameter parent: A batch of one entry, or of none.
  init(
    _ target: any ParentChildrenUploadTarget, parent: DirtyBatch, children: DirtyBatch, soups: FamilySoups = FamilySoups()
  ) {
    self.target = target
    self.soups = soups
    self.parent = parent
    self.children = children
  }

  /// Reads a family.
  /// - Returns: nil if its first member no longer exists.
  init?(
    _ key: Key, _ target: any ParentChildrenUploadTarget, _ plans: ParentChildrenBatchPlans, in snapshot: StoreSnapshot
  ) throws {
    let info = target.info
    var parents: [Int64] = [], children: [Int64] = []
    switch key {
    case .parent(let id): parents = [id]
    case .child(let id): children = [id]
    }
    let parent = try DirtyBatch(snapshot.entries(parents, in: info.parent.soup), plan: plans.parents)
    if parent.count > 0, let id = parent.recordId(0) {
      children = try snapshot.entryIds(in: info.children.soup, where: info.parentIdField, equals: .text(id))
    }
    let batch = try DirtyBatch(snapshot.entries(children, in: info.children.soup), plan: plans.children)
    guard parent.count + batch.count > 0, parent.count == parents.count else { return nil }
    self.init(target, parent: parent, children: batch, soups: try FamilySoups(info, in: snapshot))
  }

  /// Returns what there is to send: parents that are dirty or have a dirty child, then dirty children without a parent in the
  /// soup.
  static func dirty(_ info: ParentChildrenInfo, in snapshot: StoreSnapshot) throws -> [Key] {
    var parents = Set(try snapshot.dirtyEntryIds(in: info.parent.soup))
    var children = Set(try snapshot.dirtyEntryIds(in: info.children.soup))
    guard !children.isEmpty else { return parents.sorted().map { .parent($0) } }
    let parentIds = Array(
      IdSet(try snapshot.externalIds(in: info.children.soup, path: info.parentIdField, ownedBy: nil, dirty: true)))
    let found = try snapshot.entryIds(
      in: info.parent.soup, where: info.parent.fields.id, equalsEach: parentIds.map { .text($0) })
    for entries in found { parents.formUnion(entries) }
    let there = zip(parentIds, found).filter { !$0.1.isEmpty }.map(\.0)
    let families = try snapshot.entryIds(
      in: info.children.soup, where: info.parentIdField, equalsEach: there.map { .text($0) })
    for ids in families { children.subtract(ids) }
    return parents.sorted().map { .parent($0) } + children.sorted().map { .child($0) }
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
  var isParentNew: Bool { [.create, .upsert].contains(parentAction) }

  /// Returns the parent that a child names itself: a server id or a local one; nil if it names none.
  func namedParent(of child: Int) -> String? { children.entry(child)[info.parentIdField]?.stringValue }

  var plan: ParentChildrenPlan {
    ParentChildrenPlan(
      parent: parentAction, children: (0..<children.count).map(children.action), relationship: info.relationship)
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
