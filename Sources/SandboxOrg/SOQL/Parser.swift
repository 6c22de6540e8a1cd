/// A recursive descent parser. `Tuning.conditionDepth` and `Tuning.childQueryDepth` limit its
/// recursion.
struct Parser {
  var tokens: [Token]
  var index = 0
  var depth = 0
  var queryDepth = 0

  /// - Throws: `SOQLError` with the position of the first unexpected token.
  static func parse(_ statement: [Unicode.Scalar]) throws(SOQLError) -> SOQLQuery {
    var parser = Parser(tokens: try Lexer.tokens(of: statement))
    let query = try parser.query()
    guard parser.current.kind == .end else { throw .unexpected(parser.current) }
    return query
  }

  private static let reserved: Set<String> = [
    "AND", "ASC", "DESC", "EXCLUDES", "FIRST", "FROM", "GROUP", "HAVING", "IN", "INCLUDES", "LAST", "LIKE", "LIMIT",
    "NOT", "NULL", "NULLS", "OR", "SELECT", "USING", "WHERE", "WITH",
  ]
  /// Words that may follow the object in FROM, and thus are not aliases.
  private static let clauseStarts: Set<String> = ["ORDER", "OFFSET", "FOR", "UPDATE", "ALL"]

  // MARK: Tokens

  var current: Token { tokens[index] }
  func peek(_ distance: Int) -> Token { tokens[min(index + distance, tokens.count - 1)] }
  mutating func advance() { if index < tokens.count - 1 { index += 1 } }

  mutating func take(_ keyword: String) -> Bool {
    guard current.isKeyword(keyword) else { return false }
    advance()
    return true
  }

  mutating func takeSymbol(_ symbol: String) -> Bool {
    guard current.isSymbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(_ keyword: String) throws(SOQLError) {
    guard take(keyword) else { throw .unexpected(current) }
  }

  mutating func expectSymbol(_ symbol: String) throws(SOQLError) {
    guard takeSymbol(symbol) else { throw .unexpected(current) }
  }

  mutating func name() throws(SOQLError) -> Name {
    guard current.kind == .identifier, !Self.reserved.contains(current.text.uppercased()) || isGroupObject else {
      throw .unexpected(current)
    }
    let name = Name(text: current.text, position: current.position)
    advance()
    return name
  }

  /// True for the only object, and relationship, named like a keyword: `FROM Group`, `Group.Name`.
  private var isGroupObject: Bool {
    guard current.isKeyword("GROUP"), !peek(1).isKeyword("BY") else { return false }
    let previous = index > 0 ? tokens[index - 1] : current
    return previous.isKeyword("FROM") || previous.isKeyword("WHEN") || peek(1).isSymbol(".")
  }

  mutating func path() throws(SOQLError) -> FieldPath {
    var names = [try name()]
    while takeSymbol(".") { names.append(try name()) }
    return FieldPath(names: names)
  }

  mutating func alias() throws(SOQLError) -> Name? {
    guard current.kind == .identifier else { return nil }
    let word = current.text.uppercased()
    if Self.reserved.contains(word) || Self.clauseStarts.contains(word) { return nil }
    return try name()
  }

  mutating func count() throws(SOQLError) -> Int {
    guard current.kind == .number, let value = Int(current.text) else { throw .unexpected(current) }
    advance()
    return value
  }

  // MARK: Clauses

  mutating func query() throws(SOQLError) -> SOQLQuery {
    queryDepth += 1
    defer { queryDepth -= 1 }
    guard queryDepth <= Tuning.childQueryDepth else {
      throw .malformed("queries are nested more than \(Tuning.childQueryDepth) deep", at: current.position)
    }
    try expect("SELECT")
    let selection = try self.selection()
    try expect("FROM")
    var query = SOQLQuery(selection: selection, object: try path())
    try sources(of: &query)
    if take("USING") { try scope(of: &query) }
    if take("WHERE") { query.condition = try condition() }
    if take("WITH") { try withClause() }
    if take("GROUP") { try grouping(of: &query) }
    if take("ORDER") { query.order = try order() }
    if take("LIMIT") { query.limit = try count() }
    if take("OFFSET") { query.offset = try count() }
    try trailingClauses(of: &query)
    return query
  }

  /// Parses `FROM Contact c, c.Account a`: aliases of the object and of paths that start at it.
  private mutating func sources(of query: inout SOQLQuery) throws(SOQLError) {
    if take("AS") {
      query.aliases[try name().text.lowercased()] = []
    } else if let alias = try alias() {
      query.aliases[alias.text.lowercased()] = []
    }
    while takeSymbol(",") {
      let path = try self.path()
      if take("AS") {}
      guard let alias = try alias() else { throw .unexpected(current) }
      var names = path.names
      if let prefix = query.aliases[names[0].text.lowercased()] { names = prefix + names.dropFirst() }
      guard !names.isEmpty, names.count <= Tuning.relationshipHops else {
        throw .noRelationship(path.text, at: path.position)
      }
      query.aliases[alias.text.lowercased()] = names
    }
  }

  private mutating func scope(of query: inout SOQLQuery) throws(SOQLError) {
    try expect("SCOPE")
    let scope = try name()
    switch scope.text.lowercased() {
    case "everything", "delegated": break
    case "mine", "team": query.isMineOnly = true
    default: throw .malformed("unexpected token: '\(scope.text)'", at: scope.position)
    }
  }

  /// Skips Apex access modes; a REST caller of the sandbox can access every row and field.
  private mutating func withClause() throws(SOQLError) {
    for mode in ["SECURITY_ENFORCED", "USER_MODE", "SYSTEM_MODE"] where take(mode) { return }
    throw .unexpected(current)
  }

  private mutating func grouping(of query: inout SOQLQuery) throws(SOQLError) {
    try expect("BY")
    let position = current.position
    var kind = Grouping.Kind.plain
    if peek(1).isSymbol("(") {
      if current.isKeyword("ROLLUP") { kind = .rollup }
      if current.isKeyword("CUBE") { kind = .cube }
      if kind != .plain { index += 2 }
    }
    var expressions = [try expression()]
    while takeSymbol(",") { expressions.append(try expression()) }
    if kind != .plain { try expectSymbol(")") }
    query.grouping = Grouping(kind: kind, expressions: expressions, position: position)
    if take("HAVING") { query.having = try condition() }
  }

  /// Parses the part after ORDER.
  mutating func order() throws(SOQLError) -> [OrderItem] {
    try expect("BY")
    var items: [OrderItem] = []
    repeat {
      var item = OrderItem(expression: try expression())
      if take("DESC") { item.isDescending = true } else { _ = take("ASC") }
      if take("NULLS") {
        item.nullsLast = take("LAST")
        if !item.nullsLast { try expect("FIRST") }
      }
      items.append(item)
    } while takeSymbol(",")
    return items
  }

  private mutating func trailingClauses(of query: inout SOQLQuery) throws(SOQLError) {
    while take("FOR") {
      if take("VIEW") {
        query.use = .view
      } else if take("REFERENCE") {
        if query.use == .none { query.use = .reference }
      } else {
        throw .unexpected(current)
      }
    }
    if take("UPDATE") {
      guard take("TRACKING") || take("VIEWSTAT") else { throw .unexpected(current) }
    }
    if take("ALL") {
      try expect("ROWS")
      query.allRows = true
    }
  }
}
