/// A parsed statement. Nothing in it has been looked up yet.
struct SOQLQuery {
  enum Selection {
    /// `SELECT COUNT()`
    case count(position: Int)
    case items([SelectItem])
  }

  var selection: Selection
  var object: Name
  /// What a path may start with instead of a relationship: the object's alias, and aliases of relationship paths.
  var aliases: [String: [Name]] = [:]
  var condition: Condition?
  var order: [OrderItem] = []
  var limit: Int?
  var offset: Int?
  /// Deleted rows too.
  var allRows = false
  /// Rows of the caller only (`USING SCOPE mine`).
  var isMineOnly = false
}

/// A word with its place.
struct Name {
  let text: String
  let position: Int
}

/// `Account.Owner.Name`: relationships, then a field.
struct FieldPath {
  let names: [Name]
  var position: Int { names[0].position }
  var text: String { names.map(\.text).joined(separator: ".") }
}

struct SelectItem {
  enum Aggregate: String { case COUNT, COUNT_DISTINCT, SUM, AVG, MIN, MAX }
  var aggregate: Aggregate?
  var path: FieldPath
  var alias: Name?
}

struct OrderItem {
  var path: FieldPath
  var isDescending = false
  /// Nulls first is the rule in both directions.
  var nullsLast = false
}

/// A value as written.
struct Literal {
  enum Value {
    case null
    case bool(Bool)
    case number(Double, isInteger: Bool)
    case string(value: String, pattern: String, hasPatternEscape: Bool)
    case date(String)
    /// Milliseconds since 1970 UTC.
    case dateTime(Int64)
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
  case comparison(FieldPath, ComparisonOperator, Literal)
  case membership(FieldPath, isNegated: Bool, [Literal])
  case semiJoin(FieldPath, isNegated: Bool, SemiJoin)
}

/// `(SELECT AccountId FROM Contact WHERE …)` at the right of IN.
struct SemiJoin {
  let path: FieldPath
  let object: Name
  let condition: Condition?
  let position: Int
}
