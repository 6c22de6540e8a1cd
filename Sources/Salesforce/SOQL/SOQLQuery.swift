/// A SOQL query by clauses, to be asked about and changed. Knows no schema: what it does not understand stays as typed.
///
/// - Note: Source: Mobile SDK, `SOQLMutator`. Here field names are compared without case, an `or` condition gets
///   parentheses before a predicate is added, and `USING SCOPE`, `WITH`, `FOR`, `UPDATE` and `ALL ROWS` are clauses of
///   their own that keep their place.
public struct SOQLQuery: Sendable, Equatable {
  /// In the order the grammar wants them.
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

  /// The clause whose keyword stands at `i`, and how many tokens the keyword takes.
  private static func clause(at i: Int, in tokens: [String], after current: Clause?) -> (Clause, Int)? {
    let word = tokens[i].lowercased()
    func follows(_ words: [String]) -> Bool {
      i + 2 < tokens.count && SOQLTokenizer.isBlank(tokens[i + 1]) && words.contains(tokens[i + 2].lowercased())
    }
    // Before FROM every other word may be a field's name.
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

  // MARK: Asking

  public var hasSelect: Bool { !(text(.select) ?? "").isEmpty }
  public var hasFrom: Bool { !(text(.from) ?? "").isEmpty }
  public var hasOrderBy: Bool { clauses[.orderBy] != nil }
  /// True when its rows are sums of records: with `GROUP BY`, or `COUNT()` alone.
  public var isAggregate: Bool {
    clauses[.groupBy] != nil || SOQLQuery.withoutBlanks((clauses[.select] ?? []).joined()) == "count()"
  }
  /// True when nothing leaves records out: the type's every record is wanted, and no deleted one.
  public var wantsEveryRecord: Bool {
    [Clause.where, .with, .usingScope, .limit, .offset, .allRows].allSatisfy { clauses[$0] == nil }
  }
  /// The type behind `FROM`; nil with an alias or several types.
  public var type: String? {
    let words = (clauses[.from] ?? []).filter { !SOQLTokenizer.isBlank($0) }
    return words.count == 1 && !words[0].contains(",") ? words[0] : nil
  }
  /// True with `LIMIT` or `OFFSET`: which rows come then depends on their order.
  public var isLimited: Bool { clauses[.limit] != nil || clauses[.offset] != nil }

  /// True when the select list itself holds the field, or a `FIELDS(…)` that brings every standard one.
  public func isSelecting(_ field: String) -> Bool {
    let tokens = clauses[.select] ?? []
    let list = tokens.filter { !$0.hasPrefix("(") }.joined()
    let wanted = field.lowercased()
    return list.split(separator: ",").contains { SOQLQuery.trimmed($0).lowercased() == wanted }
      || SOQLQuery.selectsAllFields(tokens)
  }

  /// True when the order is this field, ascending, and nothing else.
  public func isOrdering(by field: String) -> Bool {
    guard let order = clauses[.orderBy]?.joined() else { return false }
    return SOQLQuery.withoutBlanks(order) == field.lowercased()
  }

  /// In lower case.
  private static func withoutBlanks(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.filter { !SOQLTokenizer.isBlank($0) })).lowercased()
  }

  private static func selectsAllFields(_ tokens: [String]) -> Bool {
    zip(tokens, tokens.dropFirst()).contains { name, argument in
      name.lowercased().hasSuffix("fields") && ["(all)", "(standard)"].contains(argument.lowercased())
    }
  }

  // MARK: Changing

  /// Puts fields in front of the select list.
  public func addingSelect(_ fields: String) -> SOQLQuery {
    setting(.select, (text(.select) ?? "").isEmpty ? fields : fields + "," + (text(.select) ?? ""))
  }

  public func replacingSelect(_ fields: String) -> SOQLQuery { setting(.select, fields) }

  /// Empty text removes the clause.
  public func replacingOrderBy(_ order: String) -> SOQLQuery { setting(.orderBy, order) }

  /// Puts a predicate in front of the condition. A condition with an `or` on its first level goes into parentheses: it
  /// would otherwise let every record through that matches what stands right of the `or`.
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

  /// The query, keywords in lower case and in the grammar's order. A limit or offset of 0 is left out.
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
