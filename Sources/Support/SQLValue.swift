/// A value that a database stores or a statement binds. The types are those of SQLite; other
/// databases have more and convert.
package enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])

  package static func == (a: SQLValue, b: SQLValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.integer(let a), .integer(let b)): a == b
    case (.real(let a), .real(let b)): a == b
    case (.text(let a), .text(let b)): a == b
    case (.blob(let a), .blob(let b)): a == b
    default: false
    }
  }
}

/// The type of the value in a column of a row.
package enum ColumnType: Sendable { case integer, real, text, blob, null }
