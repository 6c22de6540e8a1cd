/// A condition under which a row is refused.
struct ValidationRule: Sendable, Equatable {
  /// An expression over the row's fields that is true for invalid rows; see ``Formula``.
  let condition: String
  let message: String
  /// The field to which the message belongs; nil for the whole row.
  var field: String?
}

/// A record type of an object, such as "Business Account": a row of `RecordType`.
struct RecordTypeSchema: Sendable, Equatable {
  let name: String, developerName: String
  var isActive = true
  /// True for the record type of new rows that do not set one.
  var isDefault = false
  /// The Id from a real org; nil lets the sandbox assign one.
  var id: String?
}

/// An object: its fields in describe order, with look-up tables.
struct ObjectSchema: Sendable {
  /// The operations that clients may perform on the rows, and where the object is listed.
  struct Traits: OptionSet, Sendable {
    let rawValue: Int
    static let create = Traits(rawValue: 1), update = Traits(rawValue: 2), delete = Traits(rawValue: 4)
    /// Rows appear in the lists of recently used items.
    static let recent = Traits(rawValue: 8)
    static let search = Traits(rawValue: 16), layout = Traits(rawValue: 32)
    /// Rows have an `OwnerId`.
    static let owner = Traits(rawValue: 64)
    /// Responses have an `ETag`, and `If-Match` and `If-None-Match` are evaluated.
    static let entityTag = Traits(rawValue: 128)
    /// Rows are versions of files; creating one creates its document and shares.
    static let fileVersion = Traits(rawValue: 256)
    /// Rows are documents, which own the versions of a file, or shares of documents.
    static let fileDocument = Traits(rawValue: 512), fileShare = Traits(rawValue: 1024)
    /// Rows are events: they are published, and describe marks them as not queryable.
    static let event = Traits(rawValue: 2048)
    static let standard: Traits = [.create, .update, .delete, .recent, .search, .layout, .owner]
  }

  let name: String
  let label: String, labelPlural: String
  /// The first three characters of its ids.
  let keyPrefix: String
  let fields: [FieldSchema]
  let traits: Traits
  let rules: [ValidationRule]
  let recordTypes: [RecordTypeSchema]
  /// The fields with a stored column, in order: all except generated ones.
  let storedFields: [FieldSchema]
  /// Its parameters are the row number, then a value for each stored field.
  let insertSQL: String
  private let byName: [String: Int]
  private let byRelationship: [String: Int]

  /// - Parameter own: The fields in addition to those that every object has.
  init(
    _ name: String, label: String? = nil, plural: String, prefix: String, traits: Traits = .standard,
    rules: [ValidationRule] = [], recordTypes: [RecordTypeSchema] = [], fields own: [FieldSchema]
  ) {
    self.init(
      name: name, label: label ?? FieldSchema.spaced(name), plural: plural, prefix: prefix, traits: traits, rules: rules,
      recordTypes: recordTypes,
      allFields: SystemFields.identity(label: label ?? FieldSchema.spaced(name)) + own
        + (traits.contains(.owner) ? [SystemFields.owner] : []) + SystemFields.audit
        + (traits.contains(.recent) ? SystemFields.viewed : []))
  }

  private init(
    name: String, label: String, plural: String, prefix: String, traits: Traits, rules: [ValidationRule],
    recordTypes: [RecordTypeSchema], allFields: [FieldSchema]
  ) {
    self.name = name
    self.label = label
    labelPlural = plural
    keyPrefix = prefix
    self.traits = traits
    self.rules = rules
    self.recordTypes = recordTypes
    fields = allFields
    storedFields = allFields.filter { !$0.isGenerated }
    let columns = storedFields.map { "\"\($0.name)\"" }.joined(separator: ",")
    insertSQL =
      "INSERT INTO \"\(name)\" (rowid,\(columns)) VALUES (?" + String(repeating: ",?", count: storedFields.count) + ")"
    var names: [String: Int] = [:]
    var relationships: [String: Int] = [:]
    for (index, field) in fields.enumerated() {
      names[field.name.lowercased()] = index
      if let relationship = field.relationshipName { relationships[relationship.lowercased()] = index }
    }
    byName = names
    byRelationship = relationships
  }

  /// Returns a copy with more fields and rules; a field with a known name replaces the old one.
  func extended(
    with more: [FieldSchema], rules moreRules: [ValidationRule] = [], recordTypes moreTypes: [RecordTypeSchema] = []
  ) -> ObjectSchema {
    var all = fields
    for field in more {
      if let known = byName[field.name.lowercased()] { all[known] = field } else { all.append(field) }
    }
    return ObjectSchema(
      name: name, label: label, plural: labelPlural, prefix: keyPrefix, traits: traits, rules: rules + moreRules,
      recordTypes: recordTypes + moreTypes, allFields: all)
  }

  var isCreateable: Bool { traits.contains(.create) }
  var isUpdateable: Bool { traits.contains(.update) }
  var isDeletable: Bool { traits.contains(.delete) }
  var isCustom: Bool { name.contains("__") }

  /// Finds a field by name; case is ignored.
  func field(_ name: some StringProtocol) -> FieldSchema? { byName[name.lowercased()].map { fields[$0] } }
  func relationship(_ name: some StringProtocol) -> FieldSchema? {
    byRelationship[name.lowercased()].map { fields[$0] }
  }

  var nameField: FieldSchema? { fields.first { $0.isNameField } }
  /// The quoted SQL table name: `Case` is a keyword.
  var table: String { "\"\(name)\"" }
}
