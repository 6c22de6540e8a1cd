import Database

/// Rows of a result whose number is known, so that a page near one need not be counted up to from the beginning.
///
/// They hold until the next commit to the file: a page is always the one that counting would find in the data
/// as they are. A value: the rules are here, what they lead to is read elsewhere.
struct PageMarks: Sendable {
  /// What a reading connection saw: two views that are equal saw the same data.
  struct View: Sendable, Equatable {
    /// Number of the connection: its versions mean nothing to another.
    let reader: Int
    let version: Int64
  }

  struct Mark: Sendable, Equatable {
    /// Counted from 0.
    let row: Int
    let key: RowKey
  }

  /// How to get to a row.
  enum Way: Equatable {
    /// Pass `skipping` rows behind the mark, or from the first row on.
    case forwards(Mark?, skipping: Int)
    case at(Mark)
    /// Pass `skipping` rows before the mark, or from the last row back.
    case backwards(Mark?, skipping: Int)
  }

  private(set) var view: View?
  /// Ascending rows.
  private var marks: [Mark] = []
  /// Rows of the whole result.
  private var total: Int?

  /// Forgets everything when the data are not what they were.
  mutating func begin(_ view: View) {
    if view != self.view { self = PageMarks() }
    self.view = view
  }

  /// What is marked so far was read in this view, in which the result has `total` rows.
  mutating func hold(in view: View, total: Int) {
    self.view = view
    self.total = total
  }

  func way(to row: Int) -> Way {
    let above = marks.firstIndex { $0.row > row } ?? marks.endIndex
    let below = above > 0 ? marks[above - 1] : nil
    if let below, below.row == row { return .at(below) }
    let next = above < marks.endIndex ? marks[above] : nil
    let skipped = row - (below?.row ?? -1) - 1, back = (next?.row ?? total ?? 0) - row - 1
    // On the way back the row is only found, and read from there.
    return back >= 0 && back < skipped ? .backwards(next, skipping: back) : .forwards(below, skipping: skipped)
  }

  func knows(row: Int) -> Bool { marks.contains { $0.row == row } }

  /// Remembers a row. Long values are not kept; of too many the one goes that
  /// leaves the smallest gap.
  mutating func add(row: Int, _ key: RowKey) {
    if case .text(let text) = key.value, text.utf8.count > Tuning.markBytes { return }
    if case .blob = key.value { return }
    guard !knows(row: row) else { return }
    marks.insert(Mark(row: row, key: key), at: marks.firstIndex { $0.row > row } ?? marks.endIndex)
    guard marks.count > Tuning.cursorMarks else { return }
    let gaps = (1..<marks.count - 1).filter { marks[$0].row != row }.map { (at: $0, rows: marks[$0 + 1].row - marks[$0 - 1].row) }
    if let smallest = gaps.min(by: { $0.rows < $1.rows }) { marks.remove(at: smallest.at) }
  }
}
