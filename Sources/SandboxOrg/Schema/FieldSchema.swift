import JSON

/// How the org determines a value that clients need not, or cannot, write.
enum Computation: Sendable, Equatable {
  /// Numbers in order of creation. `{0000}` in the format stands for the number, padded to that
  /// many digits.
  case autoNumber(start: Int, format: String)
  /// An expression over fields of the same row, which SQLite evaluates in a generated column; see
  /// ``Formula``.
  case formula(String)
  /// The parts of a compound, by their keys in the JSON object.
  case compound([CompoundPart])
  /// A value that depends on a picklist; set when the picklist is written and this field is not.
  case follows(field: String, values: [String: JSONValue])
  /// Copied from the row of a reference on creation, if the field is not given.
  case inherited(reference: String, field: String)
  /// The time when another field took one of these values; null while it has another.
  case moment(field: String, values: [String])
}

/// A part of an address or a location.
struct CompoundPart: Sendable, Equatable {
  /// The key in the JSON object, such as `postalCode`.
  let key: String
  /// The field with the value.
  let field: String
}

/// The effect on a row when the row it refers to is deleted.
enum ParentDeleteRule: String, Sendable, CaseIterable { case setNull, cascade, restrict }

/// A field of an object, with everything that writes, queries and describe need.
struct FieldSchema: Sendable {
  let name: String
  var label: String
  let type: FieldType
  /// Characters of text, or bytes of base64.
  var length = 0
  /// For numbers: the total number of digits, and the digits after the decimal point.
  var precision = 0, scale = 0
  var isRequired = false
  var defaultValue: JSONValue?
  var picklist: [String] = []
  /// True if values outside `picklist` are refused.
  var isRestricted = false
  /// Object names; several for a polymorphic reference.
  var referenceTo: [String] = []
  /// The relationship's name in queries, such as `Account`.
  var relationshipName: String?
  /// The relationship's name at the parent, such as `Contacts`.
  var childRelationshipName: String?
  var onParentDelete = ParentDeleteRule.setNull
  var isExternalId = false, isUnique = false, isCaseSensitive = false, isIdLookup = false, isNameField = false
  /// True if the org maintains the field; clients cannot write it.
  var isReadOnly = false
  /// True if the field can only be set on creation.
  var isCreateOnly = false
  /// For base64: the field with the media type of the bytes.
  var mediaTypeField: String?
  /// For base64: true if the bytes are stored in parts apart from the row, which only records that
  /// there are some.
  var isKeptApart = false
  /// The compound that includes the field.
  var compoundName: String?
  var computation: Computation?

  init(_ name: String, _ type: FieldType, _ length: Int = 0, label: String? = nil) {
    self.name = name
    self.type = type
    self.length = length
    self.label = label ?? Self.spaced(name)
  }

  var isCreateable: Bool { !isReadOnly && !isGenerated }
  var isUpdateable: Bool { isCreateable && !isCreateOnly }
  /// Long text can be neither filtered nor sorted.
  var isFilterable: Bool {
    switch type {
    case .textarea: return length <= 255
    case .base64, .address, .location: return false
    default: return true
    }
  }
  var isSortable: Bool { isFilterable && type != .multipicklist }
  /// Continuous values cannot be grouped.
  var isGroupable: Bool { isSortable && ![.datetime, .double, .currency, .percent].contains(type) }
  var isCustom: Bool { name.hasSuffix("__c") }
  /// True if the column is never NULL.
  var isNeverNull: Bool { type == .boolean || type == .id }
  /// True if the org sets a value on creation if the client does not.
  var isDefaulted: Bool {
    if type == .boolean || defaultValue != nil || name == "OwnerId" { return true }
    switch computation {
    case .follows, .autoNumber: return true
    default: return isReadOnly && computation == nil
    }
  }
  /// True if SQLite computes the value from other columns, so that nothing is stored.
  var isGenerated: Bool {
    switch computation {
    case .formula, .compound: return true
    default: return false
    }
  }
  var isAutoNumber: Bool { if case .autoNumber? = computation { true } else { false } }

  func with(_ change: (inout FieldSchema) -> Void) -> FieldSchema {
    var copy = self
    change(&copy)
    return copy
  }

  /// Converts a name to a label: `MailingPostalCode` → `Mailing Postal Code`, `OwnerId` → `Owner
  /// ID`, `YearsKnown__c` → `Years Known`.
  static func spaced(_ name: String) -> String {
    let plain = name.hasSuffix("__c") ? name.dropLast(3).split(separator: "_").joined(separator: " ") : name
    var words = ""
    for character in plain {
      if character.isUppercase, words.last?.isLowercase == true { words.append(" ") }
      words.append(character)
    }
    return words.hasSuffix(" Id") ? words.dropLast(2) + "ID" : words
  }
}
