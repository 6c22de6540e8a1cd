/// Parses conditions and values.
extension Parser {
  /// Parses terms joined by AND or by OR. Mixing both at one level requires parentheses.
  mutating func condition() throws(SOQLError) -> Condition {
    depth += 1
    defer { depth -= 1 }
    guard depth <= Tuning.conditionDepth else {
      throw .malformed("conditions are nested more than \(Tuning.conditionDepth) deep", at: current.position)
    }
    var terms = [try simple()]
    guard current.isKeyword("AND") || current.isKeyword("OR") else { return terms[0] }
    let word = current.text.uppercased()
    while take(word) { terms.append(try simple()) }
    if current.isKeyword("AND") || current.isKeyword("OR") { throw .unexpected(current) }
    return word == "AND" ? .all(terms) : .any(terms)
  }

  private mutating func simple() throws(SOQLError) -> Condition {
    if takeSymbol("(") {
      let inner = try condition()
      try expectSymbol(")")
      return inner
    }
    if current.isKeyword("NOT") {
      advance()
      depth += 1
      defer { depth -= 1 }
      guard depth <= Tuning.conditionDepth else {
        throw .malformed("conditions are nested more than \(Tuning.conditionDepth) deep", at: current.position)
      }
      return .not(try simple())
    }
    return try predicate()
  }

  private mutating func predicate() throws(SOQLError) -> Condition {
    let subject = try expression()
    if take("LIKE") { return .comparison(subject, .like, try literal()) }
    if take("IN") { return try membership(subject, isNegated: false) }
    if current.isKeyword("NOT"), peek(1).isKeyword("IN") {
      index += 2
      return try membership(subject, isNegated: true)
    }
    if current.isKeyword("INCLUDES") || current.isKeyword("EXCLUDES") {
      let isNegated = current.isKeyword("EXCLUDES")
      advance()
      try expectSymbol("(")
      return .selection(subject, isNegated: isNegated, try literals())
    }
    guard current.kind == .symbol,
      let comparison = ComparisonOperator(rawValue: current.text == "<>" ? "!=" : current.text)
    else { throw .unexpected(current) }
    advance()
    return .comparison(subject, comparison, try literal())
  }

  private mutating func membership(_ subject: Expression, isNegated: Bool) throws(SOQLError) -> Condition {
    let position = current.position
    try expectSymbol("(")
    if current.isKeyword("SELECT") {
      let join = try semiJoin(position)
      try expectSymbol(")")
      return .semiJoin(subject, isNegated: isNegated, join)
    }
    return .membership(subject, isNegated: isNegated, try literals())
  }

  /// Parses a list of values up to the closing parenthesis.
  private mutating func literals() throws(SOQLError) -> [Literal] {
    var values = [try literal()]
    while takeSymbol(",") { values.append(try literal()) }
    try expectSymbol(")")
    return values
  }

  private mutating func semiJoin(_ position: Int) throws(SOQLError) -> SemiJoin {
    try expect("SELECT")
    let path = try self.path()
    try expect("FROM")
    let object = try name()
    let condition = take("WHERE") ? try self.condition() : nil
    return SemiJoin(path: path, object: object, condition: condition, position: position)
  }

  // MARK: Values

  private mutating func literal() throws(SOQLError) -> Literal {
    let token = current
    let value: Literal.Value
    switch token.kind {
    case .string(let text, let pattern, let hasPatternEscape):
      value = .string(value: text, pattern: pattern, hasPatternEscape: hasPatternEscape)
    case .date: value = .date(token.text)
    case .dateTime: value = .dateTime(Timestamp.milliseconds(parsing: token.text) ?? 0)
    case .time: value = .time(TimeOfDay.text(parsing: token.text) ?? "")
    case .number: value = try number(token, sign: 1)
    case .symbol where token.text == "-" || token.text == "+":
      advance()
      guard current.kind == .number else { throw .unexpected(current) }
      value = try number(current, sign: token.text == "-" ? -1 : 1)
    case .identifier: return try word(token)
    default: throw .unexpected(token)
    }
    advance()
    return Literal(value: value, position: token.position)
  }

  private func number(_ token: Token, sign: Double) throws(SOQLError) -> Literal.Value {
    guard let value = Double(token.text), value.isFinite else { throw .unexpected(token) }
    return .number(sign * value, isInteger: !token.text.contains { ".eE".contains($0) })
  }

  /// Parses TRUE, FALSE, NULL and date literals.
  private mutating func word(_ token: Token) throws(SOQLError) -> Literal {
    let word = token.text.uppercased()
    switch word {
    case "TRUE", "FALSE", "NULL":
      advance()
      return Literal(value: word == "NULL" ? .null : .bool(word == "TRUE"), position: token.position)
    default: break
    }
    if let literal = currency(token) { return literal }
    var count: Int?
    if DateLiteral.takesCount(word) {
      advance()
      try expectSymbol(":")
      guard current.kind == .number, let number = Int(current.text), number <= 9_999 else { throw .unexpected(current) }
      count = number
    }
    guard let range = DateLiteral(name: word, count: count) else { throw .unexpected(token) }
    advance()
    return Literal(value: .range(range), position: token.position)
  }
  /// Parses `USD5000` and `USD5000.50`: a currency code directly followed by an amount.
  private mutating func currency(_ token: Token) -> Literal? {
    let code = token.text.prefix(3), digits = token.text.dropFirst(3)
    guard code.count == 3, code.allSatisfy(\.isLetter), !digits.isEmpty, digits.allSatisfy(\.isNumber) else { return nil }
    var text = String(digits)
    advance()
    if current.kind == .number, current.text.first == ".", current.position == token.position + token.text.count {
      text += current.text
      advance()
    }
    guard let amount = Double(text) else { return nil }
    return Literal(value: .currency(code: code.uppercased(), amount), position: token.position)
  }
}
