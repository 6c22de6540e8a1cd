import JSON
import RestClient
import SmartStore

/// Conflicts of parents and children that are sent together.
extension RunRecord {
  /// Brings a family and the server's together, as the merge mode says.
  ///
  /// A family that stays has its conflicts on members with local changes: on those that the server changed, else on all.
  /// - Parameter changed: The members that the server changed.
  /// - Returns: Whether the family can be sent; it has to be read again then.
  func mayGoUp(_ family: Family, _ changed: [FamilyChange]) async throws -> Bool {
    guard !changed.isEmpty else { return true }
    let dirty = family.members.filter(family.isDirty)
    let met = changed.map(\.member).filter(family.isDirty)
    if state.options.mergeMode == .merge, !changed.contains(where: { isInTheWay($0, of: family) }) {
      return try await !reconcile(try await encounters(met, family)).values.contains(where: \.isConflict)
    }
    _ = try await reconcile(try await encounters(met.isEmpty ? dirty : met, family, isForced: true))
    return false
  }

  /// A clean member that cannot be sent around: a parent that is gone, or a child that would be deleted with its parent.
  private func isInTheWay(_ change: FamilyChange, of family: Family) -> Bool {
    guard !family.isDirty(change.member) else { return false }
    return change.member == .parent ? change.isDeleted : family.plan.takesChildrenAlong
  }

  /// Members that the server changed between the look at them and their upload.
  func noteLateConflicts(_ upload: FamilyUpload) async throws {
    let late = upload.answers.filter { $0.outcome == .conflicting }.map(\.member)
    let outcomes = try await reconcile(try await encounters(late, upload.family))
    guard !outcomes.isEmpty, !outcomes.values.contains(where: \.isConflict) else { return }
    // Brought together after all; it goes up with the next run.
    try await save(.pulled) { _, state in state.counts.conflicting -= 1 }
  }

  private func encounters(_ members: [FamilyMember], _ family: Family, isForced: Bool = false) async throws -> [Encounter] {
    var met: [Encounter] = []
    for isParent in [true, false] {
      let mine = members.filter { ($0 == .parent) == isParent }
      guard let first = mine.first else { continue }
      let batch = family.batch(first).batch, side = family.side(first), client = environment.client
      let service = environment.service
      let indices = mine.map { family.batch($0).index }
      let versions = try await ServerVersions(
        batch: batch, soup: side.soup, store: environment.store, service: service,
        type: { family.type(isParent ? .parent : .child($0)) }, refused: environment.refusedFields,
        fetch: { type, indices, fields in
          try await service.versions(
            type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: client)
        }
      ).find(indices)
      met += indices.map {
        Encounter(
          soup: side.soup, fields: side.fields, entryId: batch.entryIds[$0], server: versions[$0] ?? .unknown,
          isChangedForCertain: true, isInTheWay: isForced)
      }
    }
    return met
  }
}

extension Family {
  var members: [FamilyMember] { [.parent] + (0..<children.count).map { .child($0) } }

  func isDirty(_ member: FamilyMember) -> Bool {
    let (batch, i) = batch(member)
    return batch.flags(i).isLocal
  }
}
