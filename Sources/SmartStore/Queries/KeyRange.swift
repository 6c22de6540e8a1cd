import Support

/// The sort key of a row: the value that the query orders by, then the entry id.
package struct RowKey: Sendable, Equatable {
  /// NULL also for queries that are ordered by ids only.
  package let value: SQLValue
  package let id: Int64

  package init(value: SQLValue, id: Int64) {
    self.value = value
    self.id = id
  }
}

/// A contiguous range of rows in a query's order, as conditions that one index can answer, with
/// their values.
package struct KeyRange: Equatable {
  /// Conditions on the sort value (`@`) and on the ids, in the order in which their values are
  /// bound.
  package struct Conditions: OptionSet, Hashable {
    package let rawValue: Int

    package init(rawValue: Int) { self.rawValue = rawValue }

    package static let from = Conditions(rawValue: 1), through = Conditions(rawValue: 2), before = Conditions(rawValue: 4)
    package static let above = Conditions(rawValue: 8), equal = Conditions(rawValue: 16)
    package static let isNull = Conditions(rawValue: 32), isNotNull = Conditions(rawValue: 64)
    package static let idAbove = Conditions(rawValue: 128), idFrom = Conditions(rawValue: 256)
    package static let idBelow = Conditions(rawValue: 512), idThrough = Conditions(rawValue: 1024)
    static let bits = 11

    private static let texts: [(Conditions, String)] = [
      (.from, "@ >= ?"), (.through, "@ <= ?"), (.before, "@ < ?"), (.above, "@ > ?"), (.equal, "@ = ?"),
      (.isNull, "@ IS NULL"), (.isNotNull, "@ IS NOT NULL"),
      (.idAbove, "id > ?"), (.idFrom, "id >= ?"), (.idBelow, "id < ?"), (.idThrough, "id <= ?"),
    ]

    /// - Parameter order: The SQL expression for `@`.
    package func sql(_ order: String) -> String {
      Conditions.texts.filter { contains($0.0) }
        .map { $0.1.split(separator: "@", omittingEmptySubsequences: false).joined(separator: order) }
        .joined(separator: " AND ")
    }
  }

  /// A row must meet one of these. Queries that sort have several alternatives, because they
  /// examine every row only once.
  package var alternatives: [Conditions]
  package var values: [SQLValue]

  package init(_ conditions: Conditions, _ values: [SQLValue]) {
    alternatives = [conditions]
    self.values = values
  }

  /// Merges several ranges into one, for a statement that sorts.
  package init(merging ranges: [KeyRange]) {
    alternatives = ranges.flatMap(\.alternatives)
    values = ranges.flatMap(\.values)
  }
}

/// The part of the sort order that a query's keys allow: from `low` to `high`.
package struct KeyBounds: Equatable {
  package var low: SQLValue?
  package var high: SQLValue?
  /// Whether `high` itself is excluded.
  package var isOpen: Bool

  package init(low: SQLValue? = nil, high: SQLValue? = nil, isOpen: Bool = false) {
    self.low = low
    self.high = high
    self.isOpen = isOpen
  }

  /// The whole range.
  package var range: KeyRange {
    var conditions: KeyRange.Conditions = []
    if low != nil { conditions.insert(.from) }
    if high != nil { conditions.insert(isOpen ? .before : .through) }
    return KeyRange(conditions, [low, high].compactMap { $0 })
  }

  /// Returns the ranges that follow a row: rows after it if the order is ascending, rows before it
  /// if it is descending.
  /// - Parameters:
  ///   - isOrdered: Whether rows are ordered by a value besides their ids.
  ///   - isInclusive: Whether the first range starts with the row itself.
  package func ranges(from key: RowKey, isOrdered: Bool, ascending: Bool, isInclusive: Bool) -> [KeyRange] {
    let ids: KeyRange.Conditions = ascending ? (isInclusive ? .idFrom : .idAbove) : (isInclusive ? .idThrough : .idBelow)
    let id = SQLValue.integer(key.id)
    guard isOrdered else { return [KeyRange(ids, [id])] }
    guard key.value != .null else {
      return ascending ? [KeyRange([.isNull, ids], [id]), KeyRange(.isNotNull, [])] : [KeyRange([.isNull, ids], [id])]
    }
    if ascending, let low, KeyBounds.isText(key.value, before: low) { return [range] }
    if ascending, isOpen, let high, !KeyBounds.isText(key.value, before: high) { return [] }
    if !ascending, let low, KeyBounds.isText(key.value, before: low) { return [] }
    if !ascending, isOpen, let high, !KeyBounds.isText(key.value, before: high) { return [range] }
    var rest: KeyRange
    if ascending {
      rest = KeyRange([.above], [key.value])
      if let high {
        rest = KeyRange([isOpen ? .before : .through, .above], [high, key.value])
      }
    } else {
      rest = KeyRange([.before], [key.value])
      if let low { rest = KeyRange([.from, .before], [low, key.value]) }
    }
    let ties = KeyRange([.equal, ids], [key.value, id])
    // NULLs come first; a range with bounds excludes them.
    return !ascending && low == nil && high == nil ? [ties, rest, KeyRange(.isNull, [])] : [ties, rest]
  }

  /// Compares texts byte by byte, as SQLite does. Returns false unless both values are text.
  private static func isText(_ a: SQLValue, before b: SQLValue) -> Bool {
    guard case .text(let a) = a, case .text(let b) = b else { return false }
    return a.utf8.lexicographicallyPrecedes(b.utf8)
  }
}
