import Database

/// Checks a statement against the schema and translates it.
struct QueryCompiler {
  let schema: OrgSchema
  let today: CivilDate
  /// Id of the caller, for `USING SCOPE mine`.
  let userId: String

  /// - Parameter includeDeleted: As `/queryAll` asks for; `ALL ROWS` in the statement does the same.
  /// - Throws: `SandboxError` as a client sees it.
  func compile(_ statement: String, includeDeleted: Bool) throws(SandboxError) -> QueryPlan {
    let characters = Array(statement.unicodeScalars)
    do throws(SOQLError) {
      return try plan(try Parser.parse(characters), includeDeleted: includeDeleted)
    } catch {
      throw error.answer(to: characters)
    }
  }

  /// The plan that reads these fields of one object; paths as in a SELECT list.
  func recordPlan(_ object: ObjectSchema, fields: [String]) throws(SOQLError) -> RecordPlan {
    try recordPlan(object, aliases: [:], paths: fields.map { FieldPath(names: Self.names($0)) })
  }

  private static func names(_ path: String) -> [Name] {
    path.split(separator: ".", omittingEmptySubsequences: false).map { Name(text: String($0), position: 0) }
  }

  private func plan(_ query: SOQLQuery, includeDeleted: Bool) throws(SOQLError) -> QueryPlan {
    guard let object = schema.object(query.object.text) else {
      throw SOQLError(
        code: "INVALID_TYPE", message: SandboxError.unsupportedTypeText(query.object.text),
        position: query.object.position)
    }
    let output = try self.output(query, object)
    try checkLimits(query, output)
    var translator = ConditionTranslator(
      schema: schema, today: today, graph: JoinGraph(object, schema: schema, aliases: query.aliases))
    let root = translator.graph.rootAlias
    var terms = includeDeleted || query.allRows ? [] : ["\(root).\"IsDeleted\" = 0"]
    if query.isMineOnly, object.field("OwnerId") != nil {
      terms.append("\(root).\"OwnerId\" = \(translator.bind(.text(userId)))")
    }
    if let condition = query.condition { terms.append(try translator.sql(condition)) }
    var order: [String] = []
    for item in query.order { order.append(try self.order(item, &translator.graph)) }
    // Rows without an order come as they were made, which is the order of their ids.
    order.append("\(root).rowid")
    let filter = terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
    let source = translator.graph.fromClause + filter
    let slice = self.slice(query)
    switch output {
    case .count:
      let sql = "SELECT count(*) FROM (SELECT 1 \(source)\(slice))"
      return QueryPlan(object: object, rowsSQL: sql, bindings: translator.bindings, output: output)
    case .aggregates(let keys, let list, let forms):
      let sql = "SELECT \(list) \(source)"
      return QueryPlan(
        object: object, rowsSQL: "", bindings: translator.bindings,
        output: .aggregates(keys: keys, sql: sql, forms: forms))
    case .records:
      let sql = "SELECT \(root).rowid \(source) ORDER BY \(order.joined(separator: ", "))\(slice)"
      return QueryPlan(object: object, rowsSQL: sql, bindings: translator.bindings, output: output)
    }
  }

  // MARK: Clauses

  private func slice(_ query: SOQLQuery) -> String {
    guard query.limit != nil || query.offset != nil else { return "" }
    return " LIMIT \(query.limit ?? -1) OFFSET \(query.offset ?? 0)"
  }

  private func checkLimits(_ query: SOQLQuery, _ output: QueryPlan.Output) throws(SOQLError) {
    if let offset = query.offset, offset > Tuning.maximumOffset {
      throw SOQLError(
        code: "NUMBER_OUTSIDE_VALID_RANGE", message: "Maximum SOQL offset allowed is \(Tuning.maximumOffset)")
    }
    switch output {
    case .records: break
    case .count:
      if let item = query.order.first {
        throw .malformed("COUNT() cannot be used with ORDER BY", at: item.path.position)
      }
    case .aggregates:
      if query.limit != nil || query.offset != nil {
        throw .malformed("Non-grouped query that uses overall aggregate functions cannot also use LIMIT")
      }
      if let item = query.order.first {
        throw .malformed("Ordered field must be grouped or aggregated: \(item.path.text)", at: item.path.position)
      }
    }
  }

  private func order(_ item: OrderItem, _ graph: inout JoinGraph) throws(SOQLError) -> String {
    let column = try graph.resolve(item.path)
    guard column.field.isFilterable else {
      throw .invalidField("field '\(column.field.name)' can not be sorted in a query call", at: column.position)
    }
    // SQLite's own place of nulls is left unsaid: an index serves the plain form best.
    let nulls = item.isDescending ? (item.nullsLast ? "" : " NULLS FIRST") : (item.nullsLast ? " NULLS LAST" : "")
    return column.expression + (item.isDescending ? " DESC" : "") + (column.field.isNeverNull ? "" : nulls)
  }

  // MARK: Output

  private func output(_ query: SOQLQuery, _ object: ObjectSchema) throws(SOQLError) -> QueryPlan.Output {
    guard case .items(let items) = query.selection else { return .count }
    if items.contains(where: { $0.aggregate != nil }) { return try aggregates(items, object, query.aliases) }
    if let alias = items.lazy.compactMap(\.alias).first {
      throw .malformed("only aggregate expressions use field aliasing", at: alias.position)
    }
    return .records(try recordPlan(object, aliases: query.aliases, paths: items.map(\.path)))
  }

  private func aggregates(
    _ items: [SelectItem], _ object: ObjectSchema, _ aliases: [String: [Name]]
  ) throws(SOQLError) -> QueryPlan.Output {
    var graph = JoinGraph(object, schema: schema, aliases: aliases)
    var keys: [String] = []
    var list: [String] = []
    var forms: [JSONForm] = []
    for item in items {
      let column = try graph.resolve(item.path)
      guard let aggregate = item.aggregate else {
        throw .malformed("Field must be grouped or aggregated: \(item.path.text)", at: item.path.position)
      }
      guard !column.isThroughParent else {
        throw .malformed("aggregates over parent fields are not supported: \(item.path.text)", at: item.path.position)
      }
      let (sql, form) = try aggregated(aggregate, column)
      list.append(sql)
      forms.append(form)
      keys.append(item.alias?.text ?? "expr\(keys.count)")
    }
    return .aggregates(keys: keys, sql: list.joined(separator: ", "), forms: forms)
  }

  private func aggregated(
    _ aggregate: SelectItem.Aggregate, _ column: JoinGraph.Resolved
  ) throws(SOQLError) -> (String, JSONForm) {
    let needsNumber = aggregate == .SUM || aggregate == .AVG
    guard column.field.isFilterable, column.field.type != .boolean || !needsNumber,
      !needsNumber || column.field.type.isNumber
    else {
      throw .invalidField(
        "field \(column.field.name) does not support aggregate operator \(aggregate.rawValue)", at: column.position)
    }
    switch aggregate {
    case .COUNT: return ("count(\(column.expression))", .integer)
    case .COUNT_DISTINCT: return ("count(DISTINCT \(column.expression))", .integer)
    case .AVG: return ("avg(\(column.expression))", .real)
    default: return ("\(aggregate.rawValue.lowercased())(\(column.expression))", column.field.form)
    }
  }

  private func recordPlan(
    _ object: ObjectSchema, aliases: [String: [Name]], paths: [FieldPath]
  ) throws(SOQLError) -> RecordPlan {
    var builder = RecordPlanBuilder(graph: JoinGraph(object, schema: schema, aliases: aliases))
    for path in paths { try builder.add(path) }
    return builder.plan()
  }
}
