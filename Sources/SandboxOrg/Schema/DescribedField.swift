import JSON

/// An element of `fields` in a description.
struct DescribedField {
  let node: SchemaNode

  func field() throws(SandboxError) -> FieldSchema {
    let name = try node.required("name").string()
    guard ObjectReader.isName(name) else { throw node.mistake("'\(name)' is not an API name") }
    let type = try self.type()
    var field = FieldSchema(name, type, try length(type), label: try node.optional("label")?.string() ?? FieldSchema.spaced(name))
    if type.isNumber {
      let digits = try count("digits")
      field.precision = digits > 0 ? digits : try count("precision")
      field.scale = try count("scale")
    }
    field.isExternalId = try node.flag("externalId")
    let isIdLookup = try node.flag("idLookup")
    field.isIdLookup = field.isExternalId || isIdLookup
    field.isUnique = try node.flag("unique")
    field.isCaseSensitive = try node.flag("caseSensitive")
    field.isNameField = try node.flag("nameField")
    field.compoundName = try node.optional("compoundFieldName").map { part throws(SandboxError) in try part.string() }
    if field.compoundName == name { field.compoundName = nil }
    try access(&field)
    try choices(&field)
    try reference(&field)
    try computation(&field)
    return field
  }

  /// Returns the type; types that the sandbox does not support become text.
  private func type() throws(SandboxError) -> FieldType {
    let given = try node.required("type"), text = try given.string()
    if let type = FieldType(rawValue: text) { return type }
    switch text {
    case "encryptedstring", "anyType", "DataCategoryGroupReference": return .string
    case "complexvalue", "json": return .textarea
    case "long": return .double
    default: throw given.mistake("'\(text)' is not a field type that the sandbox supports; remove the field")
    }
  }

  private func length(_ type: FieldType) throws(SandboxError) -> Int {
    let given = try count("length")
    if type.isReference { return 18 }
    guard type.isText || type == .base64 else { return 0 }
    return given > 0 ? given : type == .base64 ? Tuning.seedRecordBytes : type == .textarea ? 32_768 : 255
  }

  private func count(_ key: String) throws(SandboxError) -> Int { try node.optional(key)?.integer(0...Int(Int32.max)) ?? 0 }

  private func access(_ field: inout FieldSchema) throws(SandboxError) {
    let isCreateable = try node.flag("createable"), isUpdateable = try node.flag("updateable")
    field.isReadOnly = !isCreateable && !isUpdateable
    field.isCreateOnly = isCreateable && !isUpdateable
    let isNillable = try node.flag("nillable"), isDefaulted = try node.flag("defaultedOnCreate")
    field.isRequired = isCreateable && !isNillable && !isDefaulted && field.type != .boolean
  }

  private func choices(_ field: inout FieldSchema) throws(SandboxError) {
    guard [.picklist, .multipicklist, .combobox].contains(field.type) else { return }
    for value in try node.list("picklistValues") where try value.optional("active")?.boolean() ?? true {
      let text = try value.required("value").string()
      if !field.picklist.contains(text) { field.picklist.append(text) }
      if try value.flag("defaultValue"), field.type == .picklist, !field.isReadOnly { field.defaultValue = .string(text) }
    }
    field.isRestricted = try node.flag("restrictedPicklist") && !field.picklist.isEmpty
  }

  private func reference(_ field: inout FieldSchema) throws(SandboxError) {
    guard field.type == .reference else { return }
    for target in try node.list("referenceTo") { field.referenceTo.append(try target.string()) }
    field.relationshipName = try node.optional("relationshipName").map { name throws(SandboxError) in try name.string() }
    let cascades = try node.flag("cascadeDelete"), restricts = try node.flag("restrictedDelete")
    field.onParentDelete = cascades ? .cascade : restricts || field.isRequired ? .restrict : .setNull
  }

  private func computation(_ field: inout FieldSchema) throws(SandboxError) {
    if field.type.isCompound {
      field.isReadOnly = true
      field.computation = .compound([])
    } else if try node.flag("autoNumber") {
      field.isReadOnly = true
      field.computation = .autoNumber(start: 1, format: "{00000000}")
    } else if field.isNameField, field.isReadOnly, field.name == "Name" {
      // The name of a person. Objects without these fields have a name field of their own.
      field.computation = .formula("TRIM(FirstName & \" \" & LastName)")
    } else if let formula = try node.optional("calculatedFormula")?.string() {
      field.isReadOnly = true
      field.computation = .formula(formula)
    } else if field.type == .boolean, let flag = try node.optional("defaultValue")?.value.boolValue, flag, !field.isReadOnly {
      field.defaultValue = .bool(true)
    }
  }

  /// Returns the parts of an address or a location, by their keys in its JSON object.
  static func parts(of compound: FieldSchema, among fields: [FieldSchema]) -> [CompoundPart] {
    let keys = ["city", "country", "geocodeAccuracy", "latitude", "longitude", "postalCode", "state", "street"]
    return fields.filter { $0.compoundName == compound.name }.compactMap { part in
      let name = part.name.hasSuffix("__s") ? String(part.name.dropLast(3)) : part.name
      return keys.first { name.lowercased().hasSuffix($0.lowercased()) }.map { CompoundPart(key: $0, field: part.name) }
    }
  }
}
