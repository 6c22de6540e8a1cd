/// How deep a query nests, and how many SELECTs it has. Counted before SQLite sees the query.
///
/// SQLite's parser had a stack of 100 places, which kept queries flat. In newer versions, such as
/// 3.46 in SQLCipher 4.6, the stack grows: SQLite accepts thousands of nested SELECTs, recurses
/// into them, and the overflow of the thread's stack ends the process. Every version recurses from
/// a SELECT to the one before it in a UNION, and to those that it names in a WITH clause.
struct QueryNesting {
  private var depth = 0, selects = 0

  /// Counts a parenthesis that opens.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func open() throws(StoreError) {
    depth += 1
    guard depth <= Tuning.queryParentheses else {
      throw StoreError(
        .queryLimit,
        "the smart SQL has more than \(Tuning.queryParentheses) parentheses inside one another; move inner queries into "
          + "a WITH clause")
    }
  }

  /// Counts a parenthesis that closes. One too many is left to SQLite.
  mutating func close() { depth = max(0, depth - 1) }

  /// Counts a SELECT or VALUES.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func addSelect() throws(StoreError) {
    selects += 1
    guard selects <= Tuning.querySelects else {
      throw StoreError(.queryLimit, "the smart SQL has more than \(Tuning.querySelects) SELECTs; split the query")
    }
  }
}
