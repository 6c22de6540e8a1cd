import JSON
import SmartStore

/// A parent and its children as they stand in their soups. Immutable.
struct Family: Sendable {
  let target: any FamilyUpTarget
  let parent: DirtyBatch
  let children: DirtyBatch

  var info: ParentChildrenInfo { target.info }
  /// The parent's id, be it the server's or a local one.
  var parentId: String? { parent.recordId(0) }

  /// Reads a family.
  /// - Returns: nil when the parent is not there any more.
  init?(
    _ entryId: Int64, _ target: any FamilyUpTarget, _ plans: FamilyPlans, in snapshot: StoreSnapshot
  ) throws {
    let info = target.info
    let batch = try DirtyBatch(snapshot.entries([entryId], in: info.parent.soup), plan: plans.parents)
    guard batch.count == 1 else { return nil }
    let ids = try batch.recordId(0).map { id in
      try snapshot.entryIds(in: info.children.soup, where: info.parentIdField, equals: .text(id))
    }
    self.target = target
    parent = batch
    children = try DirtyBatch(snapshot.entries(ids ?? [], in: info.children.soup), plan: plans.children)
  }

  /// Parents that are dirty or have a dirty child, by entry id.
  static func dirty(_ info: ParentChildrenInfo, in snapshot: StoreSnapshot) throws -> [Int64] {
    var ids = Set(try snapshot.dirtyEntryIds(in: info.parent.soup))
    let parentIds = Set(
      try snapshot.externalIds(in: info.children.soup, path: info.parentIdField, ownedBy: nil, dirty: true))
    for id in parentIds {
      ids.formUnion(try snapshot.entryIds(in: info.parent.soup, where: info.parent.fields.id, equals: .text(id)))
    }
    return ids.sorted()
  }

  // MARK: Members

  func batch(_ member: FamilyMember) -> (batch: DirtyBatch, index: Int) {
    switch member {
    case .parent: (parent, 0)
    case .child(let i): (children, i)
    }
  }

  func side(_ member: FamilyMember) -> RelatedType { member == .parent ? info.parent : info.children }

  /// The type the record names, else the target's.
  func type(_ member: FamilyMember) -> String {
    let (batch, i) = batch(member)
    let type = batch.type(i)
    return type == "null" ? side(member).type : type
  }

  func sent(_ part: FamilyPlan.Part) -> SentRecord {
    let (batch, i) = batch(part.member)
    return SentRecord(entryId: batch.entryIds[i], version: batch.versions[i], action: part.action)
  }

  var plan: FamilyPlan {
    FamilyPlan(
      parent: parent.action(0), children: (0..<children.count).map(children.action), relationship: info.relationship)
  }
}

/// What is looked for in the entries of both soups.
struct FamilyPlans: Sendable {
  let parents: DirtyBatch.Plan
  let children: DirtyBatch.Plan

  /// - Parameter fieldlist: The options' list, for parents where the target has none.
  init(_ target: any FamilyUpTarget, fieldlist: [String]?) {
    parents = target.parents.plan(fieldlist: fieldlist)
    children = target.children.plan(fieldlist: nil)
  }
}
