/// Parses the search expression in the braces of FIND: adjacent words mean AND; AND and AND NOT
/// bind more tightly than OR.
struct SearchExpressionParser {
  private enum Piece: Equatable { case word(String), phrase(String), open, close, and, or, not }

  private var pieces: [Piece] = []
  private var index = 0
  private var depth = 0
  private let position: Int

  /// - Parameters:
  ///   - text: The text inside the braces, with its backslashes.
  ///   - position: The index of the text in its statement.
  static func parse(_ text: ArraySlice<Unicode.Scalar>, at position: Int) throws(SOQLError) -> SearchExpression {
    if text.count > Tuning.searchCharacters { return .nothing }
    var parser = SearchExpressionParser(position: position)
    try parser.tokenize(text)
    // In a very long text, operators are treated as words.
    if text.count > Tuning.searchOperatorCharacters { return parser.wordsOnly() }
    guard let expression = try parser.any() else { throw parser.noTerm }
    if parser.index < parser.pieces.count { throw parser.failure("unexpected ')'") }
    try parser.checkLength(expression)
    guard expression.parserDepth <= Tuning.searchParserDepth else {
      throw parser.failure("the search term is nested too deeply; use fewer parentheses")
    }
    return expression
  }

  private init(position: Int) { self.position = position }

  private func failure(_ message: String) -> SOQLError {
    SOQLError(code: "MALFORMED_SEARCH", message: message, position: position)
  }

  private var noTerm: SOQLError {
    SOQLError(
      code: "MALFORMED_SEARCH", message: "No search term found. The search term must be enclosed in braces.", position: nil)
  }

  /// Refuses a single term of one character; it is valid next to others.
  private func checkLength(_ expression: SearchExpression) throws(SOQLError) {
    guard case .word(let word) = expression, word.count(where: { $0 != "*" && $0 != "?" }) < 2 else { return }
    throw SOQLError(
      code: "MALFORMED_SEARCH", message: "search term must be longer than one character: \(word)", position: nil)
  }

  // MARK: Pieces

  private mutating func tokenize(_ text: ArraySlice<Unicode.Scalar>) throws(SOQLError) {
    var word = String.UnicodeScalarView()
    var rest = text
    func flushed(_ word: inout String.UnicodeScalarView) -> Piece? {
      defer { word = String.UnicodeScalarView() }
      return word.isEmpty ? nil : Self.piece(String(word))
    }
    while let scalar = rest.popFirst() {
      switch scalar {
      case "\\":
        // Escaped characters are punctuation: they only separate words.
        guard let next = rest.popFirst() else { throw failure("a backslash must be followed by a character") }
        word.append(Self.reserved.contains(next) ? "." : next)
      case "\"":
        if let piece = flushed(&word) { pieces.append(piece) }
        pieces.append(.phrase(try phrase(&rest)))
      case "(", ")":
        if let piece = flushed(&word) { pieces.append(piece) }
        pieces.append(scalar == "(" ? .open : .close)
      case "{", "}": throw failure("unexpected '\(scalar)': braces inside the search term need a backslash")
      case _ where Self.operators.contains(scalar):
        throw failure("unexpected '\(scalar)': inside the search term it needs a backslash")
      case _ where scalar.properties.isWhitespace:
        if let piece = flushed(&word) { pieces.append(piece) }
      default: word.append(scalar)
      }
    }
    if let piece = flushed(&word) { pieces.append(piece) }
  }

  private static let reserved = Set("?&|!{}[]()^~*:\\\"'+-".unicodeScalars)

  /// Operators of the search engine, which are refused unescaped. Other punctuation only separates
  /// words.
  private static let operators = Set("|&![]^~".unicodeScalars)

  private static func piece(_ word: String) -> Piece? {
    switch word.uppercased() {
    case "AND": return .and
    case "OR": return .or
    case "NOT": return .not
    default:
      // Punctuation alone is not a word.
      let means = word.unicodeScalars.contains { SearchTokens.isTokenCharacter($0) || $0 == "*" || $0 == "?" }
      return means ? .word(word) : nil
    }
  }

  private func phrase(_ rest: inout ArraySlice<Unicode.Scalar>) throws(SOQLError) -> String {
    var text = String.UnicodeScalarView()
    while let scalar = rest.popFirst() {
      if scalar == "\"" { return String(text) }
      if scalar == "\\", let next = rest.popFirst() {
        text.append(next)
      } else {
        text.append(scalar)
      }
    }
    throw failure("a phrase lacks its closing quotation mark")
  }

  private func wordsOnly() -> SearchExpression {
    let terms = pieces.compactMap { piece -> SearchExpression? in
      switch piece {
      case .word(let word): return .word(word)
      case .phrase(let text): return .phrase(text)
      default: return nil
      }
    }
    return terms.isEmpty ? .nothing : .all(terms)
  }

  // MARK: Grammar

  private var current: Piece? { index < pieces.count ? pieces[index] : nil }

  private mutating func any() throws(SOQLError) -> SearchExpression? {
    guard let first = try all() else { return nil }
    var terms = [first]
    while current == .or {
      index += 1
      guard let next = try all() else { throw failure("a term is missing after OR") }
      terms.append(next)
    }
    return terms.count == 1 ? first : .any(terms)
  }

  /// Collects the excluded terms of a sequence in one list, so that a long one does not nest:
  /// `a AND NOT b c` is `(a AND c) NOT b`.
  private mutating func all() throws(SOQLError) -> SearchExpression? {
    guard let first = try term() else { return nil }
    var required = [first], excluded: [SearchExpression] = []
    while let piece = current, piece != .or, piece != .close {
      let isJoined = piece == .and
      if isJoined { index += 1 }
      let isExcluded = current == .not
      if isExcluded { index += 1 }
      guard let next = try term() else { throw failure("a term is missing after \(isExcluded ? "NOT" : "AND")") }
      if isExcluded { excluded.append(next) } else { required.append(next) }
    }
    let found = required.count == 1 ? first : .all(required)
    return excluded.isEmpty ? found : .except(found, excluded.count == 1 ? excluded[0] : .any(excluded))
  }

  private mutating func term() throws(SOQLError) -> SearchExpression? {
    guard let piece = current else { return nil }
    index += 1
    switch piece {
    case .word(let word): return .word(word)
    case .phrase(let text): return .phrase(text)
    case .open:
      depth += 1
      defer { depth -= 1 }
      guard depth <= Tuning.conditionDepth else {
        throw failure("parentheses are nested more than \(Tuning.conditionDepth) deep")
      }
      guard let inner = try any() else { throw failure("empty parentheses") }
      guard current == .close else { throw failure("a closing parenthesis is missing") }
      index += 1
      return inner
    case .close, .and, .or, .not: throw failure("a term is missing")
    }
  }
}

/// The tokens of the index: runs of letters and digits. Source: SQLite's `unicode61`.
enum SearchTokens {
  static func isTokenCharacter(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber, .letterNumber,
      .otherNumber, .privateUse:
      return true
    default: return false
    }
  }
}
