import JSON
import RestClient
import SmartStore

/// Conflicts of parents and children that are sent together. A family is a parent with its
/// children.
extension RunRecord {
  /// Reconciles a family with the server's versions, according to the merge mode.
  ///
  /// If the family is not sent, its dirty members become conflicts: those that the server changed
  /// or, if there are none, all of them.
  /// - Parameter changed: The members that the server changed.
  /// - Returns: Whether the family can be sent; it must be read again then.
  func canUpload(_ family: ParentChildrenGroup, _ changed: [ParentChildrenChange]) async throws -> Bool {
    guard !changed.isEmpty else { return true }
    let dirty = family.members.filter(family.isDirty)
    let concerned = changed.map(\.member).filter(family.isDirty)
    if state.options.mergeMode == .merge, !changed.contains(where: { isUnmergeable($0, of: family) }) {
      return try await !reconcile(try await candidates(concerned, family)).values.contains(where: \.isConflict)
    }
    let outcomes = try await reconcile(try await candidates(concerned.isEmpty ? dirty : concerned, family, isForced: true))
    // A resolver may have decided all of them.
    return !outcomes.isEmpty && !outcomes.values.contains(where: \.isConflict)
  }

  /// Returns whether the change prevents sending the family: a clean parent was deleted, or a clean
  /// child that would be deleted with its parent was changed.
  private func isUnmergeable(_ change: ParentChildrenChange, of family: ParentChildrenGroup) -> Bool {
    guard !family.isDirty(change.member) else { return false }
    return change.member == .parent ? change.isDeleted : family.plan.deletesChildren
  }

  /// Records conflicts of members that the server changed between the check and the upload.
  func noteLateConflicts(_ upload: ParentChildrenUpload) async throws {
    let late = upload.answers.filter { $0.outcome == .conflicting }.map(\.member)
    let outcomes = try await reconcile(try await candidates(late, upload.family))
    guard !outcomes.isEmpty, !outcomes.values.contains(where: \.isConflict) else { return }
    // They were merged after all; the next run sends them.
    try await save(.pulled) { _, state in state.counts.conflicting -= 1 }
  }

  private func candidates(_ members: [ParentChildrenMember], _ family: ParentChildrenGroup, isForced: Bool = false) async throws
    -> [ConflictCandidate]
  {
    var candidates: [ConflictCandidate] = []
    for isParent in [true, false] {
      let mine = members.filter { ($0 == .parent) == isParent }
      guard let first = mine.first else { continue }
      let batch = family.batch(first).batch, side = family.side(first), client = environment.client
      let service = environment.service
      let indices = mine.map { family.batch($0).index }, recorder = environment.intent.recorder
      let assumed = AssumedVersions(store: environment.store, soup: side.soup, batch: batch)
      let versions = try await ServerVersions(
        batch: batch, soup: side.soup, store: environment.store, service: service,
        type: { family.type(isParent ? .parent : .child($0)) }, refused: environment.refusedFields,
        fetch: { type, indices, fields in
          recorder?.begin(.look, records: indices.count)
          do {
            return try await service.versions(
              type: type, ids: indices.map { batch.serverId($0) ?? "" }, fields: fields, through: client)
          } catch  where error.isPlanned {
            return try await assumed.versions(indices, fields)
          }
        }
      ).find(indices)
      candidates += indices.map {
        ConflictCandidate(
          soup: side.soup, soupNumber: family.soups.number(of: side.soup), fields: side.fields,
          entryId: batch.entryIds[$0], server: versions[$0] ?? .unknown,
          isNewerOnServer: true, isUnmergeable: isForced)
      }
    }
    return candidates
  }
}

extension ParentChildrenGroup {
  var members: [ParentChildrenMember] { parentMembers + childMembers }
  var parentMembers: [ParentChildrenMember] { hasParent ? [.parent] : [] }
  var childMembers: [ParentChildrenMember] { (0..<children.count).map { .child($0) } }

  func isDirty(_ member: ParentChildrenMember) -> Bool {
    let (batch, i) = batch(member)
    return batch.flags(i).isLocal
  }
}
