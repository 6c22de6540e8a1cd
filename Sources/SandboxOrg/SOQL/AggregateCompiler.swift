import Database

/// Compiles queries with aggregates or GROUP BY.
///
/// The rows are read once, as columns `c0`, `c1` …; each grouping set computes aggregates `a0`,
/// `a1` … over them; HAVING, ORDER BY and LIMIT apply to the groups. ROLLUP and CUBE are several
/// grouping sets.
struct AggregateCompiler {
  let compiler: QueryCompiler
  let query: SOQLQuery
  let object: ObjectSchema

  func plan(_ items: [SelectItem]) throws(SOQLError) -> QueryPlan {
    try checkClauses()
    let (filter, rows) = try compiler.filtered(query, object)
    var groups = GroupOperands(rows: rows.source)
    for expression in query.grouping?.expressions ?? [] { try groups.group(by: expression) }
    try checkGroupCount(groups)
    var output: [(key: String, operand: Operand)] = []
    var unnamed = 0
    for item in items { output.append(try selected(item, &groups, &unnamed, output.map(\.key))) }
    var translator = ConditionTranslator(schema: compiler.schema, today: compiler.today, source: groups)
    translator.allowsSemiJoins = false
    let having = try query.having.map { (condition) throws(SOQLError) in " WHERE \(try translator.sql(condition))" } ?? ""
    var order: [String] = []
    for item in query.order {
      order.append(QueryCompiler.ordered(try translator.source.operand(item.expression, use: "sorted"), item))
    }
    let sorting = order.isEmpty ? "" : " ORDER BY " + order.joined(separator: ", ")
    let list = output.map(\.operand.sql).joined(separator: ", ")
    let source = translator.source
    let sql =
      "WITH s AS (SELECT \(source.columnList) \(source.rows.graph.fromClause)\(filter)) "
      + "SELECT \(list) FROM (\(source.sets(query.grouping)))\(having)\(sorting)\(compiler.slice(query))"
    return QueryPlan(
      object: object, sql: sql, bindings: rows.bindings + translator.bindings,
      output: .aggregates(keys: output.map(\.key), forms: output.map(\.operand.form)))
  }

  private func checkClauses() throws(SOQLError) {
    guard query.grouping == nil else { return }
    if query.limit != nil || query.offset != nil {
      throw .malformed("Non-grouped query that uses overall aggregate functions cannot also use LIMIT")
    }
  }

  private func checkGroupCount(_ groups: GroupOperands) throws(SOQLError) {
    guard let grouping = query.grouping, grouping.kind != .plain else { return }
    guard groups.groupCount <= Tuning.rollupFields else {
      throw .malformed("ROLLUP and CUBE take at most \(Tuning.rollupFields) fields", at: grouping.position)
    }
  }

  private func selected(
    _ item: SelectItem, _ groups: inout GroupOperands, _ unnamed: inout Int, _ keys: [String]
  ) throws(SOQLError) -> (key: String, operand: Operand) {
    switch item {
    case .expression(let expression, let alias):
      let operand = try groups.operand(expression, use: "selected")
      let key = alias?.text ?? key(of: expression, operand, &unnamed)
      if keys.contains(where: { $0.lowercased() == key.lowercased() }) {
        if let alias { throw .malformed("duplicate alias: \(key)", at: alias.position) }
        throw SOQLError(code: "INVALID_FIELD", message: "duplicate field selected: \(expression.text)")
      }
      return (key, operand)
    case .fields(_, let position):
      throw .malformed("The SOQL FIELDS function is not supported in aggregate queries", at: position)
    case .children(_, let position): throw .malformed("aggregate queries cannot have child queries", at: position)
    case .typeOf(let typeOf): throw .malformed("TYPEOF cannot be used in aggregate queries", at: typeOf.relationship.position)
    }
  }

  /// Returns the result's key: for a field its name without the path; other expressions are
  /// numbered.
  private func key(of expression: Expression, _ operand: Operand, _ unnamed: inout Int) -> String {
    if case .field = expression { return operand.name }
    if case .call(let function, .field, _) = expression, function.kind == .display { return operand.name }
    defer { unnamed += 1 }
    return "expr\(unnamed)"
  }
}

/// Operands of groups of rows.
struct GroupOperands: OperandSource {
  var rows: RowOperands
  /// The columns read from each row. The first `groupCount` are the grouping keys.
  private var columns: [Operand] = []
  private(set) var groupCount = 0
  /// Aggregates over the columns, in SQL.
  private var aggregates: [String] = []
  private var asksGrouping = false

  init(rows: RowOperands) { self.rows = rows }

  mutating func group(by expression: Expression) throws(SOQLError) {
    if expression.aggregates {
      throw .malformed("Grouped field should not be aggregated: \(expression.text)", at: expression.position)
    }
    let operand = try rows.operand(expression, use: "grouped")
    guard !columns.contains(where: { $0.sql == operand.sql }) else {
      throw .malformed("duplicate field in GROUP BY: \(expression.text)", at: expression.position)
    }
    columns.append(operand)
    groupCount += 1
  }

  mutating func operand(_ expression: Expression, use: String) throws(SOQLError) -> Operand {
    if case .call(let function, let argument, let position) = expression {
      switch function.kind {
      case .aggregate: return try aggregate(function, argument, position: position)
      case .grouping: return try grouping(argument, position: position)
      case .display: return try displayed(function, argument, use: use)
      default: break
      }
    }
    let row = try rows.operand(expression, use: "filtered")
    guard let index = columns[..<groupCount].firstIndex(where: { $0.sql == row.sql }) else {
      let word = use == "sorted" ? "Ordered field" : "Field"
      throw .malformed("\(word) must be grouped or aggregated: \(expression.text)", at: expression.position)
    }
    var operand = row
    operand.sql = "c\(index)"
    operand.isNeverNull = false
    return operand
  }

