import JSON

/// A target for parents with their children, for sync down and sync up. Each side has a soup of its own.
public struct ParentChildren: Sendable, Equatable {
  /// The kind of relationship between children and their parent.
  public enum Relationship: String, Sendable, CaseIterable {
    case masterDetail = "MASTER_DETAIL"
    case lookup = "LOOKUP"
  }

  /// The type and the soup of the parents, or of the children as ``Children/record``.
  public struct Parent: Sendable, Equatable {
    public var sobjectType: String
    public var soupName: String
    /// The name of the id field; nil for `Id`.
    public var idFieldName: String?
    /// The name of the modification date field; nil for `LastModifiedDate`.
    public var modificationDateFieldName: String?
    /// The external id field by which new records are upserted if it has a value.
    public var externalIdFieldName: String?

    public init(_ sobjectType: String, in soupName: String) {
      self.sobjectType = sobjectType
      self.soupName = soupName
    }
  }

  /// The type and the soup of the children, and their relationship to the parent.
  public struct Children: Sendable, Equatable {
    /// The children's type and soup.
    public var record: Parent
    /// The relationship's name on the parent, such as `Contacts`.
    public var sobjectTypePlural: String
    /// The child's field that contains its parent's id, such as `AccountId`.
    public var parentIdFieldName: String

    public init(_ sobjectType: String, in soupName: String, plural: String, parentIdFieldName: String) {
      record = Parent(sobjectType, in: soupName)
      sobjectTypePlural = plural
      self.parentIdFieldName = parentIdFieldName
    }
  }

  /// The fields to send for new and for changed records.
  public struct Uploads: Sendable, Equatable {
    public var createFieldlist: [String]?
    public var updateFieldlist: [String]?
    public var childrenCreateFieldlist: [String]?
    public var childrenUpdateFieldlist: [String]?

    public init(
      create: [String]? = nil, update: [String]? = nil, childrenCreate: [String]? = nil, childrenUpdate: [String]? = nil
    ) {
      (createFieldlist, updateFieldlist) = (create, update)
      (childrenCreateFieldlist, childrenUpdateFieldlist) = (childrenCreate, childrenUpdate)
    }
  }

  public var parent: Parent
  public var children: Children
  public var relationship: Relationship
  public var parentFieldlist: [String]
  public var childrenFieldlist: [String]
  /// The WHERE condition of the parents; nil for all of them.
  public var parentSoqlFilter: String?
  /// The fields that a sync up sends.
  public var uploads: Uploads

  public init(
    _ parent: Parent, _ children: Children, _ relationship: Relationship, parentFieldlist: [String], childrenFieldlist: [String],
    parentSoqlFilter: String? = nil, uploads: Uploads = Uploads()
  ) {
    self.parent = parent
    self.children = children
    self.relationship = relationship
    self.parentFieldlist = parentFieldlist
    self.childrenFieldlist = childrenFieldlist
    self.parentSoqlFilter = parentSoqlFilter
    self.uploads = uploads
  }

  var json: JSONObject {
    var json: JSONObject = [
      "type": "parent_children", "parent": .object(parent.json), "children": .object(children.json),
      "relationshipType": .string(relationship.rawValue),
    ]
    json.set("parentFieldlist", parentFieldlist)
    json.set("childrenFieldlist", childrenFieldlist)
    json.set("parentSoqlFilter", parentSoqlFilter)
    json.set("createFieldlist", uploads.createFieldlist)
    json.set("updateFieldlist", uploads.updateFieldlist)
    json.set("childrenCreateFieldlist", uploads.childrenCreateFieldlist)
    json.set("childrenUpdateFieldlist", uploads.childrenUpdateFieldlist)
    return json
  }

  init?(_ members: inout TargetMembers) {
    guard let parent = members.object("parent").flatMap(Parent.init),
      let children = members.object("children").flatMap(Children.init),
      let relationship = members.text("relationshipType").flatMap(Relationship.init),
      let parentFieldlist = members.texts("parentFieldlist"), let childrenFieldlist = members.texts("childrenFieldlist")
    else { return nil }
    self.init(
      parent, children, relationship, parentFieldlist: parentFieldlist, childrenFieldlist: childrenFieldlist,
      parentSoqlFilter: members.text("parentSoqlFilter"),
      uploads: Uploads(
        create: members.texts("createFieldlist"), update: members.texts("updateFieldlist"),
        childrenCreate: members.texts("childrenCreateFieldlist"), childrenUpdate: members.texts("childrenUpdateFieldlist")))
  }
}

extension ParentChildren.Parent {
  var json: JSONObject {
    var json: JSONObject = ["sobjectType": .string(sobjectType), "soupName": .string(soupName)]
    json.set("idFieldName", idFieldName)
    json.set("modificationDateFieldName", modificationDateFieldName)
    json.set("externalIdFieldName", externalIdFieldName)
    return json
  }

  init?(_ json: JSONObject) {
    var members = TargetMembers(json)
    self.init(&members)
    guard members.isEmpty else { return nil }
  }

  init?(_ members: inout TargetMembers) {
    guard let type = members.text("sobjectType"), let soup = members.text("soupName") else { return nil }
    self.init(type, in: soup)
    idFieldName = members.text("idFieldName")
    modificationDateFieldName = members.text("modificationDateFieldName")
    externalIdFieldName = members.text("externalIdFieldName")
  }
}

extension ParentChildren.Children {
  var json: JSONObject {
    var json = record.json
    json.set("sobjectTypePlural", sobjectTypePlural)
    json.set("parentIdFieldName", parentIdFieldName)
    return json
  }

  init?(_ json: JSONObject) {
    var members = TargetMembers(json)
    guard let record = ParentChildren.Parent(&members), let plural = members.text("sobjectTypePlural"),
      let parentId = members.text("parentIdFieldName"), members.isEmpty
    else { return nil }
    self.record = record
    sobjectTypePlural = plural
    parentIdFieldName = parentId
  }
}
