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
    var id: String?
    if let flags = family.parentFlags {
      guard !(flags.isLocal && flags.isCreated), let known = family.parent.serverId(0) else { return ParentChildrenFindings() }
      id = known
    }
    let bases = try await bases(), own = try await own(), remote = try await remote(id, bases)
    return ParentChildrenComparison(
      family: family, bases: bases, remote: remote, mergeMode: mergeMode, own: own.values, ownStamps: own.stamps
    ).findings
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

  /// Returns what our own uploads sent and the stamps that they got.
  private func own() async throws -> (values: [ParentChildrenMember: OwnValues], stamps: [ParentChildrenMember: Int64]) {
    let family = family
    return try await environment.store.read { snapshot in
      var values: [ParentChildrenMember: OwnValues] = [:], stamps: [ParentChildrenMember: Int64] = [:]
      let sides = [(family.parent, family.parentMembers), (family.children, family.childMembers)]
      for (batch, members) in sides {
        guard let first = members.first else { continue }
        let soup = family.side(first).soup
        let own = try snapshot.ownUploads(of: batch.entryIds, in: soup)
        for member in members {
          let id = batch.entryIds[family.batch(member).index]
          (values[member], stamps[member]) = (own.values[id], own.stamps[id])
        }
      }
      return (values, stamps)
    }
  }

  // MARK: Asking

  /// - Parameter id: The parent's id; nil if a child is alone.
  private func remote(_ id: String?, _ bases: [ParentChildrenMember: JSONObject]) async throws -> ParentChildrenVersions {
    var comparesDatesOnly = false
    for attempt in 0...ParentChildrenCheck.tries {
      comparesDatesOnly = comparesDatesOnly || attempt == ParentChildrenCheck.tries
      let fields = comparesDatesOnly ? (parent: [], children: []) : fieldsToRead(bases)
      do {
        var remote = ParentChildrenVersions(parent: .unknown, children: [:])
        if let id { remote = try await versions(of: id, fields, bases) }
        remote.hasFields = !fields.parent.isEmpty || !fields.children.isEmpty
        try await complete(&remote, fields.children)
        return remote
      } catch let error as RestError where environment.service.fault(of: error) == .unknownField {
        // A script kept a field of its own in clean entries, or a list names a field that cannot
        // be read.
        comparesDatesOnly = !note(error, fields)
      } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
        return ParentChildrenVersions()
      }
    }
    return ParentChildrenVersions()
  }

  private func versions(
    of id: String, _ fields: (parent: [String], children: [String]), _ bases: [ParentChildrenMember: JSONObject]
  ) async throws -> ParentChildrenVersions {
    environment.intent.recorder?.begin(.look, records: family.members.count)
    do {
      return try await family.target.versions(of: id, parent: fields.parent, children: fields.children, through: client)
    } catch  where error.isPlanned {
      return try await AssumedFamily(family: family, store: environment.store, bases: bases).versions(fields)
    }
  }

  /// An answer may name only one of several unknown fields. The last attempt compares dates alone.
  private static let tries = 3

  /// - Returns: Whether fewer fields are left to read.
  private func note(_ error: RestError, _ asked: (parent: [String], children: [String])) -> Bool {
    let parents = IdSet(sent(family.parent)), children = IdSet(sent(family.children))
    let all =
      asked.parent.map { (name: $0, type: info.parent.type, isListed: parents.contains($0)) }
      + asked.children.map { (name: $0, type: info.children.type, isListed: children.contains($0)) }
    func fields(_ isListed: Bool) -> [(name: String, type: String)] {
      all.filter { $0.isListed == isListed }.map { ($0.name, $0.type) }
    }
    return refused.note(error, fields(false), listed: fields(true))
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
      let indices = (0..<family.children.count).filter { i in family.children.serverId(i).map(ids.contains) ?? false }
      let names = [info.children.fields.modificationDate] + fields
      environment.intent.recorder?.begin(.look, records: ids.count)
      let versions: [ServerVersion]
      do {
        versions = try await environment.service.versions(type: type, ids: ids, fields: names, through: client)
      } catch  where error.isPlanned {
        versions = try await AssumedVersions(store: environment.store, soup: info.children.soup, batch: family.children)
          .versions(indices, names)
      }
      for (id, version) in zip(ids, versions) where version.record != nil { remote.children?[id] = version }
    }
  }

  /// Returns the fields to request: those that are sent and those of the bases, without those that
  /// the server has refused.
  private func fieldsToRead(_ bases: [ParentChildrenMember: JSONObject]) -> (parent: [String], children: [String]) {
    func all(_ batch: DirtyBatch, _ type: String, _ members: [ParentChildrenMember]) -> [String] {
      let sent = sent(batch)
      var names: [String] = []
      for member in members where family.isDirty(member) {
        for (key, value) in bases[member] ?? [:] where value.isPlain && !names.contains(key) && !sent.contains(key) {
          if !RecordMerge.isBookkeeping(key, batch.plan.fields) { names.append(key) }
        }
      }
      return refused.known(sent + names, of: type)
    }
    return (
      all(family.parent, info.parent.type, family.parentMembers), all(family.children, info.children.type, family.childMembers)
    )
  }

  private func sent(_ batch: DirtyBatch) -> [String] { (batch.plan.update ?? []).filter { !$0.contains(".") } }
}
