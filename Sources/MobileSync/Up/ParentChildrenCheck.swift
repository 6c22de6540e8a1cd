import JSON
import RestClient
import SmartStore

/// Compares a family with the server's version right before it is sent: one query for parent and
/// children, and one more for children that the server has elsewhere.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget.isNewerThanServer`, which compares only
///   dates. Here, if the base of an entry is known, its fields decide, as for single records; see
///   ``ParentChildrenComparison``.
struct ParentChildrenCheck {
  let family: ParentChildrenGroup
  let environment: RunEnvironment
  let mergeMode: MergeMode

  private var info: ParentChildrenInfo { family.info }
  private var client: any RestClient { environment.client }
  private var refused: RefusedFields { environment.refusedFields }

  /// Compares the family.
  /// - Throws: `RestError` if the server does not answer. A refusal makes the server's version
  ///   unknown.
  func compare() async throws -> ParentChildrenFindings {
    let flags = family.parent.flags(0)
    guard !(flags.isLocal && flags.isCreated), let id = family.parent.serverId(0) else { return ParentChildrenFindings() }
    let bases = try await bases(), remote = try await remote(id, bases)
    return ParentChildrenComparison(family: family, bases: bases, remote: remote, mergeMode: mergeMode).findings
  }

  /// Returns the bases of the members; a clean member is its own base.
  private func bases() async throws -> [ParentChildrenMember: JSONObject] {
    let family = family
    return try await environment.store.read { snapshot in
      var bases: [ParentChildrenMember: JSONObject] = [:]
      for member in family.members {
        let (batch, i) = family.batch(member), soup = family.side(member).soup
        bases[member] =
          family.isDirty(member)
          ? try snapshot.base(of: batch.entryIds[i], in: soup).flatMap { try JSONValue(parsing: $0).objectValue }
          : batch.entry(i)
      }
      return bases
    }
  }

  // MARK: Asking

  private func remote(_ id: String, _ bases: [ParentChildrenMember: JSONObject]) async throws -> ParentChildrenVersions {
    for fields in fieldLists(bases) {
      do {
        var remote = try await family.target.versions(
          of: id, parent: fields.parent, children: fields.children, through: client)
        remote.hasFields = !fields.parent.isEmpty || !fields.children.isEmpty
        try await complete(&remote, fields.children)
        return remote
      } catch let error as RestError where environment.service.fault(of: error) == .unknownField {
        // A script kept a field of its own in clean entries, or the list names a field that cannot
        // be read.
        refused.note(
          error,
          fields.parent.filter { !sent(family.parent).contains($0) }.map { ($0, info.parent.type) }
            + fields.children.filter { !sent(family.children).contains($0) }.map { ($0, info.children.type) })
      } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
        return ParentChildrenVersions()
      }
    }
    return ParentChildrenVersions()
  }

  /// Looks up children that the server does not list under the parent: they may have another parent
  /// or be on a later page.
  private func complete(_ remote: inout ParentChildrenVersions, _ fields: [String]) async throws {
    let missing = (0..<family.children.count).filter { i in
      family.children.serverId(i).map { remote.child($0) == .deleted } ?? false
    }
    guard remote.parent != .deleted else { return }
    for type in IdSet(missing.map { family.type(.child($0)) }).sorted() {
      let ids = missing.filter { family.type(.child($0)) == type }.compactMap(family.children.serverId)
      let versions = try await environment.service.versions(
        type: type, ids: ids, fields: [info.children.fields.modificationDate] + fields, through: client)
      for (id, version) in zip(ids, versions) where version.record != nil { remote.children?[id] = version }
    }
  }

  /// Returns the fields to request in successive attempts: those of the bases and those that are
  /// sent; then only those that are sent; then only the dates.
  private func fieldLists(_ bases: [ParentChildrenMember: JSONObject]) -> [(parent: [String], children: [String])] {
    func all(_ batch: DirtyBatch, _ type: String, _ members: [ParentChildrenMember]) -> [String] {
      var names: [String] = []
      let sent = sent(batch)
      for member in members where family.isDirty(member) {
        for (key, value) in bases[member] ?? [:] where value.isPlain && !names.contains(key) && !sent.contains(key) {
          if !RecordMerge.isBookkeeping(key, batch.plan.fields) { names.append(key) }
        }
      }
      return sent + refused.known(names, of: type)
    }
    let children = family.members.filter { $0 != .parent }
    var lists: [(parent: [String], children: [String])] = [
      (all(family.parent, info.parent.type, [.parent]), all(family.children, info.children.type, children)),
      (sent(family.parent), sent(family.children)), ([], []),
    ]
    if lists[0] == lists[1] { lists.remove(at: 0) }
    return lists
  }

  private func sent(_ batch: DirtyBatch) -> [String] { (batch.plan.update ?? []).filter { !$0.contains(".") } }
}
