import Database

/// Turns conditions into parameterised SQL.
///
/// SQL's third truth value never escapes: AND, OR and WHERE treat unknown like false, and every NOT is written
/// `IS NOT TRUE`, so that a null counts as "not equal" the way SOQL has it.
struct ConditionTranslator {
  let schema: OrgSchema
  /// Midnight of today is the reference of date literals.
  let today: CivilDate
  var graph: JoinGraph
  private(set) var bindings: [SQLValue] = []
  private var semiJoins = 0
  private var isInsideSemiJoin = false

  init(schema: OrgSchema, today: CivilDate, graph: JoinGraph) {
    self.schema = schema
    self.today = today
    self.graph = graph
  }

  mutating func sql(_ condition: Condition, underOr: Bool = false) throws(SOQLError) -> String {
    switch condition {
    case .all(let terms): return try joined(terms, " AND ", underOr: underOr)
    case .any(let terms): return try joined(terms, " OR ", underOr: true)
    case .not(let inner): return "((\(try sql(inner, underOr: underOr))) IS NOT TRUE)"
    case .comparison(let path, let comparison, let literal):
      return try self.comparison(try filterable(path), comparison, literal)
    case .membership(let path, let isNegated, let literals):
      let terms = try membership(try filterable(path), literals)
      return isNegated ? "((\(terms)) IS NOT TRUE)" : "(\(terms))"
    case .semiJoin(let path, let isNegated, let join):
      return try semiJoin(path, isNegated: isNegated, join, underOr: underOr)
    }
  }

  mutating func bind(_ value: SQLValue) -> String {
    bindings.append(value)
    return "?"
  }

  /// Long lists are grouped: SQLite counts each term of a flat one as a level of depth.
  private mutating func joined(_ terms: [Condition], _ word: String, underOr: Bool) throws(SOQLError) -> String {
    var groups: [String] = []
    var group: [String] = []
    for term in terms {
      group.append(try sql(term, underOr: underOr))
      if group.count == Tuning.flatTerms {
        groups.append("(" + group.joined(separator: word) + ")")
        group = []
      }
    }
    if !group.isEmpty { groups.append("(" + group.joined(separator: word) + ")") }
    return groups.count == 1 ? groups[0] : "(" + groups.joined(separator: word) + ")"
  }

  private mutating func filterable(_ path: FieldPath) throws(SOQLError) -> JoinGraph.Resolved {
    let resolved = try graph.resolve(path)
    guard resolved.field.isFilterable else {
      throw .invalidField("field '\(resolved.field.name)' can not be filtered in a query call", at: resolved.position)
    }
    return resolved
  }

  // MARK: Predicates

  private mutating func comparison(
    _ column: JoinGraph.Resolved, _ comparison: ComparisonOperator, _ literal: Literal
  ) throws(SOQLError) -> String {
    if comparison == .like { return try like(column, literal) }
    if case .range(let range) = literal.value { return try dateRange(column, comparison, range, literal) }
    let value = try LiteralCheck(column: column).value(literal)
    let name = expression(column)
    let isEquality = comparison == .equal || comparison == .notEqual
    guard value != .null else {
      guard isEquality else {
        throw .invalidOperator("invalid operator: null can only be compared with = and !=", at: literal.position)
      }
      return comparison == .equal ? "\(name) IS NULL" : "\(name) IS NOT NULL"
    }
    guard isEquality || column.field.type != .boolean else {
      throw .invalidOperator("invalid operator for boolean field: \(comparison.rawValue)", at: literal.position)
    }
    let operation = comparison == .notEqual ? "IS NOT" : comparison.rawValue
    return "\(name) \(operation) \(bind(value))"
  }

  private mutating func like(_ column: JoinGraph.Resolved, _ literal: Literal) throws(SOQLError) -> String {
    guard column.field.type.isText else {
      throw .invalidOperator("invalid operator on \(column.field.type.rawValue) field", at: literal.position)
    }
    guard case .string(_, let pattern, _) = literal.value else { throw LiteralCheck(column: column).mismatch(literal) }
    return "\(column.expression) LIKE \(bind(.text(pattern))) ESCAPE '\\'"
  }

