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
  let client: any RestClient
  let store: Store
  let mergeMode: MergeMode
  let refused: RefusedFields

  struct Findings: Sendable {
    /// Members that somebody changed or deleted on the server, and not here.
    var changes: [FamilyChange] = []
    /// See ``UploadContext/datesSeen``.
    var dates: [String: Int64] = [:]
  }

  private var info: ParentChildrenInfo { family.info }

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
    _ remote: Remote, _ findings: inout Findings
  ) {
    let (batch, i) = family.batch(member), fields = batch.plan.fields
    let date = version.record?[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
    if let id = batch.serverId(i), let date { findings.dates[id] = date }
    let mayUpload = UploadComparison.mayUpload(
      batch.entry(i), flags, base: remote.hasFields ? bases[member] : nil, server: version, fields, mergeMode)
    if !mayUpload { findings.changes.append(FamilyChange(member: member, isDeleted: version == .deleted)) }
  }

  /// What the members were made from; a clean one is still that.
  private func bases() async throws -> [FamilyMember: JSONObject] {
    let family = family
    return try await store.read { snapshot in
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

  private func remote(_ id: String, _ bases: [FamilyMember: JSONObject]) async throws -> Remote {
    for fields in fieldLists(bases) {
      do {
        let soql = FamilyCheck.query(info, id, parent: fields.parent, children: fields.children)
        var remote = Remote(try await client.send(client.requests.query(soql: soql)), info)
        remote.hasFields = !fields.parent.isEmpty || !fields.children.isEmpty
        try await complete(&remote, fields.children)
        return remote
      } catch let error as RestError where error.serverCode == "INVALID_FIELD" {
        // Somebody kept a field of their own in clean entries, or the list names one that cannot be read.
        refused.note(
          error,
          fields.parent.filter { !sent(family.parent).contains($0) }.map { ($0, info.parent.type) }
            + fields.children.filter { !sent(family.children).contains($0) }.map { ($0, info.children.type) })
      } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
        return Remote()
      }
    }
    return Remote()
  }

  /// Children that are not among the parent's own on the server: it has them under another parent, or on a further page.
  private func complete(_ remote: inout Remote, _ fields: [String]) async throws {
    let missing = (0..<family.children.count).filter { i in
      family.children.serverId(i).map { remote.child($0) == .deleted } ?? false
    }
    guard remote.parent != .deleted else { return }
    for type in Set(missing.map { family.type(.child($0)) }).sorted() {
      let ids = missing.filter { family.type(.child($0)) == type }.compactMap(family.children.serverId)
      let versions = try await ServerVersions.retrieve(
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

  static func query(_ info: ParentChildrenInfo, _ id: String, parent: [String] = [], children: [String] = []) -> String {
    func fields(_ side: RelatedType, _ more: [String]) -> String {
      ([side.fields.id, side.fields.modificationDate] + more).joined(separator: ", ")
    }
    return "select \(fields(info.parent, parent)), (select \(fields(info.children, children)) from \(info.childrenName)) "
      + "from \(info.parent.type) where \(info.parent.fields.id) = \(SOQL.quote(id))"
  }

  /// What the server has of a family.
  private struct Remote {
    private(set) var parent = ServerVersion.unknown
    var children: [String: ServerVersion]?
    /// There is more than dates to compare.
    var hasFields = false

    init() {}

    init(_ response: RestResponse, _ info: ParentChildrenInfo) {
      guard let records = (try? response.json())?["records"]?.arrayValue else { return }
      parent = records.first.map { $0.objectValue.map { .record($0) } ?? .unknown } ?? .deleted
      let nested = records.first?[info.childrenName]?["records"]?.arrayValue ?? []
      children = Dictionary(
        nested.compactMap { row in
          row[info.children.fields.id]?.stringValue.map { ($0, row.objectValue.map { .record($0) } ?? .unknown) }
        }, uniquingKeysWith: { first, _ in first })
    }

    func child(_ id: String?) -> ServerVersion {
      guard let children, let id else { return .unknown }
      return children[id] ?? .deleted
    }
  }
}
