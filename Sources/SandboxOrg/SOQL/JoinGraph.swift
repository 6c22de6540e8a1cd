/// The tables of a statement: its object, and the parents on its paths as LEFT JOINs.
struct JoinGraph {
  /// One table, or several if a reference can point to more than one object.
  struct Node {
    let tables: [(object: ObjectSchema, alias: String)]
    /// The relationship's name in the schema; empty for the root.
    let relationship: String
    let parent: Int
    /// SQL for the id of the row in this node.
    let idExpression: String
    var children: [String: Int] = [:]
  }

  private(set) var nodes: [Node]
  private(set) var joins = ""
  private let schema: OrgSchema
  private let prefix: String
  private let aliases: [String: [Name]]
  private var aliasCount = 0

  var root: ObjectSchema { nodes[0].tables[0].object }
  var rootAlias: String { nodes[0].tables[0].alias }

  /// - Parameter prefix: The prefix of table aliases; lets a sub-select have its own graph.
  init(_ object: ObjectSchema, schema: OrgSchema, aliases: [String: [Name]] = [:], prefix: String = "t") {
    self.schema = schema
    self.prefix = prefix
    self.aliases = aliases
    nodes = [
      Node(tables: [(object, "\(prefix)0")], relationship: "", parent: 0, idExpression: "\(prefix)0.\"Id\"")
    ]
  }

  /// The clause `FROM "Contact" AS t0 LEFT JOIN …`.
  var fromClause: String { "FROM \(root.table) AS \(rootAlias)\(joins)" }

  /// The field at the end of a path.
  struct Resolved {
    let node: Int
    let field: FieldSchema
    /// The name of the object that has the field.
    let entity: String
    let expression: String
    let position: Int
    /// True if the node's row may be missing.
    let isThroughParent: Bool
  }

  mutating func resolve(_ path: FieldPath) throws(SOQLError) -> Resolved {
    var names = path.names[...]
    if names.count > 1, let replacement = replacement(of: names[0]) { names = replacement + names.dropFirst() }
    guard let last = names.last else { throw .malformed("unexpected token: '\(path.text)'", at: path.position) }
    guard names.count <= Tuning.relationshipHops + 1 else {
      throw .invalidField("a path may walk at most \(Tuning.relationshipHops) relationships", at: path.position)
    }
    var node = 0
    for name in names.dropLast() { node = try walk(from: node, name) }
    return try column(last, of: node, position: last.position)
  }

  /// Resolves a path that consists of relationships only.
  mutating func node(at path: FieldPath) throws(SOQLError) -> Int {
    var names = path.names[...]
    if let replacement = replacement(of: names[0]) { names = replacement + names.dropFirst() }
    var node = 0
    for name in names { node = try walk(from: node, name) }
    return node
  }

  /// Resolves a field of one of the objects that a polymorphic reference can point to, for TYPEOF.
  mutating func resolve(_ path: FieldPath, from node: Int, in type: Int) throws(SOQLError) -> (sql: String, FieldSchema) {
    let table = nodes[node].tables[type]
    guard path.names.count == 1 else {
      throw .malformed("a path inside TYPEOF cannot walk a relationship: \(path.text)", at: path.position)
    }
    guard let field = table.object.field(path.names[0].text) else {
      throw .noColumn(path.text, on: table.object.name, at: path.position)
    }
    return ("\(table.alias).\"\(field.name)\"", field)
  }

  /// Returns the names that replace the first one of a path: none for the object's own name or
  /// alias.
  private func replacement(of name: Name) -> ArraySlice<Name>? {
    if let names = aliases[name.text.lowercased()] { return names[...] }
    let isRelationship = root.relationship(name.text) != nil
    return !isRelationship && name.text.lowercased() == root.name.lowercased() ? [] : nil
  }

