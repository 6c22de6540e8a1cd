import Database

/// A compiled statement: which rows in which order, and how each is rendered as JSON.
struct QueryPlan {
  enum Output {
    /// Only the number of rows.
    case count
    /// Rows of aggregates and grouping values, with their keys.
    case aggregates(keys: [String], forms: [JSONForm])
    case records(RecordPlan)
  }

  let object: ObjectSchema
  /// Yields rowids in the requested order; for `.count` one number, for `.aggregates` the values.
  let sql: String
  let bindings: [SQLValue]
  let output: Output
  var use = RecordUse.none
}

/// How a column is rendered as JSON.
enum JSONForm: Sendable, Equatable {
  /// Text that needs no escaping: ids and dates.
  case plainText
  case text, boolean, integer, real
  /// A JSON object, which SQLite builds from the parts of an address.
  case json
  /// Binary data, rendered as the path to read it from.
  case bytes
  /// The output of FORMAT in the locale en_US: `1,234.5`, `$1,234.50`, `3/2/2026`, `3/2/2026, 9:00
  /// AM`.
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

  /// The form for FORMAT.
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

/// The columns to read for a row, and the structure of its JSON object.
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
    /// For TYPEOF: items that replace `items` for rows whose id has this prefix.
    var branches: [(prefix: String, items: [Item])] = []
  }

  /// Reads one row; its parameter is the rowid.
  let sql: String
  let root: RecordNode
}

/// The child rows of each row of a query.
struct ChildPlan: Sendable {
  /// Yields rowids; the first parameter is the parent's id, followed by `bindings`.
  let sql: String
  let bindings: [SQLValue]
  let record: RecordPlan
}
