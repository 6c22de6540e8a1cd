import JSON

/// A file that adds objects, fields, rules and briefcase rules to an org;
/// bridge-spec/guide/sandbox.md has an example.
///
/// Every error is a ``SandboxError`` `INVALID_SCHEMA_FILE` that names the file, the place in it,
/// and the remedy.
struct SchemaFile {
  let objects: [ObjectSchema]
  let briefcase: [BriefcaseRule]

  /// - Parameters:
  ///   - name: The name in messages.
  ///   - base: The schema that the file extends.
  init(name: String, text: [UInt8], base: OrgSchema = .standard) throws(SandboxError) {
    guard text.count <= Tuning.schemaFileBytes else {
      throw SchemaNode.mistake(name, "", "is larger than \(Tuning.schemaFileBytes) bytes")
    }
    let value: JSONValue
    do throws(JSONFile.Problem) {
      value = try JSONFile(name: name, text: text).value
    } catch {
      throw SandboxError(status: 0, code: "INVALID_SCHEMA_FILE", message: error.description)
    }
    let root = SchemaNode(file: name, path: "", value: DescribeFile.asSchema(value))
    try root.allow(["objects", "briefcase"])
    var known = base.objects
    let prefixes = Set(base.objects.map(\.keyPrefix))
    var count = 0
    let nodes = try root.list("objects"), described = nodes.filter { DescribeFile.isDescribe($0.value) }
    try DescribeFile(nodes: described).add(to: &known)
    for node in nodes where !DescribeFile.isDescribe(node.value) {
      let reader = ObjectReader(node: node, position: count, usedPrefixes: prefixes.union(known.map(\.keyPrefix)))
      let objectName = try reader.name()
      if let index = known.firstIndex(where: { $0.name.lowercased() == objectName.lowercased() }) {
        known[index] = try reader.extending(known[index])
      } else {
        known.append(try reader.object())
        count += 1
      }
    }
    objects = known
    var rules: [BriefcaseRule] = []
    for node in try root.list("briefcase") { rules.append(try Self.briefcaseRule(node)) }
    briefcase = rules
    try check(root)
  }

  private static func briefcaseRule(_ node: SchemaNode) throws(SandboxError) -> BriefcaseRule {
    try node.allow(["object", "where", "orderBy", "limit", "related"])
    var related: [String] = []
    for item in try node.list("related") { related.append(try item.string()) }
    return BriefcaseRule(
      object: try node.required("object").string(), condition: try node.optional("where")?.string(),
      order: try node.optional("orderBy")?.string(),
      limit: try node.optional("limit")?.integer(0...Tuning.briefcaseRecords) ?? 500, related: related)
  }

  // MARK: Checks over all objects

  /// Checks that references have targets, formulas valid fields, and relationships unique names.
  private func check(_ root: SchemaNode) throws(SandboxError) {
    let schema = OrgSchema(objects: objects)
    for node in try root.list("objects") where !DescribeFile.isDescribe(node.value) {
      guard let object = schema.object(try node.required("name").string()) else { continue }
      for field in try node.list("fields") { try check(field, of: object, schema) }
      for rule in try node.list("rules") {
        try Self.check(try rule.required("condition"), over: object)
        if let field = try rule.optional("field"), object.field(try field.string()) == nil {
          throw field.mistake("must name a field of \(object.name)")
        }
      }
    }
    for node in try root.list("briefcase") {
      let name = try node.required("object")
      guard let object = schema.object(try name.string()) else { throw name.mistake("must name an object of the org") }
      for item in try node.list("related") {
        guard schema.child(try item.string(), of: object) == nil else { continue }
        let names = schema.references(to: object.name).compactMap(\.field.childRelationshipName)
        throw item.mistake("must name a relationship of \(object.name): \(names.joined(separator: ", "))")
      }
    }
  }

  private func check(_ node: SchemaNode, of object: ObjectSchema, _ schema: OrgSchema) throws(SandboxError) {
    guard let field = object.field(try node.required("name").string()) else { return }
    if let formula = try node.optional("formula") { try Self.check(formula, over: object) }
    for target in try node.list("referenceTo") {
      let name = try target.string()
      guard schema.object(name)?.name != name else { continue }
      throw target.mistake("must name an object of the org, spelled exactly, with '__c' for custom ones")
    }
    guard let children = field.childRelationshipName, let path = try node.optional("children") else { return }
    for target in field.referenceTo {
      let same = schema.references(to: target).filter { $0.field.childRelationshipName?.lowercased() == children.lowercased() }
      if same.count > 1 { throw path.mistake("is taken: \(target) has another relationship with that name; choose another") }
    }
  }

  private static func check(_ node: SchemaNode, over object: ObjectSchema) throws(SandboxError) {
    let text = try node.string()
    do throws(FormulaError) {
      _ = try Formula.sql(text, over: object)
    } catch {
      throw node.mistake("is not a valid formula: column \(error.column): \(error.message)")
    }
  }
}
