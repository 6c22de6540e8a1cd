import JSON

/// Imports objects as a real org describes them: the response of `GET …/sobjects/<type>/describe`,
/// or the output of `sf sobject describe --json`.
///
/// Missing objects are added. Existing ones keep their fields, with the labels and picklists of the
/// description, and get the others. Formulas that the sandbox cannot compute become read-only
/// fields that stay empty.
struct DescribeFile {
  let nodes: [SchemaNode]

  /// Converts a description, a list of them, or the CLI's output around one to a schema file;
  /// returns any other value unchanged.
  static func asSchema(_ value: JSONValue) -> JSONValue {
    if let result = value["result"], value["status"] != nil { return asSchema(result) }
    if isDescribe(value) { return ["objects": [value]] }
    if let list = value.arrayValue, !list.isEmpty, list.allSatisfy(isDescribe) { return ["objects": value] }
    return value
  }

  static func isDescribe(_ value: JSONValue) -> Bool { value["fields"]?.arrayValue?.first?["soapType"] != nil }

  func add(to known: inout [ObjectSchema]) throws(SandboxError) {
    for node in nodes {
      let name = try node.required("name").string()
      guard ObjectReader.isName(name) else { throw node.mistake("'\(name)' is not an API name") }
      if let index = known.firstIndex(where: { $0.name.lowercased() == name.lowercased() }) {
        known[index] = try merged(node, into: known[index])
      } else {
        known.append(try object(node, Set(known.map(\.keyPrefix))))
      }
    }
    let names = Set(known.map(\.name))
    for index in known.indices { known[index] = try linked(known[index], names) }
  }

  // MARK: Objects

  private func object(_ node: SchemaNode, _ used: Set<String>) throws(SandboxError) -> ObjectSchema {
    let name = try node.required("name").string()
    let label = try node.optional("label")?.string() ?? FieldSchema.spaced(name)
    let fields = try Self.fields(node)
    let own = fields.filter { !Self.implicitFields.contains($0.name) }
    let prefix = try node.optional("keyPrefix")?.string() ?? ObjectReader.freePrefix("z", from: 0, used)
    guard let prefix, prefix.utf8.count == 3, !used.contains(prefix) else {
      throw node.mistake("the id prefix '\(prefix ?? "")' is taken by another object, or is not three characters long")
    }
    var traits: ObjectSchema.Traits = []
    for (key, trait) in Self.traits where try node.flag(key) { traits.insert(trait) }
    if fields.contains(where: { $0.name == "OwnerId" }) { traits.insert(.owner) }
    if name.hasSuffix("__e") { traits.insert(.event) }
    return ObjectSchema(
      name, label: label, plural: try node.optional("labelPlural")?.string() ?? label + "s", prefix: prefix, traits: traits,
      recordTypes: try Self.recordTypes(node), fields: own)
  }

  private func merged(_ node: SchemaNode, into object: ObjectSchema) throws(SandboxError) -> ObjectSchema {
    let fields = try Self.fields(node).compactMap { field -> FieldSchema? in
      guard var known = object.field(field.name) else { return Self.implicitFields.contains(field.name) ? nil : field }
      known.label = field.label
      guard !field.picklist.isEmpty else { return known }
      known.picklist = field.picklist
      known.isRestricted = field.isRestricted
      known.defaultValue = field.defaultValue
      return known
    }
    return object.extended(with: fields, recordTypes: try Self.recordTypes(node))
  }

  private static let traits: [(String, ObjectSchema.Traits)] = [
    ("createable", .create), ("updateable", .update), ("deletable", .delete), ("mruEnabled", .recent), ("searchable", .search),
    ("layoutable", .layout),
  ]

  /// Fields that every object has, at least with certain traits.
  private static let implicitFields: Set<String> = [
    "Id", "IsDeleted", "OwnerId", "CreatedDate", "CreatedById", "LastModifiedDate", "LastModifiedById", "SystemModstamp",
    "LastViewedDate", "LastReferencedDate",
  ]

  private static func recordTypes(_ node: SchemaNode) throws(SandboxError) -> [RecordTypeSchema] {
    var types: [RecordTypeSchema] = []
    for info in try node.list("recordTypeInfos") where try !info.flag("master") {
      types.append(
        RecordTypeSchema(
          name: try info.required("name").string(), developerName: try info.required("developerName").string(),
          isActive: try info.optional("active")?.boolean() ?? true, isDefault: try info.flag("defaultRecordTypeMapping"),
          id: try info.optional("recordTypeId")?.string()))
    }
    return types
  }

  // MARK: Relationships

  /// Sets the names of child relationships, which the parent's description has, and removes
  /// references to objects that the org lacks.
  private func linked(_ object: ObjectSchema, _ names: Set<String>) throws(SandboxError) -> ObjectSchema {
    var changed: [FieldSchema] = []
    for node in nodes {
      for child in try node.list("childRelationships") where child.value["childSObject"] == .string(object.name) {
        guard let name = try child.optional("relationshipName")?.string(),
          var field = object.field(try child.required("field").string()), field.childRelationshipName == nil, !field.isReadOnly
        else { continue }
        field.childRelationshipName = name
        changed.append(field)
      }
    }
    let isDescribed = nodes.contains { $0.value["name"] == .string(object.name) }
    for field in object.fields where isDescribed && field.referenceTo.contains(where: { !names.contains($0) }) {
      var field = changed.last { $0.name == field.name } ?? field
      field.referenceTo.removeAll { !names.contains($0) }
      if field.referenceTo.isEmpty { field.relationshipName = nil }
      changed.append(field)
    }
    return changed.isEmpty ? object : object.extended(with: changed)
  }

  // MARK: Fields

  private static func fields(_ node: SchemaNode) throws(SandboxError) -> [FieldSchema] {
    let elements = try node.list("fields")
    guard elements.count <= Tuning.describedFields else { throw node.mistake("has more than \(Tuning.describedFields) fields") }
    var fields: [FieldSchema] = []
    for element in elements { fields.append(try DescribedField(node: element).field()) }
    let object = ObjectSchema(
      "Check", plural: "Checks", prefix: "000", fields: fields.filter { !implicitFields.contains($0.name) })
    for index in fields.indices {
      switch fields[index].computation {
      case .formula(let text)? where !isComputable(text, over: object): fields[index].computation = nil
      case .compound?: fields[index].computation = .compound(DescribedField.parts(of: fields[index], among: fields))
      default: break
      }
    }
    return fields
  }

  private static func isComputable(_ formula: String, over object: ObjectSchema) -> Bool {
    do throws(FormulaError) {
      _ = try Formula.sql(formula, over: object)
      return true
    } catch {
      return false
    }
  }
}
