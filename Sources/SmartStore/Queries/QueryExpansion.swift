import Support

/// How large a query becomes when SQLite replaces each name of a CTE by the CTE's own query. Fifty CTEs that name the
/// previous one twice have more SELECTs than a machine has memory for, and nothing interrupts SQLite meanwhile.
struct QueryExpansion {
  /// The query of a CTE, or the statement itself, without the queries of the CTEs in it.
  private struct Part {
    var bytes = 0, selects = 0
    /// How often it names each CTE.
    var names: [Int: Int] = [:]
  }

  /// The CTEs of a WITH clause, which are visible up to the end of the parenthesis around it.
  private struct Scope {
    let end: Int
    let parts: IdMap<Int>
  }

  private let tokens: [SQLToken]
  private var closing: [Int: Int] = [:]
  /// The statement, then the CTEs.
  private var parts = [Part()]
  /// The part that begins at a token, and its last token.
  private var bodies: [Int: (part: Int, end: Int)] = [:]
  private var scopes: [Int: Scope] = [:]
  /// The names in WITH clauses at which CTEs are defined.
  private var definitions: Set<Int> = []

  init(_ sql: [UInt8]) {
    tokens = SQLToken.list(sql)
    var open: [Int] = []
    for (i, token) in tokens.enumerated() {
      if token.isSign("(") { open.append(i) }
      if token.isSign(")"), let start = open.popLast() { closing[start] = i }
    }
    findScopes()
    count()
  }

  /// - Throws: ``StoreError`` `.queryLimit`.
  func check() throws(StoreError) {
    var known: [Int: (selects: Int, bytes: Int)] = [:]
    let size = size(of: 0, &known)
    guard size.selects > Tuning.querySelects || size.bytes > Tuning.expandedBytes else { return }
    throw StoreError(
      .queryLimit,
      "the CTEs of the smart SQL name one another so often that it stands for more than \(Tuning.querySelects) SELECTs or "
        + "\(Tuning.expandedBytes) bytes; name each CTE once, or split the query")
  }

  /// The size of a part with the CTEs that it names. One that names itself is recursive, and is there once.
  private func size(of part: Int, _ known: inout [Int: (selects: Int, bytes: Int)]) -> (selects: Int, bytes: Int) {
    if let size = known[part] { return size }
    known[part] = (0, 0)
    var size = (selects: max(1, parts[part].selects), bytes: parts[part].bytes)
    for (name, count) in parts[part].names {
      let inner = self.size(of: name, &known)
      size.selects = Self.sum(size.selects, inner.selects, times: count)
      size.bytes = Self.sum(size.bytes, inner.bytes, times: count)
    }
    known[part] = size
    return size
  }

  /// Stops at a number that no limit reaches.
  private static func sum(_ a: Int, _ b: Int, times: Int) -> Int {
    let (product, overflows) = b.multipliedReportingOverflow(by: times)
    return overflows ? 1 << 40 : min(1 << 40, a + min(1 << 40, product))
  }

  // MARK: Reading

  private mutating func findScopes() {
    var ends: [Int] = [tokens.count], i = 0
    while i < tokens.count {
      while let end = ends.last, i >= end, ends.count > 1 { ends.removeLast() }
      if let close = closing[i] { ends.append(close) }
      if tokens[i].isWord("with") { addScope(i, end: ends.last ?? tokens.count) }
      i += 1
    }
  }

  /// Reads `WITH [RECURSIVE] name [(columns)] AS [[NOT] MATERIALIZED] (query), …`.
  private mutating func addScope(_ with: Int, end: Int) {
    var i = with + 1, names: IdMap<Int> = [:]
    if isWord("recursive", i) { i += 1 }
    while i < tokens.count, let name = tokens[i].name {
      definitions.insert(i)
      i += 1
      if let close = closing[i] { i = close + 1 }
      guard isWord("as", i) else { break }
      i += 1
      if isWord("not", i) { i += 1 }
      if isWord("materialized", i) { i += 1 }
      guard let close = closing[i] else { break }
      bodies[i] = (parts.count, close)
      names[name] = parts.count
      parts.append(Part())
      i = close + 1
      guard i < tokens.count, tokens[i].isSign(",") else { break }
      i += 1
    }
    scopes[with] = Scope(end: end, parts: names)
  }

  private func isWord(_ word: String, _ i: Int) -> Bool { i < tokens.count && tokens[i].isWord(word) }

  /// Gives each token to the innermost part, and each name to the innermost WITH clause that has it.
  private mutating func count() {
    var inside: [(part: Int, end: Int)] = [(0, tokens.count)], visible: [Scope] = []
    for (i, token) in tokens.enumerated() {
      while let last = inside.last, i >= last.end, inside.count > 1 { inside.removeLast() }
      while let last = visible.last, i >= last.end { visible.removeLast() }
      if let scope = scopes[i] { visible.append(scope) }
      if let body = bodies[i] { inside.append(body) }
      let part = inside.last?.part ?? 0
      parts[part].bytes += token.bytes
      if token.isWord("select") || token.isWord("values") { parts[part].selects += 1 }
      guard let name = token.name, isTable(i), let cte = visible.lazy.reversed().compactMap({ $0.parts[name] }).first else {
        continue
      }
      parts[part].names[cte, default: 0] += 1
    }
  }

  /// Whether a name stands where tables do. Some of a list's columns do, too.
  private func isTable(_ i: Int) -> Bool {
    guard i > 0, !definitions.contains(i) else { return false }
    let before = tokens[i - 1]
    return before.isSign(",") || before.isSign("(") || ["from", "join", "in"].contains { before.isWord($0) }
  }
}
