/// Known positions in a query's result, for keyset pagination: a page near an anchor is read from
/// it instead of counting from the first row.
///
/// Anchors are valid until the next commit to the file, so a page always equals the one that
/// counting would find in the current data. This is a plain value that holds the rules;
/// ``RowReader`` does the reading.
package struct CursorAnchors: Sendable {
  /// What a connection reads: two equal views contain the same data.
  package struct View: Sendable, Equatable {
    /// The number of the reader, if only the same one can compare versions; else 0.
    package let reader: Int
    package let version: Int64

    package init(reader: Int, version: Int64) {
      self.reader = reader
      self.version = version
    }
  }

  package struct Anchor: Sendable, Equatable {
    /// The row's number, counted from 0.
    package let row: Int
    package let key: RowKey
  }

  /// How to reach a row.
  package enum Route: Equatable {
    /// Skips rows after the anchor, or from the first row on.
    case forwards(Anchor?, skipping: Int)
    case at(Anchor)
    /// Skips rows before the anchor, or from the last row backwards.
    case backwards(Anchor?, skipping: Int)
  }

  package private(set) var view: View?
  /// In ascending order of rows.
  private var anchors: [Anchor] = []
  /// The number of rows in the whole result, if known.
  private var total: Int?

  package init() {}

  /// Drops all anchors if the data has changed.
  package mutating func begin(_ view: View) {
    if view != self.view { self = CursorAnchors() }
    self.view = view
  }

  /// Marks the anchors as valid in this view, in which the result has `total` rows.
  package mutating func hold(in view: View, total: Int) {
    self.view = view
    self.total = total
  }

  /// Returns the route that skips the fewest rows.
  package func route(to row: Int) -> Route {
    let above = anchors.firstIndex { $0.row > row } ?? anchors.endIndex
    let below = above > 0 ? anchors[above - 1] : nil
    if let below, below.row == row { return .at(below) }
    let next = above < anchors.endIndex ? anchors[above] : nil
    let skipped = row - (below?.row ?? -1) - 1, back = (next?.row ?? total ?? 0) - row - 1
    // Going backwards only locates the row; it is then read forwards.
    return back >= 0 && back < skipped ? .backwards(next, skipping: back) : .forwards(below, skipping: skipped)
  }

  package func contains(row: Int) -> Bool { anchors.contains { $0.row == row } }

  /// Adds an anchor. Ignores rows with long keys. If there are too many anchors, the one whose
  /// removal leaves the smallest gap is dropped.
  package mutating func add(row: Int, _ key: RowKey) {
    if case .text(let text) = key.value, text.utf8.count > Tuning.anchorBytes { return }
    if case .blob = key.value { return }
    guard !contains(row: row) else { return }
    anchors.insert(Anchor(row: row, key: key), at: anchors.firstIndex { $0.row > row } ?? anchors.endIndex)
    guard anchors.count > Tuning.cursorAnchors else { return }
    let gaps = (1..<anchors.count - 1).filter { anchors[$0].row != row }.map {
      (at: $0, rows: anchors[$0 + 1].row - anchors[$0 - 1].row)
    }
    if let smallest = gaps.min(by: { $0.rows < $1.rows }) { anchors.remove(at: smallest.at) }
  }
}
