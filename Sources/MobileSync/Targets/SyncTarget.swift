import JSON

/// What every target names: the fields that hold a record's id and its modification date.
struct TargetFields: Sendable, Equatable {
  let id: String
  let modificationDate: String

  init(_ json: JSONObject) throws(SyncError) {
    id = try TargetFields.name(json, "idFieldName") ?? "Id"
    modificationDate = try TargetFields.name(json, "modificationDateFieldName") ?? "LastModifiedDate"
  }

  /// A field name; nil when the key is absent or null.
  static func name(_ json: JSONObject, _ key: String) throws(SyncError) -> String? {
    guard let value = json[key], !value.isNull else { return nil }
    guard let name = value.stringValue, !name.isEmpty else {
      throw SyncError(.invalidTarget, "target: '\(key)' must be a field name, got \(value.shownKind)")
    }
    return name
  }

  /// Writes both names into a target's JSON, as stored targets have them.
  func write(to json: inout JSONObject) {
    json["idFieldName"] = .string(id)
    json["modificationDateFieldName"] = .string(modificationDate)
  }
}

extension JSONValue {
  /// For messages: texts are shown, other values named by their kind.
  var shownKind: String { stringValue.map { "'\($0)'" } ?? kindName }
}

/// Reads the kind of a target and makes the target. One place knows all kinds.
enum TargetRegistry {
  static func down(_ json: JSONObject) throws(SyncError) -> any SyncDownTarget {
    guard let type = json["type"], !type.isNull else {
      throw SyncError(.invalidTarget, "sync down target: 'type' is missing")
    }
    switch type.stringValue {
    case "soql": return try SoqlSyncDownTarget(json)
    case "sosl", "mru", "refresh", "layout", "metadata", "parent_children", "briefcase", "custom":
      throw SyncError(.invalidTarget, "sync down target type \(type.shownKind) is not available in this version")
    case "cache": throw SyncError(.invalidTarget, "Wrong target type: cache")
    default: throw SyncError(.invalidTarget, "unknown sync down target type: \(type.shownKind)")
    }
  }

  static func up(_ json: JSONObject) throws(SyncError) -> any SyncUpTarget {
    switch try upKind(json) {
    case "collection": return try CollectionSyncUpTarget(json)
    case let kind: throw SyncError(.invalidTarget, "sync up target type '\(kind)' is not available in this version")
    }
  }

  /// The kind by `type`, else by the class names of the mobile SDKs; the collection target when nothing says otherwise.
  private static func upKind(_ json: JSONObject) throws(SyncError) -> String {
    let type = json["type"].flatMap { $0.isNull ? nil : $0 }
    let name = [json["androidImpl"], json["iOSImpl"]].lazy.compactMap { $0?.stringValue }.first { !$0.isEmpty }
    let known = ["collection", "batch", "parent_children", "custom"]
    if let type {
      guard let word = type.stringValue, known.contains(word) || word == "rest" else {
        throw SyncError(.invalidTarget, "unknown sync up target type: \(type.shownKind)")
      }
      if word != "rest" && word != "custom" { return word }
    }
    guard let name else { return type?.stringValue == "custom" ? "custom" : "collection" }
    let classes = [
      "CollectionSyncUpTarget": "collection", "BatchSyncUpTarget": "batch",
      "ParentChildrenSyncUpTarget": "parent_children", "SyncUpTarget": "rest",
    ]
    let short = name.split(separator: ".").last.map(String.init) ?? name
    return classes[short.hasPrefix("SF") ? String(short.dropFirst(2)) : short] ?? "custom"
  }
}
