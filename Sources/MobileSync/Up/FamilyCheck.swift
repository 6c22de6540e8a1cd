import JSON
import RestClient

/// A member of a family that is not as it was on the server.
struct FamilyChange: Sendable, Equatable {
  let member: FamilyMember
  let isDeleted: Bool
}

/// Compares a family with the server's: one query for parent and children.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget.isNewerThanServer`.
enum FamilyCheck {
  /// - Returns: The members that somebody changed or deleted on the server, and not here.
  /// - Throws: `RestError` when the server does not answer. A refusal counts as not knowing.
  static func changed(_ family: Family, through client: any RestClient) async throws -> [FamilyChange] {
    let flags = family.parent.flags(0)
    guard !(flags.isLocal && flags.isCreated), let id = family.parent.serverId(0) else { return [] }
    let remote: Remote
    do {
      remote = Remote(try await client.send(client.requests.query(soql: query(family.info, id))), family.info)
    } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
      remote = Remote()
    }
    var changed: [FamilyChange] = []
    if !LeaveIfChanged.mayUpload(flags, localStamp: family.parent.stamp(0), remote: remote.parent) {
      changed.append(FamilyChange(member: .parent, isDeleted: remote.parent == .deleted))
    }
    let goesAlong = family.info.relationship == .masterDetail && flags.isDeleted
    for i in 0..<family.children.count {
      var flags = family.children.flags(i)
      if goesAlong { flags.isDeleted = true }
      // A record that only says it is new is new; flags of clean ones mean nothing.
      if !flags.isLocal { flags.isCreated = false }
      let child = remote.child(family.children.serverId(i))
      if !LeaveIfChanged.mayUpload(flags, localStamp: family.children.stamp(i), remote: child) {
        changed.append(FamilyChange(member: .child(i), isDeleted: child == .deleted))
      }
    }
    return changed
  }

  static func query(_ info: ParentChildrenInfo, _ id: String) -> String {
    func fields(_ side: RelatedType) -> String { "\(side.fields.id), \(side.fields.modificationDate)" }
    return "select \(fields(info.parent)), (select \(fields(info.children)) from \(info.childrenName)) "
      + "from \(info.parent.type) where \(info.parent.fields.id) = \(SOQL.quote(id))"
  }

  /// What the server has of a family.
  private struct Remote {
    private(set) var parent = RemoteRecord.unknown
    private var children: [String: RemoteRecord]?

    init() {}

    init(_ response: RestResponse, _ info: ParentChildrenInfo) {
      guard let records = (try? response.json())?["records"]?.arrayValue else { return }
      parent = records.first.map { Remote.record($0, info.parent.fields) } ?? .deleted
      let nested = records.first?[info.childrenName]?["records"]?.arrayValue ?? []
      children = Dictionary(
        nested.compactMap { row in
          row[info.children.fields.id]?.stringValue.map { ($0, Remote.record(row, info.children.fields)) }
        }, uniquingKeysWith: { first, _ in first })
    }

    private static func record(_ row: JSONValue, _ fields: TargetFields) -> RemoteRecord {
      row[fields.modificationDate]?.stringValue.flatMap { TimeStamp.milliseconds($0) }.map { .modified($0) } ?? .unknown
    }

    func child(_ id: String?) -> RemoteRecord {
      guard let children, let id else { return .unknown }
      return children[id] ?? .deleted
    }
  }
}
