import JSON
import Support

/// An element of a schema file's `objects`: a new object, or additional fields for an existing one.
struct ObjectReader {
  let node: SchemaNode
  /// The number of new objects before it: prefixes of custom objects count from `a00`.
  let position: Int
  let usedPrefixes: Set<String>

  func name() throws(SandboxError) -> String {
    let name = try node.required("name")
    let text = try name.string()
    guard Self.isName(text) else {
      throw name.mistake("'\(text)' is not a valid API name: use a letter, then letters, digits and '_', at most 80 characters")
    }
    return text
  }

  static func isName(_ text: String) -> Bool {
    text.utf8.count <= 80 && text.first?.isLetter == true
      && text.utf8.allSatisfy { $0.isASCIILetter || $0.isASCIIDigit || $0 == UInt8(ascii: "_") }
  }

  /// Adds fields, rules and record types to an existing object. Of standard fields, the label and
  /// the picklist can be changed.
  func extending(_ object: ObjectSchema) throws(SandboxError) -> ObjectSchema {
    try node.allow(["name", "fields", "rules", "recordTypes"])
    var fields = try self.fields { element throws(SandboxError) in
      let name = try element.required("name").string()
      guard let known = object.field(name), !known.isCustom else {
        return try FieldReader(node: element, isCustomOnly: object.isCustom).field()
      }
      return try FieldReader(node: element).changed(known, of: object.name)
    }
    let types = try recordTypes()
    if !types.isEmpty, object.field("RecordTypeId") == nil { fields.append(Fields.recordType) }
    return object.extended(with: fields, rules: try rules(), recordTypes: types)
  }

  /// The kind of an object, by the suffix of its name.
  private enum Kind {
    case standard, custom, event, metadata

    init?(_ name: String) {
      guard let mark = name.firstRange(of: "__") else {
        self = .standard
        return
      }
      switch name[mark.lowerBound...] {
      case "__c": self = .custom
      case "__e": self = .event
      case "__mdt": self = .metadata
      default: return nil
      }
    }

    var traits: ObjectSchema.Traits {
      switch self {
      case .standard, .custom: .standard
      case .event: [.create, .event]
      case .metadata: []
      }
    }
    /// The first character of its id prefix.
    var letter: Character {
      switch self {
      case .standard: "z"
      case .custom: "a"
      case .event: "e"
      case .metadata: "m"
      }
    }
  }

  private func kind() throws(SandboxError) -> Kind {
    let name = try self.name()
    guard let kind = Kind(name), name.first != "_" else {
      throw node.mistake(
        "'\(name)' is not a valid name for a new object: use the suffix '__c' for a custom object, '__e' for a platform event, "
          + "'__mdt' for custom metadata, and no '__' for a standard object")
    }
    return kind
  }

  func object() throws(SandboxError) -> ObjectSchema {
    try node.allow(["name", "label", "plural", "prefix", "nameField", "owner", "fields", "rules", "recordTypes"])
    let name = try self.name(), kind = try kind()
    let label = try node.optional("label")?.string() ?? FieldSchema.spaced(name)
    var traits = kind.traits
    if try node.optional("owner")?.boolean() == false { traits.remove(.owner) }
    let types = try recordTypes()
    var own = try leadingFields(kind, label)
    own += try fields { element throws(SandboxError) in
      try FieldReader(node: element, isCustomOnly: kind != .standard).field()
    }
    if !types.isEmpty { own.append(Fields.recordType) }
    return ObjectSchema(
      name, label: label, plural: try node.optional("plural")?.string() ?? label + "s", prefix: try prefix(kind), traits: traits,
      rules: try rules(), recordTypes: types, fields: own)
  }

