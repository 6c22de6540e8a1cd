import JSON
import MobileSync

extension RelatedType {
  /// - Parameter label: The target's name in messages.
  init(_ json: JSONObject, label: String) throws(SyncError) {
    let reader = TargetReader(json: json, label: label)
    self.init(type: try reader.string("sobjectType"), soup: try reader.string("soupName"), fields: try TargetFields(json))
  }
}

/// The JSON keys for parents and children, which the targets of both directions share.
extension ParentChildrenInfo {
  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "parent_children target")
    let parentMembers = try reader.object("parent")
    let parent = try SyncError.at(.key("parent")) { () throws(SyncError) in
      try RelatedType(parentMembers, label: "parent_children target, parent")
    }
    let members = try reader.object("children"), label = "parent_children target, children"
    let childReader = TargetReader(json: members, label: label)
    let (children, childrenName, parentIdField) = try SyncError.at(.key("children")) { () throws(SyncError) in
      (
        try RelatedType(members, label: label), try childReader.string("sobjectTypePlural"),
        try childReader.string("parentIdFieldName")
      )
    }
    let word = try reader.string("relationshipType")
    guard let relationship = Relationship(rawValue: word) else {
      throw SyncError(
        .invalidTarget, "parent_children target: 'relationshipType' must be MASTER_DETAIL or LOOKUP, got '\(word)'"
      ).at(.key("relationshipType"))
    }
    self.init(
      parent: parent, children: children, childrenName: childrenName, parentIdField: parentIdField, relationship: relationship)
  }

  /// Returns the JSON with the names of both sides' id and date fields. Those of the parents are also the target's own.
  func written(to json: JSONObject) -> JSONObject {
    var json = parent.fields.written(to: json)
    json["parent"] = .object(parent.fields.written(to: json["parent"]?.objectValue ?? [:]))
    json["children"] = .object(children.fields.written(to: json["children"]?.objectValue ?? [:]))
    return json
  }
}
