import JSON

/// How the value of a field comes about that clients need not, or cannot, write.
enum Computation: Sendable, Equatable {
  /// Numbers in order of creation, `{0000}` in the format stands for the number with at least as many digits.
  case autoNumber(start: Int, format: String)
  /// An expression over fields of the same row, kept by SQLite as a generated column. See ``Formula``.
  case formula(String)
  /// The parts of a compound, by their key in the JSON object.
  case compound([CompoundPart])
  /// Follows a picklist whenever that one is written and this one is not.
  case follows(field: String, values: [String: JSONValue])
  /// Taken over from the row a reference points to, when the row is made and the field is not given.
  case inherited(reference: String, field: String)
  /// When another field took one of these values; null while it has another.
  case moment(field: String, values: [String])
}

/// One part of an address or a location.
struct CompoundPart: Sendable, Equatable {
  /// The key in the JSON object, such as `postalCode`.
  let key: String
  /// The field that holds it.
  let field: String
}

/// What happens to a row when the row it refers to is deleted.
enum ParentDeleteRule: String, Sendable, CaseIterable { case setNull, cascade, restrict }

/// One field of one object: all that writes, queries and describe need to know of it.
struct FieldSchema: Sendable {
  let name: String
  var label: String
  let type: FieldType
  /// Characters, for text; bytes, for base64.
  var length = 0
  /// Digits in all and after the point, for numbers.
  var precision = 0, scale = 0
  var isRequired = false
  var defaultValue: JSONValue?
  var picklist: [String] = []
  /// Values outside `picklist` are refused.
  var isRestricted = false
  /// Object names; several for a polymorphic reference.
  var referenceTo: [String] = []
  /// The name a query walks the reference by, such as `Account`.
  var relationshipName: String?
  /// The name the parent knows the rows on this side by, such as `Contacts`.
  var childRelationshipName: String?
  var onParentDelete = ParentDeleteRule.setNull
  var isExternalId = false, isUnique = false, isCaseSensitive = false, isIdLookup = false, isNameField = false
  /// Kept by the org; a client that writes it is refused.
  var isReadOnly = false
  /// May be given on create only.
  var isCreateOnly = false
  /// For base64: the field that names the media type of the bytes.
  var mediaTypeField: String?
  /// For base64: the bytes are kept in parts beside the row, which only tells that there are some.
  var isKeptApart = false
  /// The compound it is a part of.
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
  /// Long text can neither be filtered nor sorted.
  var isFilterable: Bool {
    switch type {
    case .textarea: return length <= 255
    case .base64, .address, .location: return false
    default: return true
    }
  }
  var isSortable: Bool { isFilterable && type != .multipicklist }
  /// Values on a scale make no groups.
  var isGroupable: Bool { isSortable && ![.datetime, .double, .currency, .percent].contains(type) }
  var isCustom: Bool { name.hasSuffix("__c") }
  /// Its column can never hold NULL.
  var isNeverNull: Bool { type == .boolean || type == .id }
  /// Gets a value on create without the client's help.
  var isDefaulted: Bool {
    if type == .boolean || defaultValue != nil || name == "OwnerId" { return true }
    switch computation {
    case .follows, .autoNumber: return true
    default: return isReadOnly && computation == nil
    }
  }
  /// SQLite makes its value from the other columns; nothing is stored.
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

  /// `MailingPostalCode` → `Mailing Postal Code`, `OwnerId` → `Owner ID`, `YearsKnown__c` → `Years Known`.
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
