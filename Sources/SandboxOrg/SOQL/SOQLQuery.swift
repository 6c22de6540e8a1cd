/// A parsed statement whose names have not been resolved yet.
struct SOQLQuery {
  enum Selection {
    /// Such as `SELECT COUNT()`.
    case count(position: Int)
    case items([SelectItem])
  }

  var selection: Selection
  /// The object; in a child query the relationship, perhaps qualified.
  var object: FieldPath
  /// Names with which a path may start instead of a relationship: the object's alias, and aliases
  /// of relationship paths.
  var aliases: [String: [Name]] = [:]
  var condition: Condition?
  var grouping: Grouping?
  var having: Condition?
  var order: [OrderItem] = []
  var limit: Int?
  var offset: Int?
  /// Includes deleted rows.
  var allRows = false
  /// Only rows that the caller owns (`USING SCOPE mine`).
  var isMineOnly = false
  var use = RecordUse.none
}

/// How `FOR VIEW` and `FOR REFERENCE` mark the returned rows.
enum RecordUse { case none, view, reference }

/// A word with its position.
struct Name {
  let text: String
  let position: Int
}

/// A path such as `Account.Owner.Name`: relationships, then a field.
struct FieldPath {
  let names: [Name]
  var position: Int { names[0].position }
  var text: String { names.map(\.text).joined(separator: ".") }
}

/// An entry of a SELECT list.
enum SelectItem {
  enum FieldGroup: String { case ALL, STANDARD, CUSTOM }

  case expression(Expression, alias: Name?)
  /// Such as `FIELDS(STANDARD)`.
  case fields(FieldGroup, position: Int)
  /// Such as `(SELECT … FROM Contacts)`.
  indirect case children(SOQLQuery, position: Int)
  case typeOf(TypeOf)

  var aggregates: Bool {
    if case .expression(let expression, _) = self { return expression.aggregates }
    return false
  }
}

/// Such as `TYPEOF What WHEN Account THEN Phone ELSE Name END`.
struct TypeOf {
  struct Branch {
    let type: Name
    let paths: [FieldPath]
  }
  let relationship: FieldPath
  let branches: [Branch]
  /// The fields for all other types; nil for none.
  let otherwise: [FieldPath]?
}

struct Grouping {
  enum Kind { case plain, rollup, cube }
  let kind: Kind
  let expressions: [Expression]
  let position: Int
}

struct OrderItem {
  var expression: Expression
  var isDescending = false
  /// By default nulls come first, in both directions.
  var nullsLast = false
}
