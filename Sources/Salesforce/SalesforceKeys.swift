import JSON
import MobileSync

/// The keys of the targets with nested objects.
extension TargetKeys {
  private static let related = ["sobjectType", "soupName", "externalIdFieldName"]

  /// - Parameter more: Keys in addition to those of both directions.
  static func families(_ more: [String] = []) -> TargetKeys {
    let own = [
      "parent", "children", "relationshipType", "parentFieldlist", "childrenFieldlist", "parentSoqlFilter",
    ]
    let label = "parent_children target"
    return TargetKeys(own + more, label: label) { json throws(SyncError) in
      for (side, more) in [("parent", []), ("children", ["sobjectTypePlural", "parentIdFieldName"])] {
        guard let members = json[side]?.objectValue else { continue }
        try SyncError.at(.key(side)) { () throws(SyncError) in
          try TargetKeys.check(members, related + more, label: "\(label), \(side)")
        }
      }
    }
  }

  static let briefcase = TargetKeys(["infos", "countIdsPerRetrieve"]) { json throws(SyncError) in
    for (i, info) in (json["infos"]?.arrayValue ?? []).enumerated() {
      guard let members = info.objectValue else { continue }
      try SyncError.at(.key("infos")) { () throws(SyncError) in
        try SyncError.at(.position(i)) { () throws(SyncError) in
          try TargetKeys.check(members, ["sobjectType", "soupName", "fieldlist"], label: "briefcase target, infos[\(i + 1)]")
        }
      }
    }
  }
}
