/// A value as it is written.
struct Literal {
  enum Value {
    case null
    case bool(Bool)
    case number(Double, isInteger: Bool)
    /// Such as `USD5000`.
    case currency(code: String, Double)
    case string(value: String, pattern: String, hasPatternEscape: Bool)
    case date(String)
    /// Milliseconds since 1970 UTC.
    case dateTime(Int64)
    /// In the stored format `hh:mm:ss.SSSZ`.
    case time(String)
    case range(DateLiteral)
  }
  let value: Value
  let position: Int
}

enum ComparisonOperator: String {
  case equal = "=", notEqual = "!=", less = "<", lessOrEqual = "<=", greater = ">", greaterOrEqual = ">=", like = "LIKE"
}

indirect enum Condition {
  case all([Condition])
  case any([Condition])
  case not(Condition)
  case comparison(Expression, ComparisonOperator, Literal)
  case membership(Expression, isNegated: Bool, [Literal])
  /// INCLUDES and EXCLUDES: true if a multi-select picklist contains all values of one of the
  /// combinations.
  case selection(Expression, isNegated: Bool, [Literal])
  case semiJoin(Expression, isNegated: Bool, SemiJoin)
}

/// The right side of IN: `(SELECT AccountId FROM Contact WHERE …)`.
struct SemiJoin {
  let path: FieldPath
  let object: Name
  let condition: Condition?
  let position: Int
}
