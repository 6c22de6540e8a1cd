/// A parsed statement. Nothing in it has been looked up yet.
struct SOQLQuery {
  enum Selection {
    /// `SELECT COUNT()`
    case count(position: Int)
    case items([SelectItem])
  }

  var selection: Selection
  /// The object; in a child query the relationship, with what stands before it.
  var object: FieldPath
  /// What a path may start with instead of a relationship: the object's alias, and aliases of relationship paths.
  var aliases: [String: [Name]] = [:]
  var condition: Condition?
  var grouping: Grouping?
  var having: Condition?
  var order: [OrderItem] = []
  var limit: Int?
  var offset: Int?
  /// Deleted rows too.
  var allRows = false
  /// Rows of the caller only (`USING SCOPE mine`).
  var isMineOnly = false
  var use = RecordUse.none
}

/// What `FOR VIEW` and `FOR REFERENCE` ask to be noted of the rows a query returns.
enum RecordUse { case none, view, reference }

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

/// One entry of a SELECT list.
enum SelectItem {
  enum FieldGroup: String { case ALL, STANDARD, CUSTOM }

  case expression(Expression, alias: Name?)
  /// `FIELDS(STANDARD)`
  case fields(FieldGroup, position: Int)
  /// `(SELECT … FROM Contacts)`
  indirect case children(SOQLQuery, position: Int)
  case typeOf(TypeOf)

  var aggregates: Bool {
    if case .expression(let expression, _) = self { return expression.aggregates }
    return false
  }
}

/// `TYPEOF What WHEN Account THEN Phone ELSE Name END`
struct TypeOf {
  struct Branch {
    let type: Name
    let paths: [FieldPath]
  }
  let relationship: FieldPath
  let branches: [Branch]
  /// Fields of every other type; nil shows none of them.
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
  /// Nulls first is the rule in both directions.
  var nullsLast = false
}
