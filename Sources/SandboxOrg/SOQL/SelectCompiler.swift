/// Compiles the SELECT list of a record query to the plan that renders its records.
struct SelectCompiler {
  let compiler: QueryCompiler
  let query: SOQLQuery
  let object: ObjectSchema

  /// - Parameter level: 1 for the query itself, 2 for its child queries, and so on.
  func plan(_ items: [SelectItem], level: Int) throws(SOQLError) -> RecordPlan {
    var builder = RecordPlanBuilder(graph: JoinGraph(object, schema: compiler.schema, aliases: query.aliases))
    var children = 0
    for item in items {
      switch item {
      case .expression(let expression, let alias): try add(expression, alias, to: &builder)
      case .fields(let group, let position): try add(group, at: position, to: &builder)
      case .typeOf(let typeOf): try builder.add(typeOf)
      case .children(let query, let position):
        children += 1
        guard children <= Tuning.childQueries else {
          throw .malformed("a query may have at most \(Tuning.childQueries) child queries", at: position)
        }
        let (plan, name) = try self.children(query, at: position, level: level + 1)
        try builder.add(plan, name: name)
      }
    }
    return builder.plan()
  }

  // MARK: Fields

  private func add(
    _ expression: Expression, _ alias: Name?, to builder: inout RecordPlanBuilder
  ) throws(SOQLError) {
    switch expression {
    case .field(let path):
      if let alias { throw .malformed("only aggregate expressions use field aliasing", at: alias.position) }
      try builder.add(path)
    case .call(let function, .field(let path), let position) where function.kind == .display:
      try check(function, path, position)
      try builder.add(path, alias: alias?.text, isDisplayed: function == .FORMAT)
    case .call(.FORMAT, .call(.CONVERTCURRENCY, .field(let path), let position), _):
      try check(.CONVERTCURRENCY, path, position)
      try builder.add(path, alias: alias?.text, isDisplayed: true)
    case .distance:
      var operands = RowOperands(graph: builder.graph)
      let operand = try operands.operand(expression, use: "selected")
      guard operands.graph.nodes.count == builder.graph.nodes.count else {
        throw .malformed("DISTANCE over a parent's field cannot be selected", at: expression.position)
      }
      try builder.add(operand, name: alias?.text ?? "expr0")
    default:
      throw .malformed("Field must be grouped or aggregated: \(expression.text)", at: expression.position)
    }
  }

  private func check(_ function: SOQLFunction, _ path: FieldPath, _ position: Int) throws(SOQLError) {
    var graph = JoinGraph(object, schema: compiler.schema, aliases: query.aliases)
    let field = try graph.resolve(path).field
    switch function {
    case .TOLABEL where !field.type.isText:
      throw .invalidField("field \(field.name) does not support toLabel", at: position)
    case .CONVERTCURRENCY where field.type != .currency:
      throw .invalidField("field \(field.name) is not a currency field: convertCurrency does not apply", at: position)
    default: return
    }
  }

  /// Adds a FIELDS() group. `FIELDS(ALL)` and `FIELDS(CUSTOM)` require a limit on the rows.
  private func add(
    _ group: SelectItem.FieldGroup, at position: Int, to builder: inout RecordPlanBuilder
  ) throws(SOQLError) {
    guard compiler.version >= Tuning.fieldsFunctionVersion else {
      throw .malformed("unexpected token: '('", at: position + "FIELDS".count)
    }
    let isBounded = (query.limit ?? .max) <= Tuning.fieldsFunctionRows || namesFewIds(query.condition)
    guard group == .STANDARD || isBounded else {
      throw .malformed("The SOQL FIELDS function must have a LIMIT of at most \(Tuning.fieldsFunctionRows)", at: position)
    }
    for field in object.fields where group == .ALL || field.isCustom == (group == .CUSTOM) {
      try builder.add(FieldPath(names: [Name(text: field.name, position: position)]))
    }
  }

  private func namesFewIds(_ condition: Condition?) -> Bool {
    switch condition {
    case .all(let terms)?: return terms.contains { namesFewIds($0) }
    case .comparison(.field(let path), .equal, _)?: return path.text.lowercased() == "id"
    case .membership(.field(let path), isNegated: false, let ids)?:
      return path.text.lowercased() == "id" && ids.count <= Tuning.fieldsFunctionRows
    default: return false
    }
  }

  // MARK: Child queries

  private func children(
    _ child: SOQLQuery, at position: Int, level: Int
  ) throws(SOQLError) -> (ChildPlan, name: String) {
    guard level == 2 || compiler.version >= Tuning.deepChildQueryVersion else {
      throw .malformed("child queries cannot be nested before API version \(Tuning.deepChildQueryVersion).0", at: position)
    }
    let (childObject, field, name) = try relationship(child.object)
    guard case .items(let items) = child.selection, child.grouping == nil, !items.contains(where: \.aggregates) else {
      throw .malformed("only root queries support aggregate expressions")
    }
    if child.offset != nil, query.limit != 1 {
      throw .malformed("OFFSET in a child query needs LIMIT 1 in its parent query", at: position)
    }
    var nested = child
    if query.allRows { nested.allRows = true }
    let record = try SelectCompiler(compiler: compiler, query: nested, object: childObject).plan(items, level: level)
    let (sql, bindings) = try compiler.rows(nested, childObject, owner: "\"\(field.name)\" = ?")
    return (ChildPlan(sql: sql, bindings: bindings, record: record), name)
  }

  /// Resolves `Contacts`, `Account.Contacts` or `a.Contacts`.
  private func relationship(_ path: FieldPath) throws(SOQLError) -> (ObjectSchema, FieldSchema, name: String) {
    var names = path.names[...]
    if names.count > 1, let first = names.first?.text.lowercased(),
      query.aliases[first]?.isEmpty == true || first == object.name.lowercased()
    {
      names = names.dropFirst()
    }
    if names.count == 1, let wanted = names.first {
      for (child, field) in compiler.schema.references(to: object.name) {
        if let name = field.childRelationshipName, name.lowercased() == wanted.text.lowercased() {
          return (child, field, name)
        }
      }
    }
    throw .noChildRelationship(Name(text: path.text, position: path.position))
  }
}
