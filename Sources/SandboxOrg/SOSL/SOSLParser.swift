/// Parses SOSL: `FIND {acme} IN NAME FIELDS RETURNING Account(Id, Name WHERE … LIMIT 5), Contact
/// LIMIT 20`.
struct SOSLParser {
  private var parser: Parser

  /// - Throws: `SOQLError` `MALFORMED_SEARCH`, and SOQL's codes for errors in RETURNING.
  static func parse(_ statement: [Unicode.Scalar]) throws(SOQLError) -> SearchStatement {
    do throws(SOQLError) {
      let (expression, end) = try find(statement)
      var parser = SOSLParser(parser: Parser(tokens: try Lexer.tokens(of: statement, from: end)))
      var search = SearchStatement(expression: expression)
      try parser.clauses(of: &search)
      return search
    } catch {
      throw asSearchError(error)
    }
  }

  /// Parses a single object of RETURNING.
  static func returned(_ text: String) throws(SOQLError) -> SearchStatement.Returned {
    do throws(SOQLError) {
      var parser = SOSLParser(parser: Parser(tokens: try Lexer.tokens(of: Array(text.unicodeScalars))))
      let returned = try parser.returned()
      guard parser.parser.current.kind == .end else { throw .unexpected(parser.parser.current) }
      return returned
    } catch {
      throw asSearchError(error)
    }
  }

  private static func asSearchError(_ error: SOQLError) -> SOQLError {
    guard error.code == "MALFORMED_QUERY" else { return error }
    return SOQLError(code: "MALFORMED_SEARCH", message: error.message, position: error.position)
  }

  // MARK: FIND

  /// Parses the search term and returns the index after its closing brace.
  private static func find(_ statement: [Unicode.Scalar]) throws(SOQLError) -> (SearchExpression, end: Int) {
    guard statement.count <= Tuning.statementCharacters else {
      throw .malformed("statements cannot be longer than \(Tuning.statementCharacters) characters.")
    }
    var index = 0
    func skipBlanks() { while index < statement.count, statement[index].properties.isWhitespace { index += 1 } }
    skipBlanks()
    var word = String.UnicodeScalarView()
    while index < statement.count, statement[index].properties.isAlphabetic {
      word.append(statement[index])
      index += 1
    }
    guard String(word).uppercased() == "FIND" else {
      throw .malformed("unexpected token: '\(word.isEmpty ? "<EOF>" : String(word))'", at: index - word.count)
    }
    skipBlanks()
    let start = index + 1
    guard index < statement.count, statement[index] == "{" else { throw noTerm }
    index += 1
    while index < statement.count, statement[index] != "}" { index += statement[index] == "\\" ? 2 : 1 }
    guard index < statement.count else { throw noTerm }
    return (try SearchExpressionParser.parse(statement[start..<index], at: start), index + 1)
  }

  private static let noTerm = SOQLError(
    code: "MALFORMED_SEARCH", message: "No search term found. The search term must be enclosed in braces.", position: nil)

  // MARK: Clauses

  private mutating func clauses(of search: inout SearchStatement) throws(SOQLError) {
    if parser.take("IN") {
      guard let scope = SearchStatement.Scope(rawValue: parser.current.text.uppercased()) else {
        throw .unexpected(parser.current)
      }
      parser.advance()
      try parser.expect("FIELDS")
      search.scope = scope
    }
    if parser.take("RETURNING") { search.returning = try returning() }
    while parser.take("WITH") { try with(&search) }
    if parser.take("LIMIT") { search.limit = try parser.count() }
    if parser.take("UPDATE") {
      repeat {
        guard parser.take("TRACKING") || parser.take("VIEWSTAT") else { throw .unexpected(parser.current) }
      } while parser.takeSymbol(",")
    }
    guard parser.current.kind == .end else { throw .unexpected(parser.current) }
  }

  private mutating func returning() throws(SOQLError) -> [SearchStatement.Returned] {
    var list = [try returned()]
    while parser.takeSymbol(",") { list.append(try returned()) }
    var names: Set<String> = []
    for item in list {
      guard names.insert(item.object.text.lowercased()).inserted else {
        throw .malformed("an object may appear once in RETURNING: \(item.object.text)", at: item.object.position)
      }
      if item.query.offset != nil, list.count > 1 {
        throw .malformed("OFFSET can only be used with a single object", at: item.object.position)
      }
    }
    return list
  }

  private mutating func returned() throws(SOQLError) -> SearchStatement.Returned {
    let object = try parser.name()
    var query = SOQLQuery(selection: .items([Self.id(at: object.position)]), object: FieldPath(names: [object]))
    guard parser.takeSymbol("(") else { return SearchStatement.Returned(object: object, query: query) }
    var items: [SelectItem] = []
    repeat { items.append(.expression(try parser.expression(), alias: nil)) } while parser.takeSymbol(",")
    query.selection = .items(items)
    if parser.take("WHERE") { query.condition = try parser.condition() }
    if parser.take("USING") {
      // The list view has no effect: the sandbox's list views do not filter.
      try parser.expect("LISTVIEW")
      try parser.expectSymbol("=")
      _ = try parser.name()
    }
    if parser.take("ORDER") { query.order = try parser.order() }
    if parser.take("LIMIT") { query.limit = try parser.count() }
    if parser.take("OFFSET") { query.offset = try parser.count() }
    try parser.expectSymbol(")")
    return SearchStatement.Returned(object: object, query: query)
  }

  static func id(at position: Int) -> SelectItem {
    .expression(.field(FieldPath(names: [Name(text: "Id", position: position)])), alias: nil)
  }

  /// Parses WITH clauses, which refine or decorate results in a real org; only labels have an
  /// effect here.
  private mutating func with(_ search: inout SearchStatement) throws(SOQLError) {
    let name = try parser.name()
    switch name.text.uppercased() {
    case "HIGHLIGHT": return
    case "SNIPPET":
      guard parser.takeSymbol("(") else { return }
      try parser.expect("TARGET_LENGTH")
      try parser.expectSymbol("=")
      _ = try parser.count()
      try parser.expectSymbol(")")
    case "METADATA":
      try parser.expectSymbol("=")
      try value()
      search.wantsLabels = true
    case "DIVISION", "NETWORK", "SPELL_CORRECTION", "PRICEBOOKID":
      if parser.take("IN") {
        try parser.expectSymbol("(")
        repeat { try value() } while parser.takeSymbol(",")
        return try parser.expectSymbol(")")
      }
      try parser.expectSymbol("=")
      try value()
    default: throw .malformed("unexpected token: '\(name.text)'", at: name.position)
    }
  }

  private mutating func value() throws(SOQLError) {
    if case .string = parser.current.kind {
      parser.advance()
    } else if !parser.take("TRUE"), !parser.take("FALSE") {
      throw .unexpected(parser.current)
    }
  }
}
