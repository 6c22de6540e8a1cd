import Database

/// Checks that a literal fits its operand, and converts it to SQLite's representation.
struct LiteralCheck {
  let operand: Operand

  /// - Returns: `.null` for NULL and for empty text, which are equal in SOQL; FALSE for the NULL of
  ///   a flag.
  func value(_ literal: Literal) throws(SOQLError) -> SQLValue {
    let type = operand.type
    switch literal.value {
    case .null: return type == .boolean ? .integer(0) : .null
    case .bool(let value) where type == .boolean: return .integer(value ? 1 : 0)
    case .number(let value, let isInteger) where type.isNumber:
      return isInteger && abs(value) < 9e15 ? .integer(Int64(saturating: value)) : .real(value)
    case .currency(let code, let value) where type == .currency:
      guard code == "USD" else { throw .invalidField("Invalid currency code: \(code)", at: literal.position) }
      return .real(value)
    case .string(let text, _, let hasPatternEscape) where type.isText || type.isReference:
      guard !hasPatternEscape else {
        throw .malformed("Invalid string literal: '\\%' and '\\_' can only be used with LIKE", at: literal.position)
      }
      if text.isEmpty { return .null }
      return type.isReference ? .text(try id(text, literal)) : .text(text)
    case .date(let text) where type == .date: return .text(text)
    case .dateTime(let milliseconds) where type == .datetime: return .text(moment(milliseconds))
    case .time(let text) where type == .time: return .text(text)
    default: throw mismatch(literal)
    }
  }

  private func id(_ text: String, _ literal: Literal) throws(SOQLError) -> String {
    guard let id = RecordID.normalized(text) else {
      throw .invalidOperator("invalid ID field: \(text)", at: literal.position)
    }
    return id
  }

  /// Formats a timestamp. Stored ones end in `.000`; a literal's fraction still sorts correctly as
  /// text.
  private func moment(_ milliseconds: Int64) -> String {
    let seconds = (milliseconds >= 0 ? milliseconds : milliseconds - 999) / 1000
    let fraction = String(1000 + Int(milliseconds - seconds * 1000)).dropFirst()
    return Timestamp.text(seconds).dropLast(8) + fraction + "+0000"
  }

  func mismatch(_ literal: Literal) -> SOQLError {
    let type = operand.type
    let name = type.isText ? "string" : type.isNumber ? (type == .int ? "int" : "double") : type.rawValue
    let quotes = type.isText || type.isReference ? "should be enclosed in quotes" : "should not be enclosed in quotes"
    return .invalidField(
      "value of filter criterion for field '\(operand.name)' must be of type \(name) and \(quotes)", at: literal.position)
  }
}
