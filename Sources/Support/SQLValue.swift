/// A value that a database stores or a statement binds. The types are those of SQLite; other
/// databases have more and convert.
package enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case real(Double)
  case text(String)
  case blob([UInt8])
}

/// The type of the value in a column of a row.
package enum ColumnType: Sendable { case integer, real, text, blob, null }
