import JSON

/// One side of a parent and its children: type, soup and fields.
struct RelatedType: Sendable, Equatable {
  let type: String
  let soup: String
  let fields: TargetFields

  /// - Parameter label: For the messages.
  init(_ json: JSONObject, label: String) throws(SyncError) {
    let reader = TargetReader(json: json, label: label)
    type = try reader.string("sobjectType")
    soup = try reader.string("soupName")
    fields = try TargetFields(json)
  }
}

/// Parents with their children, as the targets of both directions name them.
struct ParentChildrenInfo: Sendable, Equatable {
  enum Relationship: String, Sendable, CaseIterable {
    case masterDetail = "MASTER_DETAIL"
    case lookup = "LOOKUP"
  }

  let parent: RelatedType
  let children: RelatedType
  /// The relationship's name on the parent, such as `Contacts`.
  let childrenName: String
  /// The field of a child that holds its parent's id.
  let parentIdField: String
  let relationship: Relationship

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "parent_children target")
    let parent = try reader.object("parent")
    self.parent = try SyncError.at(.key("parent")) { () throws(SyncError) in
      try RelatedType(parent, label: "parent_children target, parent")
    }
    let children = try reader.object("children"), label = "parent_children target, children"
    let childReader = TargetReader(json: children, label: label)
    (self.children, childrenName, parentIdField) = try SyncError.at(.key("children")) { () throws(SyncError) in
      (
        try RelatedType(children, label: label), try childReader.string("sobjectTypePlural"),
        try childReader.string("parentIdFieldName")
      )
    }
    let word = try reader.string("relationshipType")
    guard let relationship = Relationship(rawValue: word) else {
      throw SyncError(
        .invalidTarget, "parent_children target: 'relationshipType' must be MASTER_DETAIL or LOOKUP, got '\(word)'"
      ).at(.key("relationshipType"))
    }
    self.relationship = relationship
  }

  /// The JSON with the names of the id and date fields of both sides, and of the parents as the target's own.
  func written(to json: JSONObject) -> JSONObject {
    var json = parent.fields.written(to: json)
    json["parent"] = .object(parent.fields.written(to: json["parent"]?.objectValue ?? [:]))
    json["children"] = .object(children.fields.written(to: json["children"]?.objectValue ?? [:]))
    return json
  }
}
