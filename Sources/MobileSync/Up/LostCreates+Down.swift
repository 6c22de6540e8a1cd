import SmartStore

extension LostCreates {
  /// Settles, before a sync down fills soups, what syncs up have sent to the server from there without an answer: the records
  /// would come as entries of their own otherwise, beside those that they were made from.
  ///
  /// What is in doubt already stays so: only a sync up looks again.
  static func settle(beforeFilling soups: [String], _ record: inout RunRecord) async throws {
    let lost = try await record.environment.store.read { snapshot in
      try soups.flatMap { soup in
        try snapshot.unsettledUploads(in: soup).filter { !$0.inDoubt }.map { (soup: soup, syncId: $0.syncId) }
      }
    }
    for syncId in Set(lost.map(\.syncId)).sorted() {
      // Without its sync nobody knows which fields were sent; its entries wait for the next sync up of their soup.
      let found = try await record.environment.store.read { try SyncsSoup.find(.id(syncId), in: $0) }
      guard let upload = found, let places = try? places(of: upload) else { continue }
      for place in places where lost.contains(where: { $0.soup == place.soupName && $0.syncId == syncId }) {
        _ = try await place.resolve(&record)
      }
    }
  }

  /// Where a sync up may have left creates without an answer.
  private static func places(of upload: SyncState) throws -> [LostCreates] {
    if let families = try TargetRegistry.families(upload.target) {
      return all(of: families, FamilyPlans(families, fieldlist: upload.options.fieldlist))
    }
    let target = try TargetRegistry.up(upload.target)
    let plan = target.settings.plan(fieldlist: upload.options.fieldlist)
    return [LostCreates(fields: target.fields, plan: plan, soupName: upload.soupName)]
  }

  /// Parents first: their children point to them.
  static func all(of families: ParentChildrenSyncUpTarget, _ plans: FamilyPlans) -> [LostCreates] {
    let parent = families.info.parent, children = families.info.children
    return [
      LostCreates(
        fields: parent.fields, plan: plans.parents, soupName: parent.soup,
        references: SoupReference(soup: children.soup, field: families.info.parentIdField)),
      LostCreates(fields: children.fields, plan: plans.children, soupName: children.soup),
    ]
  }
}
