/// The fields that every object has.
enum SystemFields {
  static func identity(label: String) -> [FieldSchema] {
    [
      FieldSchema("Id", .id, 18, label: "\(label) ID").with {
        $0.isReadOnly = true
        $0.isIdLookup = true
      },
      FieldSchema("IsDeleted", .boolean, label: "Deleted").with { $0.isReadOnly = true },
    ]
  }

  static let owner = FieldSchema("OwnerId", .reference, 18).with {
    $0.referenceTo = ["User"]
    $0.relationshipName = "Owner"
  }

  /// Cases and leads can be owned by a queue.
  static let queueOwner = owner.with { $0.referenceTo = ["Group", "User"] }

  static let audit: [FieldSchema] = [
    readOnly("CreatedDate", .datetime), user("CreatedById", relationship: "CreatedBy"),
    readOnly("LastModifiedDate", .datetime), user("LastModifiedById", relationship: "LastModifiedBy"),
    readOnly("SystemModstamp", .datetime),
  ]

  static let viewed: [FieldSchema] = [readOnly("LastViewedDate", .datetime), readOnly("LastReferencedDate", .datetime)]

  static func readOnly(_ name: String, _ type: FieldType) -> FieldSchema {
    FieldSchema(name, type).with { $0.isReadOnly = true }
  }

  private static func user(_ name: String, relationship: String) -> FieldSchema {
    FieldSchema(name, .reference, 18).with {
      $0.referenceTo = ["User"]
      $0.relationshipName = relationship
      $0.isReadOnly = true
    }
  }
}
