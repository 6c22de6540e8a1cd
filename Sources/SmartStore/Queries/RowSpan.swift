/// A run of rows of a query, in reading order.
package struct RowSpan {
  /// The row to start from; nil for the first row, or for the last row when reading backwards.
  package var key: RowKey?
  /// Whether the row at `key` is included.
  package var isInclusive = false
  /// The number of rows to skip first. Skipping reads only the index.
  package var skipping = 0
  /// The maximum number of rows.
  package var limit: Int

  package init(key: RowKey? = nil, skipping: Int = 0, limit: Int) {
    self.key = key
    self.skipping = skipping
    self.limit = limit
  }

  /// Reaches the row number `start`, counted from 0, by the shortest way.
  /// - Parameters:
  ///   - anchors: Known positions in the result.
  ///   - keyBefore: Returns the key of the row that is so many rows before another row, or before
  ///     the end; nil if there is none.
  /// - Returns: nil if there is no row with that number.
  package init?(
    from start: Int, limit: Int, by anchors: CursorAnchors?, keyBefore: (RowKey?, Int) throws -> RowKey?
  ) rethrows {
    self.init(skipping: start, limit: limit)
    switch anchors?.route(to: start) {
    case .at(let anchor)?: (key, isInclusive, skipping) = (anchor.key, true, 0)
    case .forwards(let anchor, let rows)?: (key, skipping) = (anchor?.key, rows)
    case .backwards(let anchor, let rows)?:
      guard let found = try keyBefore(anchor?.key, rows) else { return nil }
      (key, isInclusive, skipping) = (found, true, 0)
    case nil: break
    }
  }
}
