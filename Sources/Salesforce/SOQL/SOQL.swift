/// Builds parts of SOQL queries from values. All values in queries must be escaped by these functions.
public enum SOQL {
  /// Returns a string literal with its quotes: `O'Brien` becomes `'O\'Brien'`.
  ///
  /// - Note: Escapes `\`, `'`, `"` and the control characters for which SOQL has an escape (`\n \r \t \b \f`).
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

  /// Returns a list for `IN`, such as `('a','b')`. SOQL has no empty lists, so it returns nil for one; skip the query then.
  public static func list(_ values: [String]) -> String? {
    values.isEmpty ? nil : "(" + values.map(quote).joined(separator: ",") + ")"
  }

  /// Returns a quoted `LIKE` pattern for a prefix: `text` with escaped wildcards, followed by `%`.
  public static func prefix(_ text: String) -> String {
    var escaped = ""
    for character in quote(text).dropLast() {
      if character == "%" || character == "_" { escaped += "\\" }
      escaped.append(character)
    }
    return escaped + "%'"
  }
}
