import JSON
import MobileSync
import RestClient

/// Uploads parents together with their children, one parent after the other. The counts are those of the parents.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget`. Here a parent whose children need more than 25 subrequests takes
///   several calls, and the upload of a parent is repeated at most twice, where the Mobile SDK has no limit.
struct ParentChildrenSyncUpTarget: ParentChildrenUploadTarget {
  let json: JSONObject
  let info: ParentChildrenInfo
  /// How the records of each side are read and looked up. The field lists come from the target.
  let parents: UploadSettings
  let children: UploadSettings

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    info = try ParentChildrenInfo(json)
    let reader = TargetReader(json: json, label: "parent_children target")
    func side(_ key: String, _ create: JSONValue?, _ update: JSONValue?) throws(SyncError) -> UploadSettings {
      var side = try reader.object(key)
      side["createFieldlist"] = create
      side["updateFieldlist"] = update
      side["lostCreateWaitMs"] = json["lostCreateWaitMs"]
      return try UploadSettings(
        side, type: "parent_children", defaults: .salesforce, largestBatch: BatchSyncUpTarget.largestBatch)
    }
    parents = try side("parent", json["createFieldlist"], json["updateFieldlist"])
    let create = try reader.fieldlist("childrenCreateFieldlist"), update = try reader.fieldlist("childrenUpdateFieldlist")
    // The sync itself sends the parent's id, which may be new.
    let field = info.parentIdField
    func names(_ list: [String]) -> JSONValue { .array(list.filter { $0 != field }.map { .string($0) }) }
    children = try side("children", names(create), names(update))
    var stored = info.written(to: json)
    stored["type"] = "parent_children"
    self.json = stored
  }

  var largestCall: Int { BatchSyncUpTarget.largestBatch }

  // MARK: Sending

  func send(_ requests: [ParentChildrenRequest], through client: any RestClient) async throws -> [UploadResult] {
    let parts = requests.map { one in
      let more: JSONObject = one.parent.map { [info.parentIdField: value($0)] } ?? [:]
      return (
        referenceId: name(one.member), request: RecordRequests(one.batch, one.context).request(one.upload, adding: more)
      )
    }
    return try await CompositeAnswer.results(of: parts, through: client)
  }

  private func name(_ member: ParentChildrenMember) -> String {
    switch member {
    case .parent: "parent"
    case .child(let i): "child\(i)"
    }
  }

  /// Returns the parent's id, a reference to the subrequest that creates the parent, or null.
  private func value(_ parent: ParentReference) -> JSONValue {
    switch parent {
    case .id(let id): .string(id)
    case .sameCall: "@{parent.id}"
    case .none: .null
    }
  }

  // MARK: Look-ups

  /// Looks up a parent and its children with one query.
  func versions(
    of parentId: String, parent: [String], children: [String], through client: any RestClient
  ) async throws -> ParentChildrenVersions {
    let soql = ParentChildrenSyncUpTarget.query(info, parentId, parent: parent, children: children)
    let answer = try await client.send(client.requests.query(soql: soql)).json()
    guard let records = answer["records"]?.arrayValue else { return ParentChildrenVersions() }
    let nested = records.first?[info.childrenName]?["records"]?.arrayValue ?? []
    func version(_ row: JSONValue) -> ServerVersion { row.objectValue.map { .record($0) } ?? .unknown }
    var found: IdMap<ServerVersion> = [:]
    for row in nested {
      guard let id = row[info.children.fields.id]?.stringValue, found[id] == nil else { continue }
      found[id] = version(row)
    }
    return ParentChildrenVersions(parent: records.first.map(version) ?? .deleted, children: found)
  }

  static func query(_ info: ParentChildrenInfo, _ id: String, parent: [String] = [], children: [String] = []) -> String {
    func fields(_ side: RelatedType, _ more: [String]) -> String {
      ([side.fields.id, side.fields.modificationDate] + more).joined(separator: ", ")
    }
    return "select \(fields(info.parent, parent)), (select \(fields(info.children, children)) from \(info.childrenName)) "
      + "from \(info.parent.type) where \(info.parent.fields.id) = \(SOQL.quote(id))"
  }
}
