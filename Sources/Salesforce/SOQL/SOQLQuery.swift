/// A SOQL query, split into clauses that can be inspected and changed. Does not know the schema; it keeps unknown syntax
/// unchanged.
///
/// - Note: Source: Mobile SDK, `SOQLMutator`. Here field names are compared ignoring case, a condition with `or` gets
///   parentheses before a predicate is added, and `USING SCOPE`, `WITH`, `FOR`, `UPDATE` and `ALL ROWS` are separate clauses
///   that keep their place.
public struct SOQLQuery: Sendable, Equatable {
  /// The clauses in the order of the grammar.
  enum Clause: String, CaseIterable, Sendable {
    case select, from
    case usingScope = "using scope"
    case `where`, with
    case groupBy = "group by"
    case having
    case orderBy = "order by"
    case limit, offset
    case `for`, update
    case allRows = "all rows"
  }

  private var clauses: [Clause: [String]] = [:]

  public init(_ soql: String) {
    let tokens = SOQLTokenizer.tokens(soql)
    var clause: Clause?, i = 0
    while i < tokens.count {
      if let (found, length) = SOQLQuery.clause(at: i, in: tokens, after: clause) {
        clause = found
        clauses[found] = clauses[found] ?? []
        i += length
      } else {
        if let clause { clauses[clause]?.append(tokens[i]) }
        i += 1
      }
    }
  }

  /// Returns the clause whose keyword is at `i`, and the number of tokens in the keyword.
  private static func clause(at i: Int, in tokens: [String], after current: Clause?) -> (Clause, Int)? {
    let word = tokens[i].lowercased()
    func follows(_ words: [String]) -> Bool {
      i + 2 < tokens.count && SOQLTokenizer.isBlank(tokens[i + 1]) && words.contains(tokens[i + 2].lowercased())
    }
    // Before FROM, any other word may be the name of a field.
    guard let current else { return word == "select" ? (.select, 1) : nil }
    if current == .select { return word == "from" ? (.from, 1) : nil }
    switch word {
    case "using": return follows(["scope"]) ? (.usingScope, 3) : nil
    case "all": return follows(["rows"]) ? (.allRows, 3) : nil
    case "for": return follows(["view", "reference", "update"]) ? (.for, 1) : nil
    case "update": return follows(["tracking", "viewstat"]) ? (.update, 1) : nil
    case "where", "with", "group by", "having", "order by", "limit", "offset":
      return Clause(rawValue: word).map { ($0, 1) }
    default: return nil
    }
  }

  // MARK: Inspecting

  public var hasSelect: Bool { !(text(.select) ?? "").isEmpty }
  public var hasFrom: Bool { !(text(.from) ?? "").isEmpty }
  public var hasOrderBy: Bool { clauses[.orderBy] != nil }
  /// True if the rows are aggregates: with `GROUP BY`, or with an aggregate function in the select list, such as
  /// `COUNT()`, `SUM(Amount)` or `FORMAT(MAX(CreatedDate))`. A child query does not count.
  public var isAggregate: Bool { clauses[.groupBy] != nil || SOQLAggregates.isCalled(in: clauses[.select] ?? []) }
  /// True if the query selects every record of the type that is not deleted.
  public var wantsEveryRecord: Bool {
    [Clause.where, .with, .usingScope, .limit, .offset, .allRows].allSatisfy { clauses[$0] == nil }
  }
  /// The type after `FROM`; nil if there is an alias or more than one type.
  public var type: String? {
    let words = (clauses[.from] ?? []).filter { !SOQLTokenizer.isBlank($0) }
    return words.count == 1 && !words[0].contains(",") ? words[0] : nil
  }
  /// True with `LIMIT` or `OFFSET`: the order then decides which rows are returned.
  public var isLimited: Bool { clauses[.limit] != nil || clauses[.offset] != nil }

  /// Returns true if the select list contains the field itself, or `FIELDS(ALL)` or `FIELDS(STANDARD)`.
  public func isSelecting(_ field: String) -> Bool {
    let tokens = clauses[.select] ?? []
    let list = tokens.filter { !$0.hasPrefix("(") }.joined()
    let wanted = field.lowercased(), spellings = [wanted] + qualifiers.map { $0 + "." + wanted }
    return list.split(separator: ",").contains { spellings.contains(SOQLQuery.trimmed($0).lowercased()) }
      || SOQLQuery.selectsAllFields(tokens)
  }

