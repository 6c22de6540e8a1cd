import JSON

/// An element of an object's `fields` in a schema file.
struct FieldReader {
  let node: SchemaNode
  /// True for an object that is not a standard one, whose further fields are all custom.
  var isCustomOnly = false

  private static let keys = [
    "name", "label", "type", "length", "precision", "scale", "required", "default", "unique", "caseSensitive", "externalId",
    "values", "restricted", "referenceTo", "relationship", "children", "onDelete", "formula", "format", "start",
  ]

  func field() throws(SandboxError) -> FieldSchema {
    try node.allow(Self.keys)
    let nameNode = try node.required("name")
    let name = try nameNode.string()
    guard ObjectReader.isName(name), name.hasSuffix("__c") || !isCustomOnly && !name.contains("__"),
      name.utf8.count > 3 || !isCustomOnly
    else {
      let kinds = isCustomOnly ? "with '__c' at the end" : "with '__c' at the end for a custom field"
      throw nameNode.mistake("'\(name)' is not a valid field name: use letters, digits and '_', \(kinds)")
    }
    let type = try self.type()
    var field = FieldSchema(
      name, type, try self.length(type), label: try node.optional("label")?.string() ?? FieldSchema.spaced(name))
    try number(&field)
    try picklist(&field)
    try reference(&field)
    field.isRequired = try node.flag("required")
    field.isExternalId = try node.flag("externalId")
    field.isIdLookup = field.isExternalId
    field.isUnique = try node.flag("unique")
    field.isCaseSensitive = try node.flag("caseSensitive")
    try computation(&field)
    try defaultValue(&field)
    return field
  }

  /// Returns the type; `autonumber` is text that the org fills in.
  private func type() throws(SandboxError) -> FieldType {
    let given = try node.required("type")
    if given.value == "autonumber" { return .string }
    let type = try given.word(FieldType.self, "field type")
    guard type != .id, !type.isCompound else { throw given.mistake("'\(type.rawValue)' fields cannot be added") }
    return type
  }

  private func length(_ type: FieldType) throws(SandboxError) -> Int {
    let given = try node.optional("length")
    switch type {
    case .string, .combobox: return try given?.integer(1...255) ?? 255
    case .textarea: return try given?.integer(1...131_072) ?? 32_768
    case .email: return try given?.integer(1...80) ?? 80
    case .phone: return try given?.integer(1...40) ?? 40
    case .url, .picklist: return try given?.integer(1...255) ?? 255
    case .multipicklist: return try given?.integer(1...4_099) ?? 4_099
    case .base64: return try given?.integer(1...Tuning.seedRecordBytes) ?? 1024 * 1024
    default:
      if let given { throw given.mistake("fields of type \(type.rawValue) have no length; remove it") }
      return type == .reference ? 18 : 0
    }
  }

  private func number(_ field: inout FieldSchema) throws(SandboxError) {
    let precision = try node.optional("precision")
    let scale = try node.optional("scale")
    guard field.type.isNumber else {
      if let extra = precision ?? scale { throw extra.mistake("is only allowed for numbers; remove it") }
      return
    }
    field.precision = try precision?.integer(1...18) ?? (field.type == .int ? 9 : 18)
    field.scale = try scale?.integer(0...field.precision) ?? (field.type == .currency ? 2 : 0)
    if field.type == .int, field.scale > 0 { throw node.mistake("an int has no scale; use double") }
  }

  private func picklist(_ field: inout FieldSchema) throws(SandboxError) {
    let values = try node.list("values")
    guard [.picklist, .multipicklist, .combobox].contains(field.type) else {
      if !values.isEmpty { throw node.mistake("'values' is only allowed for picklists; remove it") }
      return
    }
    for value in values { field.picklist.append(try value.string()) }
    field.isRestricted = try node.flag("restricted")
    if field.isRestricted, values.isEmpty { throw node.mistake("a restricted picklist needs 'values'") }
  }

