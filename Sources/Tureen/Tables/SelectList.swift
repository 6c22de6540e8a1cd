/// Reads the names of a SELECT's columns from its text, because the bridge's rows have no names.
///
/// The name of a column is its alias, or the path of a soup or the column's name, or otherwise the expression's text.
package struct SelectList: Sendable, Equatable {
  /// The columns' names; nil for `*` and `x.*`.
  package let names: [String?]
  /// The references `{soup}` and `{soup:path}` of the statement, in order.
  package let references: [Reference]

  package struct Reference: Sendable, Hashable {
    package let soup: String
    package let path: String?
  }

  /// - Parameter isSOQL: A column of a parent, `Account.Name`, has its whole path as its name.
  package init(_ sql: String, isSOQL: Bool = false) {
    let tokens = SQLTokens(sql).tokens
    references = tokens.compactMap { token in
      guard token.kind == .reference else { return nil }
      let parts = token.text.dropFirst().dropLast().split(separator: ":", maxSplits: 1).map(String.init)
      return parts.first.map { Reference(soup: $0, path: parts.count > 1 ? parts[1] : nil) }
    }
    names = Self.items(tokens).map { item in
      let isPath = isSOQL && item.count == 3 && item[1].text == "."
      return isPath ? item.map(\.text).joined() : Self.name(item)
    }
  }

  /// Returns the tokens of each column of the first SELECT outside of parentheses.
  private static func items(_ tokens: [SQLTokens.Token]) -> [[SQLTokens.Token]] {
    let ends: Set = ["from", "where", "group", "order", "limit", "union", "except", "intersect", "having", "window"]
    var items: [[SQLTokens.Token]] = [], current: [SQLTokens.Token] = [], depth = 0, isInside = false
    for token in tokens {
      let word = token.kind == .word ? token.text.lowercased() : ""
      if !isInside {
        if token.text == "(" { depth += 1 }
        if token.text == ")" { depth -= 1 }
        isInside = depth == 0 && word == "select"
        continue
      }
      if depth == 0, ends.contains(word) || token.text == ";" { break }
      if current.isEmpty, items.isEmpty, word == "distinct" || word == "all" { continue }
      if depth == 0, token.text == "," {
        items.append(current)
        current = []
        continue
      }
      if token.text == "(" { depth += 1 }
      if token.text == ")" { depth -= 1 }
      current.append(token)
    }
    return current.isEmpty ? items : items + [current]
  }

  private static func name(_ item: [SQLTokens.Token]) -> String? {
    guard let last = item.last else { return "" }
    if last.text == "*", item.count == 1 || item[item.count - 2].text == "." { return nil }
    let isName = last.kind == .word || last.kind == .quoted
    if item.count > 1, isName {
      let before = item[item.count - 2]
      if before.kind == .word && before.text.lowercased() == "as" { return last.meaning }
      let endsExpression = [.word, .quoted, .literal, .reference].contains(before.kind) || before.text == ")"
      if endsExpression, !isOperator(before), !isOperator(last) { return last.meaning }
    }
    if isName || last.kind == .reference, item.count == 1 || item.count == 3 && item[1].text == "." {
      return last.kind == .reference ? path(last.text) : last.meaning
    }
    return item.enumerated().map { i, token in
      (i > 0 && token.hasBlankBefore ? " " : "") + token.text
    }.joined()
  }

  private static func isOperator(_ token: SQLTokens.Token) -> Bool {
    token.kind == .word
      && ["and", "or", "not", "is", "in", "like", "glob", "between", "case", "when", "then", "else", "end", "null", "collate"]
        .contains(token.text.lowercased())
  }

  private static func path(_ reference: String) -> String {
    let inner = reference.dropFirst().dropLast()
    return inner.firstIndex(of: ":").map { String(inner[inner.index(after: $0)...]) } ?? String(inner)
  }

  /// Returns the names for rows of `count` columns.
  /// - Parameter columnsOf: Returns the columns of `*` for a statement with exactly one soup; nil if they are not known.
  package func columns(_ count: Int?, columnsOf: (String) throws -> [String]?) rethrows -> [String] {
    let soups = Set(references.map(\.soup))
    var result: [String] = []
    for name in names {
      if let name {
        result.append(name)
      } else if soups.count == 1, let soup = soups.first, let all = try columnsOf(soup) {
        result += all
      }
    }
    guard let count, count != result.count else { return result }
    return (1...max(1, count)).map { "column\($0)" }
  }
}

/// Splits SQL into the tokens on which the names of columns depend.
struct SQLTokens {
  enum Kind { case word, quoted, literal, reference, sign }

  struct Token {
    let kind: Kind
    let text: String
    let hasBlankBefore: Bool

    /// The text of the token, for a quoted name without its quotes.
    var meaning: String {
      guard kind == .quoted, let quote = text.first, text.count > 1 else { return text }
      let close = quote == "[" ? "]" : String(quote)
      return String(text.dropFirst().dropLast()).replacing(close + close, with: close)
    }
  }

  private(set) var tokens: [Token] = []
  private let characters: [Character]
  private var i = 0

  init(_ sql: String) {
    characters = Array(sql)
    var hasBlank = false
    while i < characters.count {
      let start = i
      guard let kind = next() else {
        hasBlank = true
        continue
      }
      tokens.append(Token(kind: kind, text: String(characters[start..<i]), hasBlankBefore: hasBlank))
      hasBlank = false
    }
  }

  private func peek(_ offset: Int) -> Character? { i + offset < characters.count ? characters[i + offset] : nil }

  /// Skips the next token and returns its kind; nil for whitespace and comments.
  private mutating func next() -> Kind? {
    let c = characters[i]
    switch c {
    case _ where c.isWhitespace:
      i += 1
      return nil
    case "-" where peek(1) == "-":
      while i < characters.count, !characters[i].isNewline { i += 1 }
      return nil
    case "/" where peek(1) == "*":
      i += 2
      while i < characters.count, !(characters[i] == "*" && peek(1) == "/") { i += 1 }
      i = min(characters.count, i + 2)
      return nil
    case "'": return quoted(until: c, .literal)
    case "\"", "`": return quoted(until: c, .quoted)
    case "[": return quoted(until: "]", .quoted)
    case "{": return quoted(until: "}", .reference)
    default: break
    }
    if c.isNumber {
      while let c = peek(0), c.isNumber || c.isLetter || c == "." { i += 1 }
      return .literal
    }
    guard c.isLetter || c == "_" else {
      i += 1
      return .sign
    }
    while let c = peek(0), c.isLetter || c.isNumber || c == "_" || c == "$" { i += 1 }
    return .word
  }

  private mutating func quoted(until close: Character, _ kind: Kind) -> Kind {
    i += 1
    while i < characters.count {
      let isClose = characters[i] == close
      i += 1
      guard isClose else { continue }
      // A doubled quote is part of the text.
      if peek(0) == close, close != "]", close != "}" { i += 1 } else { break }
    }
    return kind
  }
}
