/// Splits SOQL into words, white space, quoted strings and top-level parentheses. The joined tokens are the original text,
/// except for the white space inside `order by` and `group by`.
///
/// - Note: All ASCII white space counts. Inside a string a backslash escapes any character, so that `'a\\'` ends at its last
///   quote.
struct SOQLTokenizer {
  private var tokens: [String] = []
  private var current = ""
  private var depth = 0
  private var isInQuotes = false
  private var isInBlank = false
  private var isEscaped = false

  static func tokens(_ soql: String) -> [String] {
    var tokenizer = SOQLTokenizer()
    for scalar in soql.unicodeScalars { tokenizer.take(scalar) }
    tokenizer.push()
    return joined(tokenizer.tokens)
  }

  static func isBlank(_ token: some StringProtocol) -> Bool {
    !token.isEmpty && token.unicodeScalars.allSatisfy(isBlank)
  }

  static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
    scalar == " " || (0x09...0x0d).contains(scalar.value)
  }

  private mutating func take(_ scalar: Unicode.Scalar) {
    if isInQuotes { return takeQuoted(scalar) }
    switch scalar {
    case "'":
      if depth == 0 { push() }
      isInQuotes = true
      append(scalar)
    case "(":
      if depth == 0 { push() }
      depth += 1
      append(scalar)
    case ")":
      append(scalar)
      if depth > 0 { depth -= 1 }
      if depth == 0 { push() }
    default:
      let blank = SOQLTokenizer.isBlank(scalar)
      if depth == 0, blank != isInBlank, !current.isEmpty { push() }
      isInBlank = depth == 0 && blank
      current.unicodeScalars.append(scalar)
    }
  }

  private mutating func takeQuoted(_ scalar: Unicode.Scalar) {
    append(scalar)
    if isEscaped {
      isEscaped = false
    } else if scalar == "\\" {
      isEscaped = true
    } else if scalar == "'" {
      isInQuotes = false
      if depth == 0 { push() }
    }
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    isInBlank = false
    current.unicodeScalars.append(scalar)
  }

  private mutating func push() {
    if !current.isEmpty { tokens.append(current) }
    current = ""
    isInBlank = false
  }

  /// Joins `order by` and `group by` to single tokens with one space, keeping their case.
  private static func joined(_ tokens: [String]) -> [String] {
    var result: [String] = []
    var i = 0
    while i < tokens.count {
      if ["order", "group"].contains(tokens[i].lowercased()), i + 2 < tokens.count, isBlank(tokens[i + 1]),
        tokens[i + 2].lowercased() == "by"
      {
        result.append(tokens[i] + " " + tokens[i + 2])
        i += 3
      } else {
        result.append(tokens[i])
        i += 1
      }
    }
    return result
  }
}
