import Database

/// Where a row stands in the order of a query: what it is ordered by, then its entry id.
struct RowKey: Sendable, Equatable {
  /// NULL as well for queries that are ordered by ids alone.
  let value: SQLValue
  let id: Int64
}

/// Rows that lie next to each other in a query's order, as conditions that one index can answer, and their values.
struct RowRun: Equatable {
  /// Conditions on what rows are ordered by (`@`) and on their ids, in the order their values are bound.
  struct Conditions: OptionSet, Hashable {
    let rawValue: Int

    static let from = Conditions(rawValue: 1), through = Conditions(rawValue: 2), before = Conditions(rawValue: 4)
    static let above = Conditions(rawValue: 8), equal = Conditions(rawValue: 16)
    static let isNull = Conditions(rawValue: 32), isNotNull = Conditions(rawValue: 64)
    static let idAbove = Conditions(rawValue: 128), idFrom = Conditions(rawValue: 256)
    static let idBelow = Conditions(rawValue: 512), idThrough = Conditions(rawValue: 1024)
    static let bits = 11

    private static let texts: [(Conditions, String)] = [
      (.from, "@ >= ?"), (.through, "@ <= ?"), (.before, "@ < ?"), (.above, "@ > ?"), (.equal, "@ = ?"),
      (.isNull, "@ IS NULL"), (.isNotNull, "@ IS NOT NULL"),
      (.idAbove, "id > ?"), (.idFrom, "id >= ?"), (.idBelow, "id < ?"), (.idThrough, "id <= ?"),
    ]

    /// - Parameter order: The expression for `@`.
    func sql(_ order: String) -> String {
      Conditions.texts.filter { contains($0.0) }
        .map { $0.1.split(separator: "@", omittingEmptySubsequences: false).joined(separator: order) }
        .joined(separator: " AND ")
    }
  }

  /// Rows that meet one of these; more than one for queries that are sorted, which look at every row once.
  var alternatives: [Conditions]
  var values: [SQLValue]

  init(_ conditions: Conditions, _ values: [SQLValue]) {
    alternatives = [conditions]
    self.values = values
  }

  /// Several runs as one, for a statement that sorts.
  init(merging runs: [RowRun]) {
    alternatives = runs.flatMap(\.alternatives)
    values = runs.flatMap(\.values)
  }
}

/// What the keys of a query leave of its order: from `low` on, up to `high`.
struct RowRange: Equatable {
  var low: SQLValue?
  var high: SQLValue?
  /// `high` itself is left out.
  var isOpen = false

  /// The whole range.
  var run: RowRun {
    var conditions: RowRun.Conditions = []
    if low != nil { conditions.insert(.from) }
    if high != nil { conditions.insert(isOpen ? .before : .through) }
    return RowRun(conditions, [low, high].compactMap { $0 })
  }

  /// The runs that follow a row: behind it when values grow, before it when they fall.
  /// - Parameters:
  ///   - isOrdered: Rows are ordered by more than their ids.
  ///   - isInclusive: The row itself is the first of them.
  func runs(from key: RowKey, isOrdered: Bool, growing: Bool, isInclusive: Bool) -> [RowRun] {
    let ids: RowRun.Conditions = growing ? (isInclusive ? .idFrom : .idAbove) : (isInclusive ? .idThrough : .idBelow)
    let id = SQLValue.integer(key.id)
    guard isOrdered else { return [RowRun(ids, [id])] }
    guard key.value != .null else {
      return growing ? [RowRun([.isNull, ids], [id]), RowRun(.isNotNull, [])] : [RowRun([.isNull, ids], [id])]
    }
    if growing, let low, RowRange.isText(key.value, before: low) { return [run] }
    if growing, isOpen, let high, !RowRange.isText(key.value, before: high) { return [] }
    if !growing, let low, RowRange.isText(key.value, before: low) { return [] }
    if !growing, isOpen, let high, !RowRange.isText(key.value, before: high) { return [run] }
    var rest: RowRun
    if growing {
      rest = RowRun([.above], [key.value])
      if let high {
        rest = RowRun([isOpen ? .before : .through, .above], [high, key.value])
      }
    } else {
      rest = RowRun([.before], [key.value])
      if let low { rest = RowRun([.from, .before], [low, key.value]) }
    }
    let ties = RowRun([.equal, ids], [key.value, id])
    // NULLs come first; bounds leave them out.
    return !growing && low == nil && high == nil ? [ties, rest, RowRun(.isNull, [])] : [ties, rest]
  }

  /// As SQLite compares: byte by byte. False for anything but two texts.
  private static func isText(_ a: SQLValue, before b: SQLValue) -> Bool {
    guard case .text(let a) = a, case .text(let b) = b else { return false }
    return a.utf8.lexicographicallyPrecedes(b.utf8)
  }
}
