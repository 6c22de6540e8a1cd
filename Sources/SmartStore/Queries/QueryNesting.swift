/// How deep a query nests, and how many SELECTs it has. Counted before SQLite sees the query.
///
/// SQLite's parser had a stack of 100 places, which kept queries flat. In newer versions, such as
/// 3.46 in SQLCipher 4.6, the stack grows: SQLite accepts thousands of nested SELECTs, recurses
/// into them, and the overflow of the thread's stack ends the process. Every version recurses from
/// a SELECT to the one before it in a UNION, and to those that it names in a WITH clause.
///
/// The time that SQLite prepares a query, during which nothing interrupts it, grows with the square of the terms of an
/// AND and of the calls of functions, and with the third power of the windows.
struct QueryNesting {
  private var depth = 0, selects = 0, windows = 0, terms = 0, calls = 0

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

  private func check(_ count: Int, _ most: Int, _ what: String) throws(StoreError) {
    guard count > most else { return }
    throw StoreError(.queryLimit, "the smart SQL has more than \(most) \(what); split the query")
  }

  /// Counts an OVER.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func addWindow() throws(StoreError) {
    windows += 1
    try check(windows, Tuning.queryWindows, "OVERs")
  }

  /// Counts an AND.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func addTerm() throws(StoreError) {
    terms += 1
    try check(terms, Tuning.queryTerms, "ANDs")
  }

  /// Counts a parenthesis after a word, as a call of a function has it.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func addCall() throws(StoreError) {
    calls += 1
    try check(calls, Tuning.queryCalls, "calls of functions")
  }

  /// Counts a SELECT or VALUES.
  /// - Throws: ``StoreError`` `.queryLimit`.
  mutating func addSelect() throws(StoreError) {
    selects += 1
    guard selects <= Tuning.querySelects else {
      throw StoreError(.queryLimit, "the smart SQL has more than \(Tuning.querySelects) SELECTs; split the query")
    }
  }
}