  private func reference(_ field: inout FieldSchema) throws(SandboxError) {
    let targets = try node.list("referenceTo")
    guard field.type == .reference else {
      if !targets.isEmpty { throw node.mistake("'referenceTo' is only allowed for references; remove it") }
      return
    }
    guard !targets.isEmpty else { throw node.mistake("a reference needs 'referenceTo', a list of object names") }
    for target in targets { field.referenceTo.append(try target.string()) }
    let relationship = try node.optional("relationship")
    field.relationshipName = try relationship?.string() ?? Self.relationshipName(field.name)
    field.childRelationshipName = try node.optional("children")?.string()
    for name in [relationship, try node.optional("children")].compactMap({ $0 }) {
      let text = try name.string()
      guard ObjectReader.isName(text) else {
        throw name.mistake("'\(text)' cannot name a relationship; custom ones end in '__r'")
      }
    }
    field.onParentDelete = try node.optional("onDelete")?.word(ParentDeleteRule.self, "rule") ?? .setNull
    if try node.flag("required"), field.onParentDelete == .setNull {
      throw node.mistake("a required reference cannot be set to null; give 'onDelete': 'cascade' or 'restrict'")
    }
  }

  /// Returns the relationship name: `Account__c` → `Account__r`, `AccountId` → `Account`.
  static func relationshipName(_ field: String) -> String {
    if field.hasSuffix("__c") { return field.dropLast(3) + "__r" }
    return field.hasSuffix("Id") ? String(field.dropLast(2)) : field
  }

  /// Returns a standard field with the properties that can be changed.
  func changed(_ known: FieldSchema, of object: String) throws(SandboxError) -> FieldSchema {
    guard
      node.value.objectValue?.keys.contains(where: { !["name", "label", "values", "restricted", "default"].contains($0) }) != true
    else {
      throw node.mistake(
        "'\(known.name)' is a standard field of \(object): only its label, values, restricted and default can be changed"
      )
    }
    var field = known
    field.label = try node.optional("label")?.string() ?? known.label
    if let values = try node.optional("values") {
      guard [.picklist, .multipicklist, .combobox].contains(known.type) else {
        throw values.mistake("is only allowed for picklists; remove it")
      }
      field.picklist = []
      for value in try node.list("values") { field.picklist.append(try value.string()) }
    }
    field.isRestricted = try node.optional("restricted")?.boolean() ?? known.isRestricted
    try defaultValue(&field)
    return field
  }

  private func computation(_ field: inout FieldSchema) throws(SandboxError) {
    let isNumbered = try node.required("type").value == "autonumber"
    if isNumbered {
      field.computation = try Self.autoNumber(try node.required("format"), start: try node.optional("start"))
    } else if let formula = try node.optional("formula") {
      field.computation = .formula(try formula.string())
    } else {
      return
    }
    if field.isRequired { throw node.mistake("the org fills in this field; remove 'required'") }
    field.isReadOnly = true
  }

  static func autoNumber(_ format: SchemaNode, start: SchemaNode?) throws(SandboxError) -> Computation {
    let text = try format.string()
    let digits = text.drop { $0 != "{" }.dropFirst().prefix { $0 != "}" }
    guard text.contains("{"), text.contains("}"), digits.allSatisfy({ $0 == "0" }), text.count <= 30 else {
      throw format.mistake("'\(text)' is not a number format; write zeros in braces, such as 'INV-{0000}'")
    }
    return .autoNumber(start: try start?.integer(0...1_000_000_000) ?? 1, format: text)
  }

  /// Reads the default, which must be a valid value of the field.
  private func defaultValue(_ field: inout FieldSchema) throws(SandboxError) {
    guard let given = try node.optional("default") else { return }
    guard field.isCreateable, field.type != .reference else { throw given.mistake("this field cannot have a default; remove it") }
    let object = ObjectSchema("Check", plural: "Checks", prefix: "000", fields: [])
    do throws(SandboxError) {
      _ = try FieldCoercion(object: object, field: field).value(given.value)
    } catch {
      throw given.mistake("is not a valid value of the field: \(error.message)")
    }
    field.defaultValue = given.value
  }
}
