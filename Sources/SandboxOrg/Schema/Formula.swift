import Support

/// Compiles expressions over the fields of one row to SQL: formula fields and the conditions of
/// validation rules.
///
/// The language is the part of Salesforce's formulas that needs only one row: fields, `"text"`,
/// numbers, TRUE, FALSE, NULL; `+ - * / & = <> < <= > >= && || !`; and the functions of
/// ``FormulaFunction``. `&` treats null as empty text. The SQL is deterministic, so that generated
/// columns can use it.
struct Formula {
  /// The maximum number of characters; Salesforce's limit.
  static let maximumLength = 3_900
  /// Maximum depth of parentheses and calls; far below SQLite's limit.
  static let maximumDepth = 40
  /// Maximum depth of nested formulas, and bytes of the SQL to which they expand.
  static let maximumLevels = 5, maximumSQL = 50_000

  private let object: ObjectSchema
  private let tokens: [(token: FormulaToken, column: Int)]
  private var index = 0
  private var depth = 0
  /// The nesting depth of this formula.
  private let level: Int

  /// Returns the SQL of a formula over the fields of `object`.
  static func sql(_ formula: String, over object: ObjectSchema) throws(FormulaError) -> String {
    try sql(formula, over: object, level: 0)
  }

  private static func sql(_ formula: String, over object: ObjectSchema, level: Int) throws(FormulaError) -> String {
    guard formula.count <= maximumLength else {
      throw FormulaError(column: 1, message: "the formula is longer than \(maximumLength) characters")
    }
    let tokens = try FormulaToken.scan(formula)
    var compiler = Formula(object: object, tokens: tokens, level: level)
    let sql = try compiler.expression(0)
    guard compiler.token == .end else { throw compiler.failure("an operator is missing") }
    guard sql.utf8.count <= maximumSQL else { throw FormulaError(column: 1, message: "the formula is too large") }
    return sql
  }

  private init(object: ObjectSchema, tokens: [(token: FormulaToken, column: Int)], level: Int) {
    self.object = object
    self.tokens = tokens
    self.level = level
  }

  private var token: FormulaToken { tokens[index].token }

  private func failure(_ message: String) -> FormulaError { FormulaError(column: tokens[index].column, message: message) }

  // MARK: Grammar

  /// Returns an operator's precedence and its SQL.
  private static func binary(_ symbol: String) -> (strength: Int, sql: String)? {
    switch symbol {
    case "||": return (1, "OR")
    case "&&": return (2, "AND")
    case "=", "==": return (3, "IS")
    case "<>", "!=": return (3, "IS NOT")
    case "<", "<=", ">", ">=": return (4, symbol)
    case "&": return (5, "||")
    case "+", "-": return (6, symbol)
    case "*", "/": return (7, symbol)
    default: return nil
    }
  }

  private mutating func expression(_ minimum: Int) throws(FormulaError) -> String {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Self.maximumDepth else { throw failure("the formula is nested too deeply") }
    var left = try operand()
    while case .symbol(let symbol) = token, let (strength, sql) = Self.binary(symbol), strength > minimum {
      index += 1
      let right = try expression(strength)
      switch symbol {
      case "&": left = "(coalesce(\(left), '') || coalesce(\(right), ''))"
      // SQLite's division of integers truncates.
      case "/": left = "(CAST(\(left) AS REAL) / \(right))"
      default: left = "(\(left) \(sql) \(right))"
      }
    }
    return left
  }

  private mutating func operand() throws(FormulaError) -> String {
    switch token {
    case .number(let digits):
      guard let value = Double(digits), value.isFinite else { throw failure("'\(digits)' is not a number") }
      index += 1
      return digits
    case .text(let text):
      index += 1
      return Self.literal(text)
    case .name(let name): return try named(name)
    case .symbol("("):
      index += 1
      let inner = try expression(0)
      try expect(")")
      return inner
    case .symbol("!"):
      index += 1
      return "((\(try expression(2))) IS NOT TRUE)"
    case .symbol("-"):
      index += 1
      return "(- \(try expression(6)))"
    case .symbol(let symbol): throw failure("a value is missing before '\(symbol)'")
    case .end: throw failure("a value is missing at the end")
    }
  }

  private mutating func named(_ name: String) throws(FormulaError) -> String {
    if tokens[index + 1].token == .symbol("(") { return try call(name) }
    let word = name.uppercased()
    if let constant = ["TRUE": "1", "FALSE": "0", "NULL": "NULL"][word] {
      index += 1
      return constant
    }
    guard let field = object.field(name) else {
      let hint = name.contains(".") ? "; fields of other objects cannot be used" : ""
      throw failure("no field '\(name)' on \(object.name)\(hint)")
    }
    // Inline formula fields: a generated column must not depend on another.
    var sql = "\"\(field.name)\""
    if case .formula(let inner)? = field.computation {
      guard level < Self.maximumLevels else { throw failure("'\(field.name)' refers to itself") }
      sql = "(\(try Self.sql(inner, over: object, level: level + 1)))"
    }
    index += 1
    return sql
  }

  private mutating func call(_ name: String) throws(FormulaError) -> String {
    guard let function = FormulaFunction(rawValue: name.uppercased()) else {
      let known = FormulaFunction.allCases.map(\.rawValue).joined(separator: ", ")
      throw failure("no function '\(name)'; there are \(known)")
    }
    let start = index
    index += 2
    var arguments: [String] = []
    while token != .symbol(")") {
      arguments.append(try expression(0))
      if token != .symbol(")") { try expect(",") }
    }
    index += 1
    guard function.arity.contains(arguments.count) else {
      index = start
      throw failure("\(function.rawValue) takes \(function.arityText), not \(arguments.count)")
    }
    return function.sql(arguments)
  }

  private mutating func expect(_ symbol: String) throws(FormulaError) {
    guard token == .symbol(symbol) else { throw failure("'\(symbol)' is missing") }
    index += 1
  }

  static func literal(_ text: String) -> String { text.quoted(with: UInt8(ascii: "'")) }
}