  private mutating func displayed(_ function: SOQLFunction, _ argument: Expression, use: String) throws(SOQLError) -> Operand {
    var operand = try self.operand(argument, use: use)
    guard function == .FORMAT else { return operand }
    operand.form = operand.displayForm
    return operand
  }

  private mutating func aggregate(
    _ function: SOQLFunction, _ argument: Expression, position: Int
  ) throws(SOQLError) -> Operand {
    var inner = argument
    if case .call(.CONVERTCURRENCY, let amount, _) = argument { inner = amount }
    guard case .field(let path) = inner else {
      throw .malformed("unexpected expression in \(function.rawValue)", at: argument.position)
    }
    let field = try rows.graph.resolve(path)
    try check(function, field)
    let row = try rows.operand(inner, use: "filtered")
    let column = column(row)
    let sql: String
    switch function {
    case .COUNT: sql = "count(\(column.sql))"
    case .COUNT_DISTINCT: sql = "count(DISTINCT \(column.collated))"
    case .MIN where !column.picklist.isEmpty, .MAX where !column.picklist.isEmpty:
      // Prefix each value with its six-digit position in the picklist to get the minimum or maximum
      // in picklist order.
      sql = "substr(\(function.rawValue.lowercased())(printf('%06d', \(column.rank)) || \(column.sql)), 7)"
    case .MIN, .MAX: sql = "\(function.rawValue.lowercased())(\(column.collated))"
    default: sql = "\(function.rawValue.lowercased())(\(column.sql))"
    }
    if !aggregates.contains(sql) { aggregates.append(sql) }
    let name = "a\(aggregates.firstIndex(of: sql) ?? 0)"
    let counts = function == .COUNT || function == .COUNT_DISTINCT
    return Operand(
      sql: name, type: counts ? .int : function == .AVG ? .double : row.type, name: function.rawValue, position: position,
      picklist: counts ? [] : row.picklist, form: counts ? .integer : function == .AVG ? .real : row.form)
  }

  private func check(_ function: SOQLFunction, _ resolved: JoinGraph.Resolved) throws(SOQLError) {
    let field = resolved.field
    let fits: Bool
    switch function {
    case .SUM, .AVG: fits = field.type.isNumber
    case .MIN, .MAX: fits = field.type != .boolean && field.type != .multipicklist
    default: fits = field.type != .boolean
    }
    guard fits, field.isFilterable else {
      throw .invalidField(
        "field \(field.name) does not support aggregate operator \(function.rawValue)", at: resolved.position)
    }
  }

  private mutating func grouping(_ argument: Expression, position: Int) throws(SOQLError) -> Operand {
    let row = try rows.operand(argument, use: "grouped")
    guard let index = columns[..<groupCount].firstIndex(where: { $0.sql == row.sql }) else {
      throw .malformed("GROUPING needs a field of GROUP BY: \(argument.text)", at: argument.position)
    }
    asksGrouping = true
    return Operand(sql: "g\(index)", type: .int, name: "GROUPING", position: position, form: .integer)
  }

  private mutating func column(_ operand: Operand) -> Operand {
    var column = operand
    let known = columns.firstIndex { $0.sql == operand.sql }
    if known == nil { columns.append(operand) }
    column.sql = "c\(known ?? columns.count - 1)"
    return column
  }

  // MARK: SQL

  var columnList: String {
    columns.isEmpty ? "1" : columns.enumerated().map { "\($1.sql) AS c\($0)" }.joined(separator: ", ")
  }

  /// Returns one SELECT per grouping set: ROLLUP drops fields from the end, CUBE uses every
  /// combination.
  func sets(_ grouping: Grouping?) -> String {
    let all = (1 << groupCount) - 1
    var masks = [all]
    switch grouping?.kind {
    case .rollup?: masks = (0...groupCount).reversed().map { (1 << $0) - 1 }
    case .cube?: masks = (0...all).reversed()
    default: break
    }
    return masks.map { set(grouped: $0) }.joined(separator: " UNION ALL ")
  }

  /// - Parameter mask: If bit n is set, column n is a grouping key; otherwise it is null.
  private func set(grouped mask: Int) -> String {
    var list: [String] = []
    var keys: [String] = []
    for index in 0..<groupCount {
      let isGrouped = mask >> index & 1 == 1
      list.append(isGrouped ? "c\(index) AS c\(index)" : "NULL AS c\(index)")
      if asksGrouping { list.append("\(isGrouped ? 0 : 1) AS g\(index)") }
      if isGrouped {
        var key = columns[index]
        key.sql = "s.c\(index)"
        keys.append(key.collated)
      }
    }
    list += aggregates.enumerated().map { "\($1) AS a\($0)" }
    // Without keys there is one group, but none if there are no rows.
    if keys.isEmpty, groupCount > 0 { keys.append("NULL") }
    let clause = keys.isEmpty ? "" : " GROUP BY " + keys.joined(separator: ", ")
    return "SELECT \(list.joined(separator: ", ")) FROM s\(clause)"
  }
}

extension Operand {
  fileprivate var displayForm: JSONForm {
    switch type {
    case .int: return .numberText(scale: 0)
    case .double, .percent: return .numberText(scale: 2)
    case .currency: return .currencyText(scale: 2)
    case .date: return .dateText
    case .datetime: return .dateTimeText
    default: return form
    }
  }
}
