import SmartStore
import Support

/// Paths without a column of a plain type: the values come from the entries' texts, and may be of any class.
extension SmartSqlTranslation {
  /// A call that reads a path: json_extract, or the function that ``PostgresDialect`` writes.
  struct PathCall {
    /// The position after the call.
    let end: Int
    /// The column of the entry's text, with its table or alias.
    let entry: String
    let path: String

    /// A call of one of the schema's functions.
    func sql(_ function: String, _ schema: String) -> String {
      let call = "\(schema).\(function)(\(entry), \(JSONPath.literal(path)))"
      return function == "int" ? call : "(\(call) COLLATE \"C\")"
    }
  }

  /// - Returns: nil unless a path is read at the position.
  func pathCall(_ i: Int) -> PathCall? {
    guard let word = at(i)?.word, word == "json_extract" || word == PostgresDialect.pathFunction, isSign("(", i + 1),
      let end = try? close(i + 1)
    else { return nil }
    let arguments = parts((i + 2)..<end)
    guard arguments.count == 2, arguments[1].count == 1, case .string(let quoted) = tokens[arguments[1].lowerBound] else {
      return nil
    }
    var path = SmartSqlToken.text(quoted)
    if word == "json_extract" {
      guard path.hasPrefix("$.") else { return nil }
      path = String(path.dropFirst(2))
    }
    let first = arguments[0].lowerBound
    if arguments[0].count == 1, isWord("soup", first) { return PathCall(end: end + 1, entry: "soup", path: path) }
    guard arguments[0].count == 3, let table = at(first)?.word, isSign(".", first + 1), isWord("soup", first + 2) else {
      return nil
    }
    return PathCall(end: end + 1, entry: "\(table).soup", path: path)
  }

  private static let comparisons: Set<String> = ["=", "==", "<>", "!=", "<", "<=", ">", ">="]

  /// Emits a path in the form that its use needs.
  /// - Returns: The position after what was emitted.
  mutating func path(_ call: PathCall) throws -> Int {
    let i = call.end, start = startOfCall(call)
    if let column = resultPaths[start] {
      typedColumns.insert(column)
      put(call.sql("val", schema))
      return i
    }
    if sortingPaths.contains(start) {
      put(call.sql("sort_key", schema))
      return i
    }
    if let end = try compared(call, i, start) { return end }
    // Beside a text column, SQLite makes a text of every value.
    let isBesideText = isTextColumn(endingAt: start - 2) && isComparison(start - 1) || isComparison(i) && isTextColumn(at: i + 1)
    put(call.sql(isBesideText || isWord("like", i) || isWord("not", i) && isWord("like", i + 1) ? "txt" : "str", schema))
    return i
  }

  private func startOfCall(_ call: PathCall) -> Int {
    var depth = 0
    for n in stride(from: call.end - 1, through: 0, by: -1) {
      if isSign(")", n) { depth += 1 }
      if isSign("(", n) {
        depth -= 1
        if depth == 0 { return n - 1 }
      }
    }
    return 0
  }

  private func isComparison(_ i: Int) -> Bool {
    guard case .sign(let sign)? = at(i) else { return false }
    return Self.comparisons.contains(sign)
  }

  private func isTextColumn(at i: Int) -> Bool {
    let column = isSign(".", i + 1) ? i + 2 : i
    guard let word = at(column)?.word, !isSign("(", column + 1) else { return false }
    return form(ofColumn: word) == .text && !isArithmetic(column + 1)
  }

  private func isTextColumn(endingAt i: Int) -> Bool {
    guard let word = at(i)?.word else { return false }
    return form(ofColumn: word) == .text && !isArithmetic(isSign(".", i - 1) ? i - 3 : i - 1)
  }

  private func isArithmetic(_ i: Int) -> Bool {
    guard case .sign(let sign)? = at(i) else { return false }
    return ["+", "-", "*", "/", "%", "||"].contains(sign)
  }

