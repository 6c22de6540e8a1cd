import Database

/// Translates conditions to parameterized SQL.
///
/// SQL's UNKNOWN never reaches a result: AND, OR and WHERE treat it like false, and every NOT is
/// written as `IS NOT TRUE`, so that null counts as "not equal", as in SOQL.
struct ConditionTranslator<Source: OperandSource> {
  let schema: OrgSchema
  /// The reference for date literals is midnight of this day.
  let today: CivilDate
  var source: Source
  var bindings: [SQLValue] = []
  var semiJoins = 0
  /// False in the condition of a sub-select or of groups, which cannot contain sub-selects.
  var allowsSemiJoins = true

  init(schema: OrgSchema, today: CivilDate, source: Source) {
    self.schema = schema
    self.today = today
    self.source = source
  }

  mutating func sql(_ condition: Condition, underOr: Bool = false) throws(SOQLError) -> String {
    switch condition {
    case .all(let terms): return try joined(terms, " AND ", underOr: underOr)
    case .any(let terms): return try joined(terms, " OR ", underOr: true)
    case .not(let inner): return "((\(try sql(inner, underOr: underOr))) IS NOT TRUE)"
    case .comparison(let subject, let comparison, let literal):
      return try self.comparison(try source.operand(subject, use: "filtered"), comparison, literal)
    case .membership(let subject, let isNegated, let literals):
      let terms = try membership(try source.operand(subject, use: "filtered"), literals)
      return isNegated ? "((\(terms)) IS NOT TRUE)" : "(\(terms))"
    case .selection(let subject, let isNegated, let literals):
      let terms = try selection(try source.operand(subject, use: "filtered"), literals)
      return isNegated ? "((\(terms)) IS NOT TRUE)" : "(\(terms))"
    case .semiJoin(let subject, let isNegated, let join):
      return try semiJoin(subject, isNegated: isNegated, join, underOr: underOr)
    }
  }

  mutating func bind(_ value: SQLValue) -> String {
    bindings.append(value)
    return "?"
  }

  /// Joins terms in groups: SQLite counts each term of a flat list as a level of depth.
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

  // MARK: Predicates

  private mutating func comparison(
    _ operand: Operand, _ comparison: ComparisonOperator, _ literal: Literal
  ) throws(SOQLError) -> String {
    if comparison == .like { return try like(operand, literal) }
    if case .range(let range) = literal.value { return try dateRange(operand, comparison, range, literal) }
    let value = try LiteralCheck(operand: operand).value(literal)
    let isEquality = comparison == .equal || comparison == .notEqual
    guard value != .null else {
      guard isEquality else {
        throw .invalidOperator("invalid operator: null can only be compared with = and !=", at: literal.position)
      }
      return comparison == .equal ? "\(operand.sql) IS NULL" : "\(operand.sql) IS NOT NULL"
    }
    guard isEquality || (operand.type != .boolean && !operand.isMultiPicklist) else {
      let kind = operand.isMultiPicklist ? "multipicklist" : "boolean"
      throw .invalidOperator("invalid operator for \(kind) field: \(comparison.rawValue)", at: literal.position)
    }
    let operation = comparison == .notEqual ? "IS NOT" : comparison.rawValue
    return "\(comparable(operand, [value])) \(operation) \(bind(value))"
  }

  /// Returns the plain column, which can use an index, or a case-insensitive one if a value has
  /// non-ASCII characters.
  private func comparable(_ operand: Operand, _ values: [SQLValue]) -> String {
    let isPlain = values.allSatisfy { value in
      if case .text(let text) = value { return text.utf8.allSatisfy { $0 < 0x80 } }
      return true
    }
    return isPlain ? operand.sql : operand.collated
  }

  private mutating func like(_ operand: Operand, _ literal: Literal) throws(SOQLError) -> String {
    guard operand.type.isText, !operand.isMultiPicklist else {
      let kind = operand.isMultiPicklist ? "multipicklist" : operand.type.rawValue
      throw .invalidOperator("invalid operator on \(kind) field", at: literal.position)
    }
    guard case .string(_, let pattern, _) = literal.value else {
      throw LiteralCheck(operand: operand).mismatch(literal)
    }
    guard pattern.utf8.allSatisfy({ $0 < 0x80 }) else {
      return "\(TextComparison.likeFunction)(\(bind(.text(pattern))), \(operand.sql))"
    }
    return "\(operand.sql) LIKE \(bind(.text(pattern))) ESCAPE '\\'"
  }

