/// The functions of formulas and their SQL.
enum FormulaFunction: String, CaseIterable {
  case AND, OR, NOT, IF, ISBLANK, ISPICKVAL, BLANKVALUE, TEXT, VALUE, LEN, UPPER, LOWER, TRIM, LEFT, RIGHT, CONTAINS, BEGINS,
    ABS, ROUND, MIN, MAX, YEAR, MONTH, DAY

  var arity: ClosedRange<Int> {
    switch self {
    case .AND, .OR, .MIN, .MAX: return 1...50
    case .IF: return 3...3
    case .ISPICKVAL, .BLANKVALUE, .LEFT, .RIGHT, .CONTAINS, .BEGINS, .ROUND: return 2...2
    default: return 1...1
    }
  }

  var arityText: String {
    let range = arity
    if range.count > 1 { return "\(range.lowerBound) to \(range.upperBound) arguments" }
    return range.lowerBound == 1 ? "1 argument" : "\(range.lowerBound) arguments"
  }

  /// - Parameter arguments: As many as `arity` allows.
  func sql(_ arguments: [String]) -> String {
    let first = arguments[0]
    let second = arguments.count > 1 ? arguments[1] : "NULL"
    switch self {
    case .AND: return "(" + arguments.joined(separator: " AND ") + ")"
    case .OR: return "(" + arguments.joined(separator: " OR ") + ")"
    case .NOT: return "((\(first)) IS NOT TRUE)"
    case .IF: return "(CASE WHEN \(first) THEN \(second) ELSE \(arguments[2]) END)"
    case .ISBLANK: return "(coalesce(\(first), '') = '')"
    case .ISPICKVAL: return "(coalesce(\(first), '') = \(second))"
    case .BLANKVALUE: return "coalesce(nullif(\(first), ''), \(second))"
    case .TEXT: return "CAST(\(first) AS TEXT)"
    case .VALUE: return "CAST(\(first) AS REAL)"
    case .LEN: return "length(coalesce(\(first), ''))"
    case .LEFT: return "substr(\(first), 1, \(second))"
    case .RIGHT: return "substr(\(first), -(\(second)))"
    case .CONTAINS: return "(instr(\(first), \(second)) > 0)"
    case .BEGINS: return "(substr(\(first), 1, length(\(second))) = \(second))"
    case .ROUND: return "round(\(first), \(second))"
    // With one argument these would be aggregates in SQLite.
    case .MIN, .MAX: return arguments.count == 1 ? first : "\(rawValue.lowercased())(\(arguments.joined(separator: ", ")))"
    case .YEAR: return "CAST(substr(\(first), 1, 4) AS INTEGER)"
    case .MONTH: return "CAST(substr(\(first), 6, 2) AS INTEGER)"
    case .DAY: return "CAST(substr(\(first), 9, 2) AS INTEGER)"
    case .ABS, .UPPER, .LOWER, .TRIM: return "\(rawValue.lowercased())(\(first))"
    }
  }
}
