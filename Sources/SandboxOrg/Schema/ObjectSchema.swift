/// A condition under which a row is refused.
struct ValidationRule: Sendable, Equatable {
  /// An expression over the row's fields that is true for rows in error. See ``Formula``.
  let condition: String
  let message: String
  /// The field the message belongs to; nil for the row as a whole.
  var field: String?
}

/// A kind of rows of one object, such as "Business Account". Each is a row of `RecordType`.
struct RecordTypeSchema: Sendable, Equatable {
  let name: String, developerName: String
  var isActive = true
  /// New rows are of this kind unless they say otherwise.
  var isDefault = false
  /// From a real org; nil: the sandbox gives one.
  var id: String?
}

/// One object: its fields in describe order and how to find them.
struct ObjectSchema: Sendable {
  /// What clients may do with its rows, and where the object shows up.
  struct Traits: OptionSet, Sendable {
    let rawValue: Int
    static let create = Traits(rawValue: 1), update = Traits(rawValue: 2), delete = Traits(rawValue: 4)
    /// Rows get to the lists of what a user worked with last.
    static let recent = Traits(rawValue: 8)
    static let search = Traits(rawValue: 16), layout = Traits(rawValue: 32)
    /// Rows have an `OwnerId`.
    static let owner = Traits(rawValue: 64)
    /// Rows answer with an `ETag`, and `If-Match` and `If-None-Match` are looked at.
    static let entityTag = Traits(rawValue: 128)
    /// Rows are versions of files: making one makes its document and shares.
    static let fileVersion = Traits(rawValue: 256)
    /// Rows are documents, which hold the versions of a file; or shares of documents.
    static let fileDocument = Traits(rawValue: 512), fileShare = Traits(rawValue: 1024)
    /// Rows are events: they are published, and describe says that they cannot be queried.
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
  /// The fields with a column of their own, in order: all but the generated ones.
  let storedFields: [FieldSchema]
  /// Takes the row number, then a value for each stored field.
  let insertSQL: String
  private let byName: [String: Int]
  private let byRelationship: [String: Int]

  /// - Parameter own: The fields besides those that every object has.
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

  /// The same object with further fields and rules; a field of a known name takes the place of the old one.
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

  /// Names are not case-sensitive.
  func field(_ name: some StringProtocol) -> FieldSchema? { byName[name.lowercased()].map { fields[$0] } }
  func relationship(_ name: some StringProtocol) -> FieldSchema? {
    byRelationship[name.lowercased()].map { fields[$0] }
  }

  var nameField: FieldSchema? { fields.first { $0.isNameField } }
  /// The SQL table, quoted: `Case` is a keyword.
  var table: String { "\"\(name)\"" }
}