  /// The relationships in the select list: `Account` for `Account.Name`.
  public var parents: [String] {
    let list = (clauses[.select] ?? []).filter { !$0.hasPrefix("(") }.joined(), qualifiers = qualifiers
    return list.split(separator: ",").compactMap { field in
      var steps = field.split(separator: ".").map { SOQLQuery.trimmed($0) }
      if let first = steps.first, steps.count > 1, qualifiers.contains(first.lowercased()) { steps.removeFirst() }
      return steps.count > 1 && !steps[0].isEmpty ? steps[0] : nil
    }
  }

  /// What may stand before the name of a field: the type after `FROM` and its alias, in lower case.
  private var qualifiers: [String] {
    let source = (clauses[.from] ?? []).joined().split(separator: ",").first ?? ""
    let words = source.unicodeScalars.split(whereSeparator: SOQLTokenizer.isBlank).map { String($0).lowercased() }
    return Array(words.filter { $0 != "as" }.prefix(2))
  }

  /// Returns true if the query is ordered by this field alone, ascending.
  public func isOrdering(by field: String) -> Bool {
    guard let order = clauses[.orderBy]?.joined() else { return false }
    return SOQLQuery.withoutBlanks(order) == field.lowercased()
  }

  /// Returns the text in lower case and without white space.
  private static func withoutBlanks(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { !SOQLTokenizer.isBlank($0) })).lowercased()
  }

  private static func selectsAllFields(_ tokens: [String]) -> Bool {
    zip(tokens, tokens.dropFirst()).contains { name, argument in
      name.lowercased().hasSuffix("fields") && ["(all)", "(standard)"].contains(argument.lowercased())
    }
  }

  // MARK: Changing

  /// Returns the query with fields added at the front of the select list.
  public func addingSelect(_ fields: String) -> SOQLQuery {
    setting(.select, (text(.select) ?? "").isEmpty ? fields : fields + "," + (text(.select) ?? ""))
  }

  public func replacingSelect(_ fields: String) -> SOQLQuery { setting(.select, fields) }

  /// Returns the query with another order. An empty text removes the clause.
  public func replacingOrderBy(_ order: String) -> SOQLQuery { setting(.orderBy, order) }

  /// Returns the query with a predicate added at the front of the condition. A condition with `or` at its top level gets
  /// parentheses, because otherwise records that match the right side of the `or` would bypass the predicate.
  public func addingWhere(_ predicate: String) -> SOQLQuery {
    guard let existing = text(.where), !existing.isEmpty else { return setting(.where, predicate) }
    let hasOr = (clauses[.where] ?? []).contains { $0.lowercased() == "or" }
    return setting(.where, predicate + " and " + (hasOr ? "(" + existing + ")" : existing))
  }

  private func setting(_ clause: Clause, _ text: String) -> SOQLQuery {
    var copy = self
    copy.clauses[clause] = text.isEmpty ? nil : SOQLTokenizer.tokens(text)
    return copy
  }

  /// The query with lower-case keywords in the order of the grammar. A limit or offset of 0 is omitted.
  public var text: String {
    var parts: [String] = []
    for clause in Clause.allCases {
      guard let value = text(clause) else { continue }
      if clause == .limit || clause == .offset, let number = Int64(value), number <= 0 { continue }
      parts.append(value.isEmpty ? clause.rawValue : clause.rawValue + " " + value)
    }
    return parts.joined(separator: " ")
  }

  private func text(_ clause: Clause) -> String? {
    clauses[clause].map { SOQLQuery.trimmed($0.joined()) }
  }

  private static func trimmed(_ text: some StringProtocol) -> String {
    let scalars = String(text).unicodeScalars
    guard let first = scalars.firstIndex(where: { !SOQLTokenizer.isBlank($0) }),
      let last = scalars.lastIndex(where: { !SOQLTokenizer.isBlank($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
