/// One side of a parent-child relationship: type, soup and fields.
package struct RelatedType: Sendable, Equatable {
  package let type: String
  package let soup: String
  package let fields: TargetFields

  package init(type: String, soup: String, fields: TargetFields) {
    self.type = type
    self.soup = soup
    self.fields = fields
  }
}

/// A parent-child relationship between two soups.
package struct ParentChildrenInfo: Sendable, Equatable {
  package enum Relationship: String, Sendable, CaseIterable {
    case masterDetail = "MASTER_DETAIL"
    case lookup = "LOOKUP"
  }

  package let parent: RelatedType
  package let children: RelatedType
  /// The relationship's name on the parent, such as `Contacts`.
  package let childrenName: String
  /// The field of a child that holds its parent's id.
  package let parentIdField: String
  package let relationship: Relationship

  package init(
    parent: RelatedType, children: RelatedType, childrenName: String, parentIdField: String, relationship: Relationship
  ) {
    self.parent = parent
    self.children = children
    self.childrenName = childrenName
    self.parentIdField = parentIdField
    self.relationship = relationship
  }
}
