/// A token of a statement.
struct Token: Equatable {
  enum Kind: Equatable {
    case identifier
    /// The value, and the pattern for LIKE, in which `\%` and `\_` stand for literal characters.
    case string(value: String, pattern: String, hasPatternEscape: Bool)
    case number
    case date, dateTime, time
    /// Punctuation and operators, spelled in `text`.
    case symbol
    case end
  }

  let kind: Kind
  /// As written; `<EOF>` at the end.
  let text: String
  /// An index into the statement's characters.
  let position: Int

  /// Compares by text: keywords are case-insensitive and can be field names.
  func isKeyword(_ word: String) -> Bool { kind == .identifier && text.uppercased() == word }
  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
}
