import Synchronization

/// Soups that were queried by a path during a bulk load. Such a query scans the whole table and
/// gets slower with every page, so the next page builds the indexes and the load continues with
/// them. One instance per store; any thread.
package final class WantedIndexes: Sendable {
  private let soups = Mutex<Set<Int64>>([])

  package init() {}

  package func insert(_ soup: Soup) { soups.withLock { _ = $0.insert(soup.number) } }

  /// - Returns: Whether the soup's indexes were wanted.
  package func remove(_ soup: Soup) -> Bool { soups.withLock { $0.remove(soup.number) != nil } }
}
