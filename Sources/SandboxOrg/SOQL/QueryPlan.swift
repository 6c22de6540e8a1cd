import Database

/// A statement made ready for SQLite: which rows in which order, and how each one is written as JSON.
struct QueryPlan {
  enum Output {
    /// Only the number of rows is wanted.
    case count
    /// One row of aggregates, with their keys.
    case aggregates(keys: [String], sql: String, forms: [JSONForm])
    case records(RecordPlan)
  }

  let object: ObjectSchema
  /// Yields rowids in the order asked for; for `.count`, one number.
  let rowsSQL: String
  let bindings: [SQLValue]
  let output: Output
}

/// How a column becomes JSON.
enum JSONForm: Sendable {
  /// Text without anything to escape: ids, dates, moments.
  case plainText
  case text, boolean, integer, real
}

extension FieldSchema {
  var form: JSONForm {
    switch type {
    case .id, .reference, .date, .datetime: return .plainText
    case .boolean: return .boolean
    case .int: return .integer
    case .double, .currency, .percent: return .real
    default: return .text
    }
  }
}

/// The columns to read for one row and the shape of the object they make.
struct RecordPlan: Sendable {
  indirect enum Item: Sendable {
    case field(name: String, column: Int32, JSONForm)
    case parent(name: String, RecordNode)
  }
  struct RecordNode: Sendable {
    /// Object names by id prefix.
    let types: [(prefix: String, name: String)]
    let idColumn: Int32
    var items: [Item]
  }

  /// Reads one row; its parameter is the rowid.
  let sql: String
  let root: RecordNode
}
