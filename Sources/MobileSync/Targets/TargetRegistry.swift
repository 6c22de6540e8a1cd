import JSON

/// Reads the kind of a target and makes the target. One place knows all kinds.
enum TargetRegistry {
  static let downKinds = ["soql", "sosl", "mru", "refresh", "layout", "metadata", "parent_children", "briefcase", "custom"]
  static let upKinds = ["plain", "collection", "batch", "parent_children", "custom"]

  static func down(_ json: JSONObject) throws(SyncError) -> any SyncDownTarget {
    guard let type = json["type"], !type.isNull else {
      throw SyncError(.invalidTarget, "sync down target: 'type' is missing")
    }
    switch type.stringValue {
    case "soql": return try SoqlSyncDownTarget(json)
    case "sosl": return try SoslSyncDownTarget(json)
    case "mru": return try MruSyncDownTarget(json)
    case "refresh": return try RefreshSyncDownTarget(json)
    case "layout": return try LayoutSyncDownTarget(json)
    case "metadata": return try MetadataSyncDownTarget(json)
    case "parent_children": return try ParentChildrenSyncDownTarget(json)
    case "briefcase": return try BriefcaseSyncDownTarget(json)
    case "custom": return try CustomSyncDownTarget(json)
    case "cache": throw SyncError(.invalidTarget, "Wrong target type: cache")
    default: throw unknown(type, "sync down", downKinds)
    }
  }

  /// The target for parents with their children; nil for every other kind.
  static func families(_ json: JSONObject) throws(SyncError) -> ParentChildrenSyncUpTarget? {
    try upKind(json) == "parent_children" ? try ParentChildrenSyncUpTarget(json) : nil
  }

  /// A target for the records of one soup.
  static func up(_ json: JSONObject) throws(SyncError) -> any SyncUpTarget {
    switch try upKind(json) {
    case "collection": return try CollectionSyncUpTarget(json)
    case "batch": return try BatchSyncUpTarget(json)
    case "plain": return try PlainSyncUpTarget(json)
    case "custom": return try CustomSyncUpTarget(json)
    case let kind: throw SyncError(.invalidTarget, "sync up target type '\(kind)' is not one for a single soup")
    }
  }

  /// The kind by `type`, where `rest` says nothing, else by the class names of the mobile SDKs; the collection target when
  /// nothing says otherwise.
  static func upKind(_ json: JSONObject) throws(SyncError) -> String {
    let type = json["type"].flatMap { value -> JSONValue? in value.isNull ? Optional.none : value }
    let name = [json["androidImpl"], json["iOSImpl"]].lazy.compactMap { $0?.stringValue }.first { !$0.isEmpty }
    if let type {
      guard let word = type.stringValue, upKinds.contains(word) || word == "rest" else {
        throw unknown(type, "sync up", upKinds)
      }
      if word != "rest" && word != "custom" { return word }
    }
    guard let name else {
      return type?.stringValue == "custom" || json["luaImpl"]?.stringValue != nil ? "custom" : "collection"
    }
    let classes = [
      "CollectionSyncUpTarget": "collection", "BatchSyncUpTarget": "batch",
      "ParentChildrenSyncUpTarget": "parent_children", "SyncUpTarget": "plain",
    ]
    let short = name.split(separator: ".").last.map(String.init) ?? name
    return classes[short.hasPrefix("SF") ? String(short.dropFirst(2)) : short] ?? "custom"
  }

  private static func unknown(_ type: JSONValue, _ kind: String, _ known: [String]) -> SyncError {
    let hint = NearestName.hint(for: type.stringValue ?? "", among: known)
    return SyncError(.invalidTarget, "unknown \(kind) target type: \(type.shownKind)\(hint)").at(.key("type"))
  }
}
