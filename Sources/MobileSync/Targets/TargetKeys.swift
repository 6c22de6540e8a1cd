import JSON

/// The keys that each kind of target knows. A misspelled one would be passed over, and other records be fetched or other fields
/// be sent than was meant.
///
/// Checked where a definition is given, not where a stored one is read: what an earlier release has taken goes on running.
enum TargetKeys {
  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key and the nearest one that is known. A kind that is not known is left
  ///   to ``TargetRegistry``.
  static func check(_ type: SyncType, _ json: JSONObject) throws(SyncError) {
    let kind: String
    switch type {
    case .syncDown: kind = json["type"]?.stringValue ?? ""
    case .syncUp: kind = try TargetRegistry.upKind(json)
    }
    guard let own = (type == .syncDown ? down : up)[kind] else { return }
    let label = type == .syncDown || kind == "parent_children" ? "\(kind) target" : "sync up target"
    let keys = KnownKeys(common + own, ignoring: modelClasses)
    // An implementation reads whatever it likes from its target.
    if let found = kind == "custom" ? keys.misspelled(in: json) : keys.unknown(in: json) { throw wrong(label, found) }
    if kind == "parent_children" { try checkFamily(json, label) }
    if kind == "briefcase" { try checkInfos(json["infos"]?.arrayValue ?? [], label) }
  }

  private static let fields = ["idFieldName", "modificationDateFieldName"]
  private static let common = ["type"] + fields
  /// The classes that a target has in the mobile SDKs, which stand in each one they serialise.
  private static let modelClasses = ["androidImpl", "iOSImpl", "iosImpl"]

  private static let down: [String: [String]] = [
    "soql": ["query", "maxBatchSize"], "sosl": ["query"], "mru": ["sobjectType", "fieldlist"],
    "refresh": ["sobjectType", "fieldlist", "soupName", "countIdsPerSoql", "coundIdsPerSoql"],
    "layout": ["sobjectType", "formFactor", "layoutType", "mode", "recordTypeId"], "metadata": ["sobjectType"],
    "parent_children": family + familyDown,
    "briefcase": ["infos", "countIdsPerRetrieve"], "custom": ["luaImpl", "sortedByModification"],
  ]
  private static let up: [String: [String]] = [
    "plain": upload, "collection": upload, "batch": upload, "custom": ["luaImpl"] + upload,
    // One table may describe both directions.
    "parent_children": family + familyDown + upload + ["childrenCreateFieldlist", "childrenUpdateFieldlist"],
  ]
  private static let upload = ["createFieldlist", "updateFieldlist", "externalIdFieldName", "maxBatchSize", "lostCreateWaitMs"]
  private static let family = ["parent", "children", "relationshipType"]
  private static let familyDown = ["parentFieldlist", "childrenFieldlist", "parentSoqlFilter"]
  private static let related = ["sobjectType", "soupName", "externalIdFieldName"] + fields

  private static func checkFamily(_ json: JSONObject, _ label: String) throws(SyncError) {
    for (side, more) in [("parent", []), ("children", ["sobjectTypePlural", "parentIdFieldName"])] {
      guard let members = json[side]?.objectValue else { continue }
      if let found = KnownKeys(related + more, ignoring: modelClasses).unknown(in: members) {
        throw wrong("\(label), \(side)", found).at(.key(side))
      }
    }
  }

  private static func checkInfos(_ infos: [JSONValue], _ label: String) throws(SyncError) {
    let keys = KnownKeys(["sobjectType", "soupName", "fieldlist"] + fields, ignoring: modelClasses)
    for (i, info) in infos.enumerated() {
      if let found = info.objectValue.flatMap(keys.unknown(in:)) {
        throw wrong("\(label), infos[\(i + 1)]", found).at(.key("infos"), .position(i))
      }
    }
  }

  private static func wrong(_ label: String, _ found: (key: String, complaint: String)) -> SyncError {
    SyncError(.invalidTarget, "\(label): '\(found.key)' \(found.complaint)").at(.key(found.key))
  }
}
