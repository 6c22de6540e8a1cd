import JSON

/// One element of a schema file's `objects`: a new object, or more fields for one there is.
struct ObjectReader {
  let node: SchemaNode
  /// How many new objects stand before it: prefixes of custom objects count up from `a00`.
  let position: Int
  let usedPrefixes: Set<String>

  func name() throws(SandboxError) -> String {
    let name = try node.required("name")
    let text = try name.string()
    guard Self.isName(text) else {
      throw name.mistake("'\(text)' is no API name: a letter, then letters, digits and '_', at most 80 characters")
    }
    return text
  }

  static func isName(_ text: String) -> Bool {
    text.utf8.count <= 80 && text.first?.isLetter == true
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x5F
      }
  }

  /// - Throws: For keys that only new objects have, and names that end without `__c`.
  func extending(_ object: ObjectSchema) throws(SandboxError) -> ObjectSchema {
    try node.allow(["name", "fields", "rules"])
    let fields = try self.fields()
    for (field, element) in zip(fields, try node.list("fields")) {
      guard let known = object.field(field.name) else { continue }
      guard known.isCustom else {
        throw element.mistake(
          "'\(field.name)' is a standard field of \(object.name) and stays as it is; add one that ends in '__c'")
      }
    }
    return object.extended(with: fields, rules: try rules())
  }

  func object() throws(SandboxError) -> ObjectSchema {
    try node.allow(["name", "label", "plural", "prefix", "nameField", "owner", "fields", "rules"])
    let name = try self.name()
    guard name.hasSuffix("__c") else {
      throw node.mistake("'\(name)' is no object of the org; the name of a new one must end in '__c'")
    }
    let label = try node.optional("label")?.string() ?? FieldSchema.spaced(name)
    let hasOwner = try node.optional("owner")?.boolean() ?? true
    let traits = ObjectSchema.Traits.standard
    return ObjectSchema(
      name, label: label, plural: try node.optional("plural")?.string() ?? label + "s", prefix: try prefix(),
      traits: hasOwner ? traits : traits.subtracting(.owner), rules: try rules(),
      fields: [try nameField(label)] + (try fields()))
  }

  private func prefix() throws(SandboxError) -> String {
    guard let given = try node.optional("prefix") else {
      let digits = Array("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
      for number in position..<digits.count * digits.count {
        let candidate = "a\(digits[number / digits.count])\(digits[number % digits.count])"
        if !usedPrefixes.contains(candidate) { return candidate }
      }
      throw node.mistake("there are no id prefixes left")
    }
    let text = try given.string()
    guard text.utf8.count == 3, text.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber) }) else {
      throw given.mistake("'\(text)' is no id prefix: three letters or digits")
    }
    guard !usedPrefixes.contains(text) else { throw given.mistake("'\(text)' is taken by another object; choose another one") }
    return text
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

  private func fields() throws(SandboxError) -> [FieldSchema] {
    var fields: [FieldSchema] = []
    for element in try node.list("fields") {
      let field = try FieldReader(node: element).field()
      guard !fields.contains(where: { $0.name.lowercased() == field.name.lowercased() }) else {
        throw element.mistake("'\(field.name)' stands twice in the list; remove one")
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