  private mutating func membership(_ operand: Operand, _ literals: [Literal]) throws(SOQLError) -> String {
    let check = LiteralCheck(operand: operand)
    var values: [SQLValue] = []
    var hasNull = false
    var ranges: [DateLiteral] = []
    for literal in literals {
      if case .range(let range) = literal.value {
        guard operand.type == .date || operand.type == .datetime else { throw check.mismatch(literal) }
        ranges.append(range)
        continue
      }
      let value = try check.value(literal)
      // `Id IN ('')` is legal and matches nothing, since every row has an id.
      if value == .null { hasNull = true } else { values.append(value) }
    }
    var terms: [String] = []
    if !values.isEmpty {
      bindings += values
      let marks = repeatElement("?", count: values.count).joined(separator: ",")
      terms.append("\(comparable(operand, values)) IN (\(marks))")
    }
    if hasNull { terms.append("\(operand.sql) IS NULL") }
    var spans: [String] = []
    for range in ranges { spans.append(inside(range, operand)) }
    return balanced(terms + spans)
  }

  private mutating func inside(_ range: DateLiteral, _ operand: Operand) -> String {
    let (start, end) = bounds(range, operand.type)
    return "(\(operand.sql) >= \(bind(start)) AND \(operand.sql) < \(bind(end)))"
  }

  /// Joins terms with OR in groups, like `joined`.
  private func balanced(_ terms: [String]) -> String {
    guard terms.count > Tuning.flatTerms else { return terms.joined(separator: " OR ") }
    let groups = stride(from: 0, to: terms.count, by: Tuning.flatTerms).map { start in
      "(" + terms[start..<min(start + Tuning.flatTerms, terms.count)].joined(separator: " OR ") + ")"
    }
    return balanced(groups)
  }

  // MARK: Multi-select picklists

  /// Compiles `INCLUDES ('A;B', 'C')`: A and B, or C.
  private mutating func selection(_ operand: Operand, _ literals: [Literal]) throws(SOQLError) -> String {
    guard operand.isMultiPicklist else {
      throw .invalidOperator(
        "includes and excludes operators can only be used with multipicklist fields: \(operand.name)", at: operand.position)
    }
    var terms: [String] = []
    for literal in literals {
      guard case .string(let text, _, _) = literal.value else { throw LiteralCheck(operand: operand).mismatch(literal) }
      let values = text.split(separator: ";")
      guard !values.isEmpty else {
        terms.append("\(operand.sql) IS NULL")
        continue
      }
      let parts = values.map { contains($0, operand) }
      terms.append("(" + parts.joined(separator: " AND ") + ")")
    }
    return balanced(terms)
  }

  private mutating func contains(_ value: Substring, _ operand: Operand) -> String {
    var pattern = "%;"
    for character in value {
      if "%_\\".contains(character) { pattern.append("\\") }
      pattern.append(character)
    }
    return "\(TextComparison.likeFunction)(\(bind(.text(pattern + ";%"))), ';' || \(operand.sql) || ';')"
  }

  // MARK: Date literals

  private mutating func dateRange(
    _ operand: Operand, _ comparison: ComparisonOperator, _ range: DateLiteral, _ literal: Literal
  ) throws(SOQLError) -> String {
    guard operand.type == .date || operand.type == .datetime else {
      throw LiteralCheck(operand: operand).mismatch(literal)
    }
    let (start, end) = bounds(range, operand.type)
    switch comparison {
    case .less: return "\(operand.sql) < \(bind(start))"
    case .greaterOrEqual: return "\(operand.sql) >= \(bind(start))"
    case .lessOrEqual: return "\(operand.sql) < \(bind(end))"
    case .greater: return "\(operand.sql) >= \(bind(end))"
    default:
      let term = inside(range, operand)
      return comparison == .equal ? term : "(\(term) IS NOT TRUE)"
    }
  }

  private func bounds(_ range: DateLiteral, _ type: FieldType) -> (start: SQLValue, end: SQLValue) {
    let (first, end) = range.days(today: today)
    let suffix = type == .datetime ? "T00:00:00.000+0000" : ""
    return (.text(first.text + suffix), .text(end.text + suffix))
  }
}