  /// Emits a comparison of a path with given values, by sort keys.
  /// - Returns: nil if it is compared with something else.
  private mutating func compared(_ call: PathCall, _ i: Int, _ start: Int) throws -> Int? {
    guard !isArithmetic(start - 1), !isComparison(start - 1) else { return nil }
    let isNot = isWord("not", i), next = isNot ? i + 1 : i
    if !isNot, isComparison(i), case .sign(let sign) = tokens[i] {
      if let other = pathCall(i + 1), !isArithmetic(other.end) {
        put(call.sql("sort_key", schema))
        put(sign == "==" ? "=" : sign)
        put(other.sql("sort_key", schema))
        return other.end
      }
      guard let operand = operand(i + 1), !isArithmetic(operand.end) else { return nil }
      put(call.sql("sort_key", schema))
      put(sign == "==" ? "=" : sign)
      put(operand)
      return operand.end
    }
    if isWord("in", next), isSign("(", next + 1) {
      let end = try close(next + 1),
        operands = parts((next + 2)..<end).map { part in
          operand(part.lowerBound).flatMap { $0.end == part.upperBound ? $0 : nil }
        }
      guard operands.allSatisfy({ $0 != nil }) else { return nil }
      put(call.sql("sort_key", schema))
      put(isNot ? "NOT IN (" : "IN (")
      for (n, operand) in operands.enumerated() {
        if n > 0 { put(",") }
        if let operand { put(operand) }
      }
      put(")")
      return end + 1
    }
    if isWord("between", next), let low = operand(next + 1), isWord("and", low.end), let high = operand(low.end + 1),
      !isArithmetic(high.end)
    {
      put(call.sql("sort_key", schema))
      put(isNot ? "NOT BETWEEN" : "BETWEEN")
      put(low)
      put("AND")
      put(high)
      return high.end
    }
    if isWord("is", i) {
      let after = isWord("not", i + 1) ? i + 2 : i + 1
      guard isWord("null", after) else { return nil }
      put(call.sql("val", schema))
      put(after == i + 2 ? "IS NOT NULL" : "IS NULL")
      return after + 1
    }
    return nil
  }

  // MARK: Operands

  private struct Operand {
    let end: Int
    /// nil for a placeholder.
    let value: SQLValue?
  }

  /// A literal or a placeholder.
  private func operand(_ i: Int) -> Operand? {
    switch at(i) {
    case .string(let quoted)?:
      return Operand(end: i + 1, value: .text(SmartSqlToken.text(quoted)))
    case .number(let digits)?: return number(digits).map { Operand(end: i + 1, value: $0) }
    case .sign("-")?:
      guard case .number(let digits)? = at(i + 1) else { return nil }
      return number("-" + digits).map { Operand(end: i + 2, value: $0) }
    case .word("true")?: return Operand(end: i + 1, value: .integer(1))
    case .word("false")?: return Operand(end: i + 1, value: .integer(0))
    case .sign("?")?: return Operand(end: i + 1, value: nil)
    default: return nil
    }
  }

  private func number(_ digits: String) -> SQLValue? {
    if let integer = Int64(digits) { return .integer(integer) }
    return Double(digits).map { .real($0) }
  }

  private mutating func put(_ operand: Operand) {
    guard let value = operand.value else {
      keyPlaceholders.insert(out.count - 1)
      out.append("")
      return put("")
    }
    put("(\(JSONPath.literal(text: SortKey.encoded(value) ?? "")) COLLATE \"C\")")
  }

  // MARK: The result

  /// Finds the paths that are columns of the result by themselves: readers get their values with their class.
  mutating func findResultPaths() {
    let words = tokens.compactMap(\.word)
    guard isWord("select", 0), !words.contains("union"), !words.contains("except"), !words.contains("group"),
      !isWord("distinct", 1), !hasNumberedOrder
    else { return }
    var depth = 0
    let end = tokens.indices.first { i in
      if isSign("(", i) { depth += 1 }
      if isSign(")", i) { depth -= 1 }
      return depth == 0 && isWord("from", i)
    }
    guard let end else { return }
    let columns = parts((isWord("all", 1) ? 2 : 1)..<end)
    guard !columns.contains(where: { part in part.last.map { isSign("*", $0) } ?? true }) else { return }
    let counts = Dictionary(grouping: tokens, by: { $0 }).mapValues(\.count)
    for (n, part) in columns.enumerated() {
      guard let call = pathCall(part.lowerBound), part.upperBound - call.end <= 2 else { continue }
      if call.end < part.upperBound {
        let alias = tokens[part.upperBound - 1]
        let isAlias = part.upperBound - call.end == 1 ? alias.word != nil : isWord("as", call.end)
        guard isAlias, counts[alias] == 1 else { continue }
      }
      resultPaths[part.lowerBound] = n
    }
  }

  /// Whether ORDER BY names a column by its number.
  private var hasNumberedOrder: Bool {
    tokens.indices.contains { i in
      guard isWord("order", i), isWord("by", i + 1) else { return false }
      return parts((i + 2)..<endOfList(i + 2, i..<tokens.count)).contains { part in
        if case .number? = part.first.map({ tokens[$0] }) { return true } else { return false }
      }
    }
  }

  /// The columns that `*` has in SQLite, if it stands for one table.
  func columns(ofStar i: Int) -> String? {
    guard !isSign(".", i - 1), isWord("from", i + 1), let word = at(i + 2)?.word,
      let table = tables.first(where: { $0.name == word })
    else { return nil }
    var next = i + 3
    if isWord("as", next) { next += 1 }
    if let alias = at(next)?.word, !Self.keywords.contains(alias) { next += 1 }
    switch at(next) {
    case nil, .sign(")")?: break
    case .word(let clause)? where ["where", "group", "order", "limit"].contains(clause): break
    default: return nil
    }
    let columns = ["id", "soup", "created", "lastModified"] + table.projected.map(table.column) + ["version", "owner"]
    return columns.joined(separator: ", ")
  }
}