  private mutating func membership(_ column: JoinGraph.Resolved, _ literals: [Literal]) throws(SOQLError) -> String {
    let check = LiteralCheck(column: column)
    var parameters: [String] = []
    var hasNull = false
    var ranges: [DateLiteral] = []
    for literal in literals {
      if case .range(let range) = literal.value {
        guard column.field.type == .date || column.field.type == .datetime else { throw check.mismatch(literal) }
        ranges.append(range)
        continue
      }
      let value = try check.value(literal)
      // `Id IN ('')` is legal and matches nothing: no row lacks its id.
      if value == .null { hasNull = true } else { parameters.append(bind(value)) }
    }
    let name = expression(column)
    var terms: [String] = []
    if !parameters.isEmpty { terms.append("\(name) IN (\(parameters.joined(separator: ",")))") }
    if hasNull { terms.append("\(name) IS NULL") }
    for range in ranges {
      let (start, end) = bounds(range, column.field.type)
      terms.append("(\(name) >= \(bind(start)) AND \(name) < \(bind(end)))")
    }
    return terms.joined(separator: " OR ")
  }

  /// A flag of a missing parent counts as false.
  private func expression(_ column: JoinGraph.Resolved) -> String {
    column.isThroughParent && column.field.type == .boolean ? "coalesce(\(column.expression), 0)" : column.expression
  }

  // MARK: Date literals

  private mutating func dateRange(
    _ column: JoinGraph.Resolved, _ comparison: ComparisonOperator, _ range: DateLiteral, _ literal: Literal
  ) throws(SOQLError) -> String {
    guard column.field.type == .date || column.field.type == .datetime else {
      throw LiteralCheck(column: column).mismatch(literal)
    }
    let (start, end) = bounds(range, column.field.type)
    let name = column.expression
    switch comparison {
    case .less: return "\(name) < \(bind(start))"
    case .greaterOrEqual: return "\(name) >= \(bind(start))"
    case .lessOrEqual: return "\(name) < \(bind(end))"
    case .greater: return "\(name) >= \(bind(end))"
    default:
      let inside = "(\(name) >= \(bind(start)) AND \(name) < \(bind(end)))"
      return comparison == .equal ? inside : "(\(inside) IS NOT TRUE)"
    }
  }

  private func bounds(_ range: DateLiteral, _ type: FieldType) -> (start: SQLValue, end: SQLValue) {
    let (first, end) = range.days(today: today)
    let suffix = type == .datetime ? "T00:00:00.000+0000" : ""
    return (.text(first.text + suffix), .text(end.text + suffix))
  }

  // MARK: Semi-joins

  private mutating func semiJoin(
    _ path: FieldPath, isNegated: Bool, _ join: SemiJoin, underOr: Bool
  ) throws(SOQLError) -> String {
    try checkPlace(of: join, underOr: underOr)
    let column = try graph.resolve(path)
    guard column.field.type.isReference, !column.isThroughParent else {
      throw .malformed("The left operand field in the where expression should be an id or reference field", at: path.position)
    }
    guard let object = schema.object(join.object.text) else {
      throw SOQLError(
        code: "INVALID_TYPE", message: SandboxError.unsupportedTypeText(join.object.text),
        position: join.object.position)
    }
    guard object.name != graph.root.name else {
      throw .malformed("The inner and outer selects should not be on the same object type", at: join.position)
    }
    let outer = graph
    graph = JoinGraph(object, schema: schema, prefix: "s\(semiJoins)_")
    isInsideSemiJoin = true
    defer {
      graph = outer
      isInsideSemiJoin = false
    }
    let selected = try graph.resolve(join.path)
    let targets = selected.field.type == .id ? [object.name] : selected.field.referenceTo
    let wanted = column.field.type == .id ? [outer.root.name] : column.field.referenceTo
    guard selected.field.type.isReference, !selected.isThroughParent, !Set(targets).isDisjoint(with: wanted) else {
      throw .malformed("The inner select field '\(join.path.text)' cannot be joined with the outer one", at: join.path.position)
    }
    var condition = ""
    if let inner = join.condition { condition = " AND \(try sql(inner))" }
    let select =
      "SELECT \(selected.expression) \(graph.fromClause) WHERE \(graph.rootAlias).\"IsDeleted\" = 0"
      + " AND \(selected.expression) IS NOT NULL\(condition)"
    return isNegated ? "((\(column.expression) IN (\(select))) IS NOT TRUE)" : "\(column.expression) IN (\(select))"
  }

  private mutating func checkPlace(of join: SemiJoin, underOr: Bool) throws(SOQLError) {
    if isInsideSemiJoin { throw .malformed("Nesting of semi join sub-selects is not supported", at: join.position) }
    if underOr {
      throw .malformed("Semi join sub-selects are not allowed with the 'OR' operator", at: join.position)
    }
    semiJoins += 1
    if semiJoins > 2 { throw .malformed("Maximum 2 semi join sub-selects are allowed", at: join.position) }
  }
}
