/// Building SOQL out of values. A value never goes into a query but through here.
public enum SOQL {
  /// A string literal with its quotes: `O'Brien` becomes `'O\'Brien'`.
  ///
  /// - Note: Escapes `\`, `'`, `"` and the control characters SOQL names (`\n \r \t \b \f`).
  public static func quote(_ text: String) -> String {
    var literal = "'"
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": literal += "\\\\"
      case "'": literal += "\\'"
      case "\"": literal += "\\\""
      case "\n": literal += "\\n"
      case "\r": literal += "\\r"
      case "\t": literal += "\\t"
      case "\u{8}": literal += "\\b"
      case "\u{C}": literal += "\\f"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "'"
  }

  /// A list for `IN`: `('a','b')`. An empty list has no SOQL form, so it gives nil: ask nothing then.
  public static func list(_ values: [String]) -> String? {
    values.isEmpty ? nil : "(" + values.map(quote).joined(separator: ",") + ")"
  }

  /// A prefix for `LIKE`, quoted: the wildcards in `text` stand for themselves, then comes `%`.
  public static func prefix(_ text: String) -> String {
    var escaped = ""
    for character in quote(text).dropLast() {
      if character == "%" || character == "_" { escaped += "\\" }
      escaped.append(character)
    }
    return escaped + "%'"
  }
}
