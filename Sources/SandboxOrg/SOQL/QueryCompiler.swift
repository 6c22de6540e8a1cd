import Database

/// Checks a statement against the schema and compiles it to SQL.
struct QueryCompiler {
  let schema: OrgSchema
  let today: CivilDate
  /// The caller's id, for `USING SCOPE mine`.
  let userId: String
  /// The number of the request's API version.
  var version = Tuning.apiVersions.upperBound

  /// - Parameter includeDeleted: Includes deleted rows, as `/queryAll` does; `ALL ROWS` in the
  ///   statement has the same effect.
  /// - Throws: `SandboxError` in the form for clients.
  func compile(_ statement: String, includeDeleted: Bool) throws(SandboxError) -> QueryPlan {
    let characters = Array(statement.unicodeScalars)
    do throws(SOQLError) {
      var query = try Parser.parse(characters)
      if includeDeleted { query.allRows = true }
      return try plan(query)
    } catch {
      throw error.answer(to: characters)
    }
  }

  /// Returns the plan that reads these fields of an object; paths are written as in a SELECT list.
  func recordPlan(_ object: ObjectSchema, fields: [String]) throws(SOQLError) -> RecordPlan {
    var builder = RecordPlanBuilder(graph: JoinGraph(object, schema: schema))
    for field in fields { try builder.add(FieldPath(names: Self.names(field))) }
    return builder.plan()
  }

  private static func names(_ path: String) -> [Name] {
    path.split(separator: ".", omittingEmptySubsequences: false).map { Name(text: String($0), position: 0) }
  }

  private func plan(_ query: SOQLQuery) throws(SOQLError) -> QueryPlan {
    guard query.object.names.count == 1, let object = schema.object(query.object.text) else {
      throw .noObject(Name(text: query.object.text, position: query.object.position))
    }
    if let offset = query.offset, offset > Tuning.maximumOffset {
      throw SOQLError(
        code: "NUMBER_OUTSIDE_VALID_RANGE", message: "Maximum SOQL offset allowed is \(Tuning.maximumOffset)")
    }
    try QueryRestriction.check(query.condition, object, at: query.object.position)
    guard case .items(let items) = query.selection else { return try countPlan(query, object) }
    if query.grouping != nil || items.contains(where: \.aggregates) {
      return try AggregateCompiler(compiler: self, query: query, object: object).plan(items)
    }
    return try recordsPlan(query, object, items)
  }

  private func countPlan(_ query: SOQLQuery, _ object: ObjectSchema) throws(SOQLError) -> QueryPlan {
    if let item = query.order.first {
      throw .malformed("COUNT() cannot be used with ORDER BY", at: item.expression.position)
    }
    if let grouping = query.grouping {
      throw .malformed("COUNT() cannot be used with GROUP BY, use COUNT(Id)", at: grouping.position)
    }
    let (filter, translator) = try filtered(query, object)
    let sql = "SELECT count(*) FROM (SELECT 1 \(translator.source.graph.fromClause)\(filter)\(slice(query)))"
    return QueryPlan(object: object, sql: sql, bindings: translator.bindings, output: .count)
  }

  private func recordsPlan(_ query: SOQLQuery, _ object: ObjectSchema, _ items: [SelectItem]) throws(SOQLError) -> QueryPlan {
    let record = try SelectCompiler(compiler: self, query: query, object: object).plan(items, level: 1)
    let (sql, bindings) = try rows(query, object)
    return QueryPlan(object: object, sql: sql, bindings: bindings, output: .records(record), use: query.use)
  }

  // MARK: Clauses

  /// Returns the statement that yields the rowids of a query.
  ///
  /// - Parameter owner: SQL for the condition that selects the rows of one parent; its parameter is
  ///   bound before the others.
  func rows(
    _ query: SOQLQuery, _ object: ObjectSchema, owner: String? = nil
  ) throws(SOQLError) -> (sql: String, bindings: [SQLValue]) {
    var (filter, translator) = try filtered(query, object, owner: owner)
    var order: [String] = []
    for item in query.order {
      order.append(Self.ordered(try translator.source.operand(item.expression, use: "sorted"), item))
    }
    let graph = translator.source.graph
    // Without an order, rows are sorted by creation, which is the order of their ids.
    order.append("\(graph.rootAlias).rowid")
    let sql =
      "SELECT \(graph.rootAlias).rowid \(graph.fromClause)\(filter) ORDER BY \(order.joined(separator: ", "))\(slice(query))"
    return (sql, translator.bindings)
  }

  /// Returns the clause ` WHERE …` with its translator, whose graph may still grow with the sort
  /// keys.
  func filtered(
    _ query: SOQLQuery, _ object: ObjectSchema, owner: String? = nil
  ) throws(SOQLError) -> (filter: String, translator: ConditionTranslator<RowOperands>) {
    var translator = ConditionTranslator(
      schema: schema, today: today,
      source: RowOperands(graph: JoinGraph(object, schema: schema, aliases: query.aliases)))
    let root = translator.source.graph.rootAlias
    var terms: [String] = []
    if let owner { terms.append("\(root).\(owner)") }
    if !query.allRows { terms.append("\(root).\"IsDeleted\" = 0") }
    if query.isMineOnly, object.field("OwnerId") != nil {
      terms.append("\(root).\"OwnerId\" = \(translator.bind(.text(userId)))")
    }
    if let condition = query.condition { terms.append(try translator.sql(condition)) }
    return (terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND "), translator)
  }

  static func ordered(_ operand: Operand, _ item: OrderItem) -> String {
    // Omit NULLS FIRST/LAST where it is SQLite's default: the plain form uses indexes best.
    let nulls = item.isDescending ? (item.nullsLast ? "" : " NULLS FIRST") : (item.nullsLast ? " NULLS LAST" : "")
    let direction = item.isDescending ? " DESC" : ""
    let plain = operand.collated + direction + (operand.isNeverNull ? "" : nulls)
    // Values that are not in the picklist share one rank, so sort them by text.
    return operand.picklist.isEmpty ? plain : "\(operand.rank)\(direction)\(nulls), \(plain)"
  }

  func slice(_ query: SOQLQuery) -> String {
    guard query.limit != nil || query.offset != nil else { return "" }
    return " LIMIT \(query.limit ?? -1) OFFSET \(query.offset ?? 0)"
  }
}
