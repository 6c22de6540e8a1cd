/// Splits a statement into tokens, separated by any whitespace; there are no comments.
struct Lexer {
  private let characters: [Unicode.Scalar]
  private var index = 0

  init(_ characters: [Unicode.Scalar]) { self.characters = characters }

  /// - Parameter start: The index to start at; positions still count from the statement's first
  ///   character.
  static func tokens(of characters: [Unicode.Scalar], from start: Int = 0) throws(SOQLError) -> [Token] {
    guard characters.count <= Tuning.statementCharacters else {
      throw .malformed("statements cannot be longer than \(Tuning.statementCharacters) characters.")
    }
    var lexer = Lexer(characters)
    lexer.index = start
    var tokens: [Token] = []
    repeat { tokens.append(try lexer.next()) } while tokens.last?.kind != .end
    return tokens
  }

  private mutating func next() throws(SOQLError) -> Token {
    while index < characters.count, characters[index].properties.isWhitespace { index += 1 }
    guard index < characters.count else { return Token(kind: .end, text: "<EOF>", position: index) }
    let character = characters[index]
    if character == "'" { return try string() }
    if isLetter(character) { return identifier() }
    if isDigit(at: index) || (character == "." && isDigit(at: index + 1)) { return try numeral() }
    return try symbol()
  }

  private mutating func identifier() -> Token {
    let start = index
    while index < characters.count, isWordCharacter(characters[index]) { index += 1 }
    return Token(kind: .identifier, text: text(start..<index), position: start)
  }

  private mutating func symbol() throws(SOQLError) -> Token {
    let start = index
    let pair = text(start..<min(start + 2, characters.count))
    if ["!=", "<>", "<=", ">="].contains(pair) {
      index += 2
      return Token(kind: .symbol, text: pair, position: start)
    }
    guard "(),.:=<>+-".unicodeScalars.contains(characters[start]) else {
      throw .malformed("unexpected token: '\(characters[start])'", at: start)
    }
    index += 1
    return Token(kind: .symbol, text: String(Character(characters[start])), position: start)
  }

  // MARK: Text

  private mutating func string() throws(SOQLError) -> Token {
    let start = index
    index += 1
    var value = String.UnicodeScalarView()
    var pattern = String.UnicodeScalarView()
    var hasPatternEscape = false
    var length = 0
    while index < characters.count, characters[index] != "'" {
      length += 1
      guard length <= Tuning.literalCharacters else {
        throw .malformed("string literal is longer than \(Tuning.literalCharacters) characters", at: start)
      }
      if characters[index] == "\\" {
        hasPatternEscape = try escape(into: &value, pattern: &pattern) || hasPatternEscape
      } else {
        value.append(characters[index])
        pattern.append(characters[index])
        index += 1
      }
    }
    guard index < characters.count else { throw .malformed("unexpected token: '<EOF>'", at: characters.count) }
    index += 1
    let kind = Token.Kind.string(
      value: String(value), pattern: String(pattern), hasPatternEscape: hasPatternEscape)
    return Token(kind: kind, text: text(start..<index), position: start)
  }

  /// Reads an escape sequence. A backslash stays escaped in the pattern, where it is the escape
  /// character.
  ///
  /// - Returns: True for a sequence that is only valid in LIKE.
  private mutating func escape(
    into value: inout String.UnicodeScalarView, pattern: inout String.UnicodeScalarView
  ) throws(SOQLError) -> Bool {
    let start = index
    guard start + 1 < characters.count else { throw .malformed("unexpected token: '<EOF>'", at: characters.count) }
    index += 2
    let plain: Unicode.Scalar
    switch characters[start + 1] {
    case "n", "N": plain = "\n"
    case "r", "R": plain = "\r"
    case "t", "T": plain = "\t"
    case "b", "B": plain = "\u{8}"
    case "f", "F": plain = "\u{c}"
    case "'": plain = "'"
    case "\"": plain = "\""
    case "u", "U": plain = try unicodeEscape(start)
    case "\\":
      value.append("\\")
      pattern.append(contentsOf: "\\\\".unicodeScalars)
      return false
    case "%", "_":
      value.append(characters[start + 1])
      pattern.append("\\")
      pattern.append(characters[start + 1])
      return true
    default:
      throw .malformed("Invalid string literal: illegal escape sequence '\\\(characters[start + 1])'", at: start)
    }
    value.append(plain)
    pattern.append(plain)
    return false
  }