  private mutating func walk(from parent: Int, _ name: Name) throws(SOQLError) -> Int {
    let key = name.text.lowercased()
    if let known = nodes[parent].children[key] { return known }
    guard let (field, owner) = relationship(name, of: parent) else {
      throw .noRelationship(name.text, at: name.position)
    }
    guard aliasCount < Tuning.relationshipsPerQuery else {
      throw .malformed("a query may use at most \(Tuning.relationshipsPerQuery) relationships", at: name.position)
    }
    let reference = "\(owner).\"\(field.name)\""
    var tables: [(object: ObjectSchema, alias: String)] = []
    for target in field.referenceTo {
      guard let object = schema.object(target) else { continue }
      aliasCount += 1
      let alias = "\(prefix)\(aliasCount)"
      joins += " LEFT JOIN \(object.table) AS \(alias) ON \(alias).\"Id\" = \(reference)"
      tables.append((object, alias))
    }
    guard !tables.isEmpty else { throw .noRelationship(name.text, at: name.position) }
    nodes.append(
      Node(
        tables: tables, relationship: field.relationshipName ?? name.text, parent: parent,
        idExpression: coalesced(tables.map { "\($0.alias).\"Id\"" })))
    nodes[parent].children[key] = nodes.count - 1
    return nodes.count - 1
  }

  private func relationship(_ name: Name, of node: Int) -> (FieldSchema, String)? {
    for (object, alias) in nodes[node].tables {
      if let field = object.relationship(name.text) { return (field, alias) }
    }
    return nil
  }

  private func column(_ name: Name, of node: Int, position: Int) throws(SOQLError) -> Resolved {
    if let type = typeColumn(name, of: node, position: position) { return type }
    let isName = nodes[node].tables.count > 1
    let found = nodes[node].tables.compactMap { table -> (field: FieldSchema, sql: String)? in
      guard let field = isName ? Self.nameColumn(name, of: table.object) : table.object.field(name.text) else { return nil }
      return (field, "\(table.alias).\"\(field.name)\"")
    }
    guard var field = found.first?.field else {
      throw .noColumn(name.text, on: isName ? "Name" : nodes[node].tables[0].object.name, at: position)
    }
    if isName, field.isNameField { field = FieldSchema("Name", .string, 255) }
    // coalesce() drops the collation of its columns.
    let collation = found.count > 1 && field.type.isText ? " COLLATE NOCASE" : ""
    return Resolved(
      node: node, field: field, entity: nodes[node].tables[0].object.name,
      expression: coalesced(found.map(\.sql)) + collation, position: position, isThroughParent: node != 0)
  }

  /// The fields that a polymorphic reference has without TYPEOF: those of Salesforce's `Name`
  /// object.
  private static let nameFields: Set<String> = [
    "id", "name", "firstname", "lastname", "email", "phone", "title", "alias", "username", "isactive", "profileid",
    "userroleid",
  ]

  private static func nameColumn(_ name: Name, of object: ObjectSchema) -> FieldSchema? {
    let key = name.text.lowercased()
    guard nameFields.contains(key) else { return nil }
    return key == "name" ? object.nameField : object.field(key)
  }

  /// Resolves `Type` of a polymorphic parent: the name of its object.
  private func typeColumn(_ name: Name, of node: Int, position: Int) -> Resolved? {
    let tables = nodes[node].tables
    let isOwner = tables.allSatisfy { ["User", "Group"].contains($0.object.name) && $0.object.field("Type") == nil }
    guard node != 0, name.text.lowercased() == "type", tables.count > 1 || isOwner else { return nil }
    let cases = tables.map { "WHEN \($0.alias).\"Id\" IS NOT NULL THEN '\($0.object.name)'" }
    return Resolved(
      node: node, field: FieldSchema("Type", .string, 80), entity: "Name",
      expression: "(CASE \(cases.joined(separator: " ")) END) COLLATE NOCASE", position: position, isThroughParent: true)
  }

  private func coalesced(_ expressions: [String]) -> String {
    expressions.count == 1 ? expressions[0] : "coalesce(\(expressions.joined(separator: ", ")))"
  }
}
