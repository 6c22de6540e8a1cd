import JSON
import RestClient
import SmartStore

/// A member of a family that is not as it was on the server.
struct FamilyChange: Sendable, Equatable {
  let member: FamilyMember
  let isDeleted: Bool
}

/// Compares a family with the server's right before it is sent: one query for parent and children, and one more for children that
/// the server has elsewhere.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget.isNewerThanServer`. It goes by the dates alone; here the fields decide
///   where the store knows what an entry was made from, as for records without a family.
struct FamilyCheck {
  let family: Family
  let environment: RunEnvironment
  let mergeMode: MergeMode

  struct Findings: Sendable {
    /// Members that somebody changed or deleted on the server, and not here.
    var changes: [FamilyChange] = []
    /// See ``UploadContext/datesSeen``.
    var dates: [String: Int64] = [:]
  }

  private var info: ParentChildrenInfo { family.info }
  private var client: any RestClient { environment.client }
  private var refused: RefusedFields { environment.refusedFields }

  /// - Throws: `RestError` when the server does not answer. A refusal counts as not knowing.
  func compare() async throws -> Findings {
    let flags = family.parent.flags(0)
    guard !(flags.isLocal && flags.isCreated), let id = family.parent.serverId(0) else { return Findings() }
    let bases = try await bases(), remote = try await remote(id, bases)
    var findings = Findings()
    compare(.parent, flags, remote.parent, bases, remote, &findings)
    let goesAlong = info.relationship == .masterDetail && flags.isDeleted
    for i in 0..<family.children.count {
      var flags = family.children.flags(i)
      if goesAlong { flags.isDeleted = true }
      // A record that only says it is new is new; flags of clean ones mean nothing.
      if !flags.isLocal { flags.isCreated = false }
      compare(.child(i), flags, remote.child(family.children.serverId(i)), bases, remote, &findings)
    }
    return findings
  }

  private func compare(
    _ member: FamilyMember, _ flags: LocalFlags, _ version: ServerVersion, _ bases: [FamilyMember: JSONObject],
    _ remote: FamilyVersions, _ findings: inout Findings
  ) {
    let (batch, i) = family.batch(member), fields = batch.plan.fields
    let date = version.record.flatMap(fields.stamp)
    if let id = batch.serverId(i), let date { findings.dates[id] = date }
    let mayUpload = UploadComparison.mayUpload(
      batch.entry(i), flags, base: remote.hasFields ? bases[member] : nil, server: version, fields, mergeMode)
    if !mayUpload { findings.changes.append(FamilyChange(member: member, isDeleted: version == .deleted)) }
  }

  /// What the members were made from; a clean one is still that.
  private func bases() async throws -> [FamilyMember: JSONObject] {
    let family = family
    return try await environment.store.read { snapshot in
      var bases: [FamilyMember: JSONObject] = [:]
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

  private func remote(_ id: String, _ bases: [FamilyMember: JSONObject]) async throws -> FamilyVersions {
    for fields in fieldLists(bases) {
      do {
        var remote = try await family.target.versions(
          of: id, parent: fields.parent, children: fields.children, through: client)
        remote.hasFields = !fields.parent.isEmpty || !fields.children.isEmpty
        try await complete(&remote, fields.children)
        return remote
      } catch let error as RestError where environment.service.fault(of: error) == .unknownField {
        // Somebody kept a field of their own in clean entries, or the list names one that cannot be read.
        refused.note(
          error,
          fields.parent.filter { !sent(family.parent).contains($0) }.map { ($0, info.parent.type) }
            + fields.children.filter { !sent(family.children).contains($0) }.map { ($0, info.children.type) })
      } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
        return FamilyVersions()
      }
    }
    return FamilyVersions()
  }

  /// Children that are not among the parent's own on the server: it has them under another parent, or on a further page.
  private func complete(_ remote: inout FamilyVersions, _ fields: [String]) async throws {
    let missing = (0..<family.children.count).filter { i in
      family.children.serverId(i).map { remote.child($0) == .deleted } ?? false
    }
    guard remote.parent != .deleted else { return }
    for type in Set(missing.map { family.type(.child($0)) }).sorted() {
      let ids = missing.filter { family.type(.child($0)) == type }.compactMap(family.children.serverId)
      let versions = try await environment.service.versions(
        type: type, ids: ids, fields: [info.children.fields.modificationDate] + fields, through: client)
      for (id, version) in zip(ids, versions) where version.record != nil { remote.children?[id] = version }
    }
  }

  /// What to ask for: what the members were made from and what is sent, then what is sent, then nothing but the dates.
  private func fieldLists(_ bases: [FamilyMember: JSONObject]) -> [(parent: [String], children: [String])] {
    func all(_ batch: DirtyBatch, _ type: String, _ members: [FamilyMember]) -> [String] {
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
