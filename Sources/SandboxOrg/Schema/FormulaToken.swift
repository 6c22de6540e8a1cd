/// A token of a formula.
enum FormulaToken: Equatable {
  case number(String)
  case text(String)
  case name(String)
  /// An operator, a parenthesis or a comma.
  case symbol(String)
  case end

  /// - Throws: ``FormulaError`` for unterminated text and for invalid characters.
  static func scan(_ formula: String) throws(FormulaError) -> [(token: FormulaToken, column: Int)] {
    let characters = Array(formula)
    var tokens: [(token: FormulaToken, column: Int)] = []
    var index = 0
    while index < characters.count {
      let start = index
      let character = characters[index]
      if character.isWhitespace {
        index += 1
        continue
      }
      if character.isASCII, character.isLetter || character == "_" {
        while index < characters.count, isNamePart(characters[index]) { index += 1 }
        tokens.append((.name(String(characters[start..<index])), start + 1))
      } else if character.isASCII, character.isNumber {
        while index < characters.count, isNumberPart(characters[index]) { index += 1 }
        tokens.append((.number(String(characters[start..<index])), start + 1))
      } else if character == "\"" || character == "'" {
        tokens.append((.text(try quoted(characters, &index)), start + 1))
      } else {
        tokens.append((.symbol(try symbol(characters, &index)), start + 1))
      }
    }
    tokens.append((.end, characters.count + 1))
    return tokens
  }

  private static func isNamePart(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == ".")
  }

  private static func isNumberPart(_ character: Character) -> Bool {
    character.isASCII && (character.isNumber || character == ".")
  }

  /// Reads quoted text. A backslash escapes the next character.
  private static func quoted(_ characters: [Character], _ index: inout Int) throws(FormulaError) -> String {
    let start = index
    let quote = characters[index]
    var text = ""
    index += 1
    while index < characters.count, characters[index] != quote {
      if characters[index] == "\\", index + 1 < characters.count { index += 1 }
      text.append(characters[index])
      index += 1
    }
    guard index < characters.count else { throw FormulaError(column: start + 1, message: "the text has no closing \(quote)") }
    index += 1
    return text
  }

  private static let pairs: Set<String> = ["==", "!=", "<>", "<=", ">=", "&&", "||"]
  private static let singles: Set<Character> = ["=", "<", ">", "+", "-", "*", "/", "&", "!", "(", ")", ","]

  private static func symbol(_ characters: [Character], _ index: inout Int) throws(FormulaError) -> String {
    let pair = String(characters[index..<min(index + 2, characters.count)])
    if pairs.contains(pair) {
      index += 2
      return pair
    }
    guard singles.contains(characters[index]) else {
      throw FormulaError(column: index + 1, message: "unexpected character '\(characters[index])'")
    }
    index += 1
    return String(characters[index - 1])
  }
}

/// Why a formula is invalid.
struct FormulaError: Error, Equatable {
  /// Counts from 1.
  let column: Int
  let message: String
}
