/// One object: its fields in describe order and how to find them.
struct ObjectSchema: Sendable {
  let name: String
  let label: String, labelPlural: String
  /// The first three characters of its ids.
  let keyPrefix: String
  let fields: [FieldSchema]
  /// Whether clients may create, update and delete its rows.
  let isCreateable: Bool, isDeletable: Bool
  private let byName: [String: Int]
  private let byRelationship: [String: Int]

  init(
    _ name: String, plural: String, prefix: String, isCreateable: Bool = true, isDeletable: Bool = true,
    hasOwner: Bool = true, fields own: [FieldSchema]
  ) {
    self.name = name
    label = name
    labelPlural = plural
    keyPrefix = prefix
    self.isCreateable = isCreateable
    self.isDeletable = isDeletable
    let head = SystemFields.identity(label: name)
    fields = head + own + (hasOwner ? [SystemFields.owner] : []) + SystemFields.audit
    var names: [String: Int] = [:]
    var relationships: [String: Int] = [:]
    for (index, field) in fields.enumerated() {
      names[field.name.lowercased()] = index
      if let relationship = field.relationshipName { relationships[relationship.lowercased()] = index }
    }
    byName = names
    byRelationship = relationships
  }

  /// Names are not case-sensitive.
  func field(_ name: some StringProtocol) -> FieldSchema? { byName[name.lowercased()].map { fields[$0] } }
  func relationship(_ name: some StringProtocol) -> FieldSchema? {
    byRelationship[name.lowercased()].map { fields[$0] }
  }

  var nameField: FieldSchema? { fields.first { $0.isNameField } }
  /// The SQL table, quoted: `Case` is a keyword.
  var table: String { "\"\(name)\"" }
}

/// What every object carries.
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

  static let audit: [FieldSchema] = [
    FieldSchema("CreatedDate", .datetime).with { $0.isReadOnly = true },
    user("CreatedById", relationship: "CreatedBy"),
    FieldSchema("LastModifiedDate", .datetime).with { $0.isReadOnly = true },
    user("LastModifiedById", relationship: "LastModifiedBy"),
    FieldSchema("SystemModstamp", .datetime).with { $0.isReadOnly = true },
  ]

  private static func user(_ name: String, relationship: String) -> FieldSchema {
    FieldSchema(name, .reference, 18).with {
      $0.referenceTo = ["User"]
      $0.relationshipName = relationship
      $0.isReadOnly = true
    }
  }
}

/// The objects of an org.
struct OrgSchema: Sendable {
  let objects: [ObjectSchema]
  private let byName: [String: Int]
  private let byPrefix: [String: Int]

  init(objects: [ObjectSchema]) {
    self.objects = objects
    byName = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.name.lowercased(), $0) })
    byPrefix = Dictionary(uniqueKeysWithValues: objects.enumerated().map { ($1.keyPrefix, $0) })
  }

  /// Names are not case-sensitive.
  func object(_ name: some StringProtocol) -> ObjectSchema? { byName[name.lowercased()].map { objects[$0] } }
  func object(ofId id: String) -> ObjectSchema? { byPrefix[RecordID.prefix(of: id)].map { objects[$0] } }

  /// The reference fields that point at an object, with the objects that have them.
  func references(to name: String) -> [(child: ObjectSchema, field: FieldSchema)] {
    objects.flatMap { child in
      child.fields.filter { $0.type == .reference && $0.referenceTo.contains(name) }.map { (child, $0) }
    }
  }
}
