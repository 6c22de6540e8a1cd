import JSON
import RestClient

/// Compares a family with the server's: one query for parent and children.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget.isNewerThanServer`.
enum FamilyCheck {
  /// - Returns: False when somebody changed or deleted one of them on the server, and not here.
  /// - Throws: `RestError` when the server does not answer. A refusal counts as not knowing.
  static func mayUpload(_ family: Family, through client: any RestClient) async throws -> Bool {
    let flags = family.parent.flags(0)
    guard !(flags.isLocal && flags.isCreated), let id = family.parent.serverId(0) else { return true }
    let remote: Remote
    do {
      remote = Remote(try await client.send(client.requests.query(soql: query(family.info, id))), family.info)
    } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
      remote = Remote()
    }
    guard LeaveIfChanged.mayUpload(flags, localStamp: family.parent.stamp(0), remote: remote.parent) else { return false }
    let goesAlong = family.info.relationship == .masterDetail && flags.isDeleted
    return (0..<family.children.count).allSatisfy { i in
      var flags = family.children.flags(i)
      if goesAlong { flags.isDeleted = true }
      // A record that only says it is new is new; flags of clean ones mean nothing.
      if !flags.isLocal { flags.isCreated = false }
      return LeaveIfChanged.mayUpload(
        flags, localStamp: family.children.stamp(i), remote: remote.child(family.children.serverId(i)))
    }
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