  /// Returns the fields that objects of a kind always have.
  private func leadingFields(_ kind: Kind, _ label: String) throws(SandboxError) -> [FieldSchema] {
    switch kind {
    case .standard, .custom: return [try nameField(label)]
    case .event:
      return [
        FieldSchema("ReplayId", .string, 20).with {
          $0.isReadOnly = true
          $0.computation = .autoNumber(start: 1, format: "{0}")
        }
      ]
    case .metadata:
      return [
        Fields.required(FieldSchema("DeveloperName", .string, 40)).with { $0.isNameField = true },
        Fields.required(FieldSchema("MasterLabel", .string, 40, label: "Label")), FieldSchema("Language", .picklist, 40),
        FieldSchema("NamespacePrefix", .string, 15),
        Fields.readOnly(FieldSchema("QualifiedApiName", .string, 70).with { $0.computation = .formula("DeveloperName") }),
      ]
    }
  }

  private func recordTypes() throws(SandboxError) -> [RecordTypeSchema] {
    var types: [RecordTypeSchema] = []
    for element in try node.list("recordTypes") {
      try element.allow(["name", "developerName", "active", "default"])
      let name = try element.required("name").string()
      let developerName = try element.optional("developerName")?.string() ?? name.split(separator: " ").joined(separator: "_")
      types.append(
        RecordTypeSchema(
          name: name, developerName: developerName, isActive: try element.optional("active")?.boolean() ?? true,
          isDefault: try element.flag("default")))
    }
    if types.count(where: \.isDefault) > 1 { throw node.mistake("has more than one default record type; leave one") }
    return types
  }

  private func prefix(_ kind: Kind) throws(SandboxError) -> String {
    guard let given = try node.optional("prefix") else {
      guard let free = Self.freePrefix(kind.letter, from: kind == .custom ? position : 0, usedPrefixes) else {
        throw node.mistake("there are no id prefixes left")
      }
      return free
    }
    let text = try given.string()
    guard text.utf8.count == 3, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw given.mistake("'\(text)' is not an id prefix; it needs three letters or digits")
    }
    guard !usedPrefixes.contains(text) else { throw given.mistake("'\(text)' is used by another object; choose another") }
    return text
  }

  /// Returns the first unused prefix with this letter.
  static func freePrefix(_ letter: Character, from start: Int, _ used: Set<String>) -> String? {
    let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return (start..<digits.count * digits.count).lazy.map { "\(letter)\(digits[$0 / digits.count])\(digits[$0 % digits.count])" }
      .first { !used.contains($0) }
  }

  private func nameField(_ label: String) throws(SandboxError) -> FieldSchema {
    guard let given = try node.optional("nameField") else {
      return FieldSchema("Name", .string, 80, label: "\(label) Name").with {
        $0.isNameField = true
        $0.isRequired = true
      }
    }
    try given.allow(["label", "format", "start"])
    let text = try given.optional("label")?.string() ?? "\(label) Name"
    guard let format = try given.optional("format") else {
      return FieldSchema("Name", .string, 80, label: text).with {
        $0.isNameField = true
        $0.isRequired = true
      }
    }
    let computation = try FieldReader.autoNumber(format, start: given.optional("start"))
    return FieldSchema("Name", .string, 80, label: text).with {
      $0.isNameField = true
      $0.isIdLookup = true
      $0.isReadOnly = true
      $0.computation = computation
    }
  }

  /// - Throws: For a duplicate name, and for too many fields.
  private func fields(
    _ read: (SchemaNode) throws(SandboxError) -> FieldSchema
  ) throws(SandboxError) -> [FieldSchema] {
    var fields: [FieldSchema] = []
    for element in try node.list("fields") {
      let field = try read(element)
      guard !fields.contains(where: { $0.name.lowercased() == field.name.lowercased() }) else {
        throw element.mistake("'\(field.name)' is in the list twice; remove one")
      }
      fields.append(field)
    }
    guard fields.count <= Tuning.customFields else { throw node.mistake("has more than \(Tuning.customFields) fields") }
    return fields
  }

  private func rules() throws(SandboxError) -> [ValidationRule] {
    var rules: [ValidationRule] = []
    for element in try node.list("rules") {
      try element.allow(["condition", "message", "field"])
      rules.append(
        ValidationRule(
          condition: try element.required("condition").string(), message: try element.required("message").string(),
          field: try element.optional("field")?.string()))
    }
    return rules
  }
}
