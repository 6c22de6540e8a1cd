import Database

/// A statement made ready for SQLite: which rows in which order, and how each one is written as JSON.
struct QueryPlan {
  enum Output {
    /// Only the number of rows is wanted.
    case count
    /// Rows of aggregates and grouped values, with their keys.
    case aggregates(keys: [String], forms: [JSONForm])
    case records(RecordPlan)
  }

  let object: ObjectSchema
  /// Yields rowids in the order asked for; for `.count`, one number; for `.aggregates`, the values.
  let sql: String
  let bindings: [SQLValue]
  let output: Output
  var use = RecordUse.none
}

/// How a column becomes JSON.
enum JSONForm: Sendable, Equatable {
  /// Text without anything to escape: ids, dates, moments.
  case plainText
  case text, boolean, integer, real
  /// A JSON object, as SQLite makes it of an address's parts.
  case json
  /// Bytes: the path they are read from.
  case bytes
  /// What FORMAT makes of a value for a reader in the United States: `1,234.5`, `$1,234.50`, `3/2/2026`, `3/2/2026, 9:00 AM`.
  case numberText(scale: Int), currencyText(scale: Int), dateText, dateTimeText
}

extension FieldSchema {
  var form: JSONForm {
    switch type {
    case .id, .reference, .date, .datetime, .time: return .plainText
    case .address, .location: return .json
    case .base64: return .bytes
    case .boolean: return .boolean
    case .int: return .integer
    case .double, .currency, .percent: return .real
    default: return .text
    }
  }

  /// The form FORMAT gives it.
  var displayForm: JSONForm {
    switch type {
    case .int: return .numberText(scale: 0)
    case .double, .percent: return .numberText(scale: scale)
    case .currency: return .currencyText(scale: scale)
    case .date: return .dateText
    case .datetime: return .dateTimeText
    default: return form
    }
  }
}

/// The columns to read for one row and the shape of the object they make.
struct RecordPlan: Sendable {
  indirect enum Item: Sendable {
    case field(name: String, column: Int32, JSONForm)
    case parent(name: String, RecordNode)
    case children(name: String, ChildPlan)
  }
  struct RecordNode: Sendable {
    /// Object names by id prefix.
    let types: [(prefix: String, name: String)]
    let idColumn: Int32
    var items: [Item]
    /// With TYPEOF: what is shown instead of `items` of rows whose ids begin so.
    var branches: [(prefix: String, items: [Item])] = []
  }

  /// Reads one row; its parameter is the rowid.
  let sql: String
  let root: RecordNode
}

/// The rows of a child relationship below each row of a query.
struct ChildPlan: Sendable {
  /// Yields rowids; the first parameter is the parent's id, `bindings` follow.
  let sql: String
  let bindings: [SQLValue]
  let record: RecordPlan
}
