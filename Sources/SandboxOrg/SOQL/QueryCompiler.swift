import Database

/// Checks a statement against the schema and translates it.
struct QueryCompiler {
  let schema: OrgSchema
  let today: CivilDate
  /// Id of the caller, for `USING SCOPE mine`.
  let userId: String
  /// Number of the API version of the request.
  var version = Tuning.apiVersions.upperBound

  /// - Parameter includeDeleted: As `/queryAll` asks for; `ALL ROWS` in the statement does the same.
  /// - Throws: `SandboxError` as a client sees it.
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

  /// The plan that reads these fields of one object; paths as in a SELECT list.
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

  /// The statement that yields the rowids of a query.
  /// - Parameter owner: A condition in SQL with one parameter, bound before the others: the rows below one parent.
  func rows(
    _ query: SOQLQuery, _ object: ObjectSchema, owner: String? = nil
  ) throws(SOQLError) -> (sql: String, bindings: [SQLValue]) {
    var (filter, translator) = try filtered(query, object, owner: owner)
    var order: [String] = []
    for item in query.order {
      order.append(Self.ordered(try translator.source.operand(item.expression, use: "sorted"), item))
    }
    let graph = translator.source.graph
    // Rows without an order come as they were made, which is the order of their ids.
    order.append("\(graph.rootAlias).rowid")
    let sql =
      "SELECT \(graph.rootAlias).rowid \(graph.fromClause)\(filter) ORDER BY \(order.joined(separator: ", "))\(slice(query))"
    return (sql, translator.bindings)
  }

  /// ` WHERE …` of a query, and the translator that made it: its graph may still grow by what the query sorts by.
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
    // SQLite's own place of nulls is left unsaid: an index serves the plain form best.
    let nulls = item.isDescending ? (item.nullsLast ? "" : " NULLS FIRST") : (item.nullsLast ? " NULLS LAST" : "")
    let direction = item.isDescending ? " DESC" : ""
    let plain = operand.collated + direction + (operand.isNeverNull ? "" : nulls)
    // Values the list lacks have one rank: they are told apart by their text.
    return operand.picklist.isEmpty ? plain : "\(operand.rank)\(direction)\(nulls), \(plain)"
  }

  func slice(_ query: SOQLQuery) -> String {
    guard query.limit != nil || query.offset != nil else { return "" }
    return " LIMIT \(query.limit ?? -1) OFFSET \(query.offset ?? 0)"
  }
}
