import Synchronization

/// Issues cursor ids. Stores that share an instance never use an id twice, so an old cursor id
/// never refers to a cursor of another store.
package final class CursorIds: Sendable {
  private let last = Atomic<Int64>(0)

  package init() {}

  func next() -> Int64 { last.add(1, ordering: .relaxed).newValue }
}

/// The open cursors of a store. A cursor consists of a query, the counts taken when it was opened,
/// and anchors; its pages are read from live data.
final class CursorTable: Sendable {
  struct Cursor: Sendable {
    let spec: QuerySpec
    let soup: String?
    let totalEntries: Int
    /// Known positions in the result.
    var anchors: CursorAnchors

    var totalPages: Int { (totalEntries + spec.pageSize - 1) / spec.pageSize }
  }

  private struct State {
    var open: [Int64: Cursor] = [:]
  }

  private let ids: CursorIds
  private let state = Mutex(State())

  init(_ ids: CursorIds) { self.ids = ids }

  /// Adds a cursor.
  /// - Returns: A new id.
  /// - Throws: ``StoreError`` `.tooManyCursors`.
  func add(_ cursor: Cursor) throws -> Int64 {
    try state.withLock { state in
      guard state.open.count < Tuning.maximumCursors else {
        throw StoreError(
          .tooManyCursors, "\(Tuning.maximumCursors) cursors are open; close those that you no longer need with closeCursor")
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

  /// Stores the anchors that a page read found. Does nothing if the cursor was closed meanwhile.
  func keep(_ anchors: CursorAnchors, for id: Int64) { state.withLock { $0.open[id]?.anchors = anchors } }

  func remove(_ id: Int64) { state.withLock { _ = $0.open.removeValue(forKey: id) } }
}
