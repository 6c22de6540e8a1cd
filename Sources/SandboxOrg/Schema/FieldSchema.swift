import JSON

/// What a field holds. Raw values are the names a describe call uses.
enum FieldType: String, Sendable {
  case id, reference, string, textarea, phone, email, url, picklist, combobox, boolean, int, double, currency, percent,
    date, datetime

  var isText: Bool {
    switch self {
    case .string, .textarea, .phone, .email, .url, .picklist, .combobox: return true
    default: return false
    }
  }
  var isReference: Bool { self == .id || self == .reference }
  var isNumber: Bool { [.int, .double, .currency, .percent].contains(self) }

  /// The column type in SQLite. Text compares without case (ASCII letters only), ids and moments byte by byte.
  var columnType: String {
    switch self {
    case .boolean, .int: return "INTEGER"
    case .double, .currency, .percent: return "REAL"
    case .id, .reference, .date, .datetime: return "TEXT"
    default: return "TEXT COLLATE NOCASE"
    }
  }
}

/// How the value of a field that clients cannot write comes about.
enum Computation: Sendable, Equatable {
  /// First and last name with a blank between.
  case personName
  /// True while the field named here holds one of these values.
  case flag(field: String, values: [String])
  /// Numbers in order of creation, eight digits.
  case autoNumber(start: Int)
}

/// What happens to a row when the row it refers to is deleted.
enum ParentDeleteRule: Sendable { case setNull, cascade, restrict }

/// One field of one object: all that writes, queries and describe need to know of it.
struct FieldSchema: Sendable {
  let name: String
  var label: String
  let type: FieldType
  /// Characters, for text.
  var length = 0
  /// Digits in all and after the point, for numbers.
  var precision = 0, scale = 0
  var isRequired = false
  var defaultValue: JSONValue?
  var picklist: [String] = []
  /// Object names; several for a polymorphic reference.
  var referenceTo: [String] = []
  /// The name a query walks the reference by, such as `Account`.
  var relationshipName: String?
  /// The name the parent knows the rows on this side by, such as `Contacts`.
  var childRelationshipName: String?
  var onParentDelete = ParentDeleteRule.setNull
  var isExternalId = false, isUnique = false, isIdLookup = false, isNameField = false
  /// Kept by the org; a client that writes it is refused.
  var isReadOnly = false
  /// May be given on create only.
  var computation: Computation?

  init(_ name: String, _ type: FieldType, _ length: Int = 0, label: String? = nil) {
    self.name = name
    self.type = type
    self.length = length
    self.label = label ?? Self.spaced(name)
  }

  /// Long text can neither be filtered nor sorted.
  var isFilterable: Bool { type != .textarea || length <= 255 }
  var isCustom: Bool { name.hasSuffix("__c") }
  /// Its column can never hold NULL.
  var isNeverNull: Bool { type == .boolean || type == .id }

  func with(_ change: (inout FieldSchema) -> Void) -> FieldSchema {
    var copy = self
    change(&copy)
    return copy
  }

  /// `MailingPostalCode` → `Mailing Postal Code`, `OwnerId` → `Owner ID`, `YearsKnown__c` → `Years Known`.
  private static func spaced(_ name: String) -> String {
    let plain = name.hasSuffix("__c") ? name.dropLast(3).split(separator: "_").joined(separator: " ") : name
    var words = ""
    for character in plain {
      if character.isUppercase, words.last?.isLowercase == true { words.append(" ") }
      words.append(character)
    }
    return words.hasSuffix(" Id") ? words.dropLast(2) + "ID" : words
  }
}
