/// One word of a statement.
struct Token: Equatable {
  enum Kind: Equatable {
    case identifier
    /// The value, and the pattern LIKE would match: there `\%` and `\_` stand for the characters themselves.
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
  /// Index into the statement's characters.
  let position: Int

  /// Keywords are not case-sensitive and not reserved as field names, so the parser asks by text.
  func isKeyword(_ word: String) -> Bool { kind == .identifier && text.uppercased() == word }
  func isSymbol(_ symbol: String) -> Bool { kind == .symbol && text == symbol }
}
