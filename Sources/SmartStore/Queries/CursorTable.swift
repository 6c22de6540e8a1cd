import Synchronization

/// The ids of cursors: never used twice among the stores that share it, so that the cursor of one that was closed is none of
/// another's.
package final class CursorIds: Sendable {
  private let last = Atomic<Int64>(0)

  package init() {}

  func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}

/// The open cursors of a store. A cursor is a query, the counts taken when it was opened, and where pages begin; pages run on
/// live data.
final class CursorTable: Sendable {
  struct Cursor: Sendable {
    let spec: QuerySpec
    let soup: String?
    let totalEntries: Int
    /// Where pages begin, as far as it is known.
    var marks: PageMarks

    var totalPages: Int { (totalEntries + spec.pageSize - 1) / spec.pageSize }
  }

  private struct State {
    var open: [Int64: Cursor] = [:]
  }

  private let ids: CursorIds
  private let state = Mutex(State())

  init(_ ids: CursorIds) { self.ids = ids }

  /// - Returns: An id never used before in this store.
  /// - Throws: ``StoreError`` `.tooManyCursors`.
  func add(_ cursor: Cursor) throws -> Int64 {
    try state.withLock { state in
      guard state.open.count < Tuning.maximumCursors else {
        throw StoreError(
          .tooManyCursors, "\(Tuning.maximumCursors) cursors are open; close those you are done with (closeCursor)")
      }
      let id = ids.next()
      state.open[id] = cursor
      return id
    }
  }

  func find(_ id: Int64) throws -> Cursor {
    guard let cursor = state.withLock({ $0.open[id] }) else {
      throw StoreError(.noSuchCursor, "Invalid cursor id \(id): it was closed, or never opened")
    }
    return cursor
  }

  /// Keeps what a page move found out; nothing happens when the cursor was closed meanwhile.
  func keep(_ marks: PageMarks, for id: Int64) { state.withLock { $0.open[id]?.marks = marks } }

  func remove(_ id: Int64) { state.withLock { _ = $0.open.removeValue(forKey: id) } }
}
