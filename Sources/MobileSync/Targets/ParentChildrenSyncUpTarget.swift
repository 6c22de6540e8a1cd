import JSON

/// Uploads parents together with their children, one family after the other. Counts speak of parents.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncUpTarget`. A family of more than 25 requests takes several calls, and a
///   family is sent again at most twice, where the model has no limit.
struct ParentChildrenSyncUpTarget: Sendable {
  let json: JSONObject
  let info: ParentChildrenInfo
  /// How each side's records are read and looked up; their lists are the target's.
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
      return try UploadSettings(side, type: "parent_children", largestBatch: BatchSyncUpTarget.largestBatch)
    }
    parents = try side("parent", json["createFieldlist"], json["updateFieldlist"])
    let create = try reader.fieldlist("childrenCreateFieldlist"), update = try reader.fieldlist("childrenUpdateFieldlist")
    // The parent's id is sent by the sync, as it is then.
    let field = info.parentIdField
    func names(_ list: [String]) -> JSONValue { .array(list.filter { $0 != field }.map { .string($0) }) }
    children = try side("children", names(create), names(update))
    var stored = info.written(to: json)
    stored["type"] = "parent_children"
    self.json = stored
  }
}