  private mutating func unicodeEscape(_ start: Int) throws(SOQLError) -> Unicode.Scalar {
    guard index + 4 <= characters.count, let code = UInt32(text(index..<index + 4), radix: 16),
      let scalar = Unicode.Scalar(code)
    else { throw .malformed("Invalid string literal: illegal escape sequence '\\u'", at: start) }
    index += 4
    return scalar
  }

  // MARK: Numbers, dates

  private mutating func numeral() throws(SOQLError) -> Token {
    let start = index
    if let token = try dateOrDateTime() { return token }
    if let token = try timeOfDay() { return token }
    while isDigit(at: index) { index += 1 }
    if index < characters.count, characters[index] == "." {
      index += 1
      while isDigit(at: index) { index += 1 }
    }
    if index < characters.count, characters[index] == "e" || characters[index] == "E" {
      let signed = index + 1 < characters.count && "+-".unicodeScalars.contains(characters[index + 1])
      if isDigit(at: index + (signed ? 2 : 1)) {
        index += signed ? 2 : 1
        while isDigit(at: index) { index += 1 }
      }
    }
    let text = self.text(start..<index)
    guard index >= characters.count || !isWordCharacter(characters[index]) else {
      throw .malformed("unexpected token: '\(text)\(characters[index])'", at: start)
    }
    return Token(kind: .number, text: text, position: start)
  }

  /// Reads a date, recognized by its digits and dashes; an impossible date is an error.
  private mutating func dateOrDateTime() throws(SOQLError) -> Token? {
    let start = index
    guard start + 10 <= characters.count, characters[start + 4] == "-", characters[start + 7] == "-",
      [0, 1, 2, 3, 5, 6, 8, 9].allSatisfy({ isDigit(at: start + $0) })
    else { return nil }
    var end = start + 10
    let hasTime = end < characters.count && "Tt".unicodeScalars.contains(characters[end])
    while hasTime, end < characters.count, isWordCharacter(characters[end]) || ":.+-".unicodeScalars.contains(characters[end]) {
      end += 1
    }
    let text = self.text(start..<end)
    let day = CivilDate(parsing: text.prefix(10))
    let isValid = hasTime ? Timestamp.milliseconds(parsing: text) != nil : day != nil
    guard isValid, let day, (1700...4000).contains(day.year) else {
      let kind = hasTime ? "datetime" : "date"
      throw .malformed("Invalid \(kind): \(text)", at: start)
    }
    index = end
    return Token(kind: hasTime ? .dateTime : .date, text: text, position: start)
  }

  /// Reads `hh:mm:ss.SSSZ`; the parts after the minutes are optional.
  private mutating func timeOfDay() throws(SOQLError) -> Token? {
    let start = index
    guard start + 5 <= characters.count, characters[start + 2] == ":",
      [0, 1, 3, 4].allSatisfy({ isDigit(at: start + $0) })
    else { return nil }
    var end = start + 5
    while end < characters.count, isWordCharacter(characters[end]) || ":.".unicodeScalars.contains(characters[end]) { end += 1 }
    let text = self.text(start..<end)
    guard TimeOfDay.text(parsing: text) != nil else { throw .malformed("Invalid time: \(text)", at: start) }
    index = end
    return Token(kind: .time, text: text, position: start)
  }

  private func text(_ range: Range<Int>) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: characters[range])
    return String(view)
  }

  private func isDigit(at position: Int) -> Bool {
    position < characters.count && ("0"..."9").contains(characters[position])
  }

  private func isLetter(_ scalar: Unicode.Scalar) -> Bool {
    ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar)
  }

  private func isWordCharacter(_ scalar: Unicode.Scalar) -> Bool {
    isLetter(scalar) || ("0"..."9").contains(scalar) || scalar == "_"
  }
}
