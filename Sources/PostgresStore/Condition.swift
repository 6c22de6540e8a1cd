import SmartStore
import Support

/// The parameters of a statement as it is built.
struct Parameters {
  private(set) var list: [PostgresParameter] = []

  /// - Returns: The placeholder.
  mutating func add(_ value: PostgresParameter) -> String {
    list.append(value)
    return "$\(list.count)"
  }

  mutating func add(text: String) -> String { add(.text(PostgresText.storable(text))) }
}

enum Comparison: String {
  case equal = "=", from = ">=", through = "<=", above = ">", below = "<"

  /// What holds for the beginnings of two texts if this holds for the texts.
  fileprivate var ofBeginnings: String {
    switch self {
    case .equal: "="
    case .from, .above: ">="
    case .through, .below: "<="
    }
  }

  /// Whether it holds for a number and a text: every number is less.
  fileprivate var holdsForGreater: Bool { self == .through || self == .below }
}

extension SoupValue {
  /// The condition that compares the path with a value as SQLite would, given the column's type.
  /// - Parameter isSortKey: Whether the value is what ``SoupValue/sql`` yields, such as a row's key.
  func condition(_ comparison: Comparison, _ value: SQLValue, _ parameters: inout Parameters, isSortKey: Bool = false) -> String {
    guard value != .null else { return "NULL::boolean" }
    switch form {
    case .text: return compared(comparison, text: SoupValue.text(value), &parameters)
    case .mixed:
      if isSortKey, case .text(let key) = value { return compared(comparison, text: key, &parameters) }
      return compared(comparison, text: SortKey.encoded(value) ?? "", &parameters)
    case .integer, .real: return compared(comparison, number: value, &parameters)
    }
  }

  private func compared(_ comparison: Comparison, text: String, _ parameters: inout Parameters) -> String {
    let mark = parameters.add(text: text) + " COLLATE \"C\""
    let whole = "\(sql) \(comparison.rawValue) \(mark)"
    guard isIndexed else { return whole }
    let length = SoupTable.indexedCharacters
    return "(left(\(sql), \(length)) \(comparison.ofBeginnings) left(\(mark), \(length)) AND \(whole))"
  }

  private func compared(_ comparison: Comparison, number value: SQLValue, _ parameters: inout Parameters) -> String {
    switch (SoupValue.number(value), form) {
    case (.integer(let integer), .integer): return "\(sql) \(comparison.rawValue) \(parameters.add(.int64(integer)))"
    case (.integer(let integer), _): return "\(sql) \(comparison.rawValue) \(parameters.add(.double(Double(integer))))"
    case (.real(let real), .integer): return compared(comparison, integerWith: real, &parameters)
    case (.real(let real), _): return "\(sql) \(comparison.rawValue) \(parameters.add(.double(real)))"
    default: return comparison.holdsForGreater ? "\(sql) IS NOT NULL" : "false"
    }
  }

  /// Compares an integer column with a real, so that its index is of use.
  private func compared(_ comparison: Comparison, integerWith real: Double, _ parameters: inout Parameters) -> String {
    if let integer = Int64(exactly: real) { return "\(sql) \(comparison.rawValue) \(parameters.add(.int64(integer)))" }
    guard !real.isNaN, comparison != .equal else { return "false" }
    let isGreater = comparison.holdsForGreater
    guard let below = Int64(exactly: real.rounded(.down)), below < .max else {
      return (real > 0) == isGreater ? "\(sql) IS NOT NULL" : "false"
    }
    return isGreater ? "\(sql) <= \(parameters.add(.int64(below)))" : "\(sql) >= \(parameters.add(.int64(below + 1)))"
  }

  /// A value compared with a text column: numbers become texts.
  static func text(_ value: SQLValue) -> String {
    switch value {
    case .null: ""
    case .integer(let integer): String(integer)
    case .real(let real): "\(real)"
    case .text(let text): text
    case .blob(let bytes): String(decoding: bytes, as: UTF8.self)
    }
  }

  /// A value compared with a number column: a text that is a number becomes one.
  static func number(_ value: SQLValue) -> SQLValue {
    guard case .text(let text) = value else { return value }
    let trimmed = text.utf8.drop { $0.isASCIIWhitespace }.reversed().drop { $0.isASCIIWhitespace }.reversed()
    let allowed = trimmed.allSatisfy { $0.isASCIIDigit || "+-.eE".utf8.contains($0) }
    guard allowed, !trimmed.isEmpty else { return value }
    let digits = String(decoding: Array(trimmed), as: UTF8.self)
    if let integer = Int64(digits) { return .integer(integer) }
    return Double(digits).map { .real($0) } ?? value
  }

  /// The condition of a LIKE.
  func like(_ pattern: String, _ parameters: inout Parameters) -> String {
    "\(asText) ILIKE \(parameters.add(text: pattern)) COLLATE \"C\" ESCAPE ''"
  }

  static func text(of column: String, _ form: ValueForm, _ schema: String) -> String {
    switch form {
    case .text, .mixed: column
    case .integer: "\(column)::text COLLATE \"C\""
    case .real: "\(schema).real_text(\(column)) COLLATE \"C\""
    }
  }

  /// The items of ORDER BY that sort by this value.
  func ordering(_ direction: String, _ nulls: String) -> [String] {
    let whole = "\(sql) \(direction) NULLS \(nulls)"
    return isIndexed && isColumn ? ["left(\(sql), \(SoupTable.indexedCharacters)) \(direction) NULLS \(nulls)", whole] : [whole]
  }
}
