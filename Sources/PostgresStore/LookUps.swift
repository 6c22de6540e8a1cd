import SmartStore
import Support

/// Statements that go through an index for each of many keys.
///
/// The planner has no statistics of a table before the first ANALYZE. For a page of keys it would read the whole table,
/// which makes a first load slower with each page.
extension PostgresSnapshot {
  /// Runs `body`, whose statements find rows by their id or an indexed column: they are planned with nested loops over
  /// indexes.
  func byIndex<T>(_ body: () throws -> T) rethrows -> T {
    server.add(Self.planning("off"))
    defer { server.add(Self.planning("on")) }
    return try body()
  }

  private static func planning(_ other: String) -> String {
    "SELECT "
      + ["seqscan", "hashjoin", "mergejoin"].map { "set_config('enable_\($0)', '\(other)', true)" }.joined(separator: ", ")
  }

  /// Finds the rows of each key.
  /// - Parameters:
  ///   - value: The value of the soup's table that equals a key.
  ///   - columns: The expressions to select; the first is `id`.
  /// - Returns: Rows of a key's position, counted from 1, and the columns; in the order of the keys, then of the ids.
  func find(
    _ keys: [SQLValue?], by value: SoupValue, in table: SoupTable, selecting columns: [String]
  ) throws -> PostgresRows {
    let source = "unnest($1) WITH ORDINALITY AS k(k_v, k_n)", selected = columns.joined(separator: ", ")
    let condition = value.joined(to: "k_v"), parameters = [value.keys(keys)]
    guard value.hasIndex else {
      return try query("SELECT k_n, \(selected) FROM \(source) JOIN \(table.sql) ON \(condition) ORDER BY k_n, id", parameters)
    }
    // OFFSET 0 keeps the planner from making a join of it.
    return try byIndex {
      try query(
        """
        SELECT k_n, f.* FROM \(source) CROSS JOIN LATERAL (SELECT \(selected) FROM \(table.sql) WHERE \(condition) OFFSET 0) AS f
        ORDER BY k_n, id
        """, parameters)
    }
  }
}
