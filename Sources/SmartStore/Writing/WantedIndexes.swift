import Synchronization

/// Soups that are queried by a path while they are loaded without indexes: such a query looks through the whole table, and takes
/// longer with every page. The load builds them at its next page and goes on with them. One a store; any thread.
final class WantedIndexes: Sendable {
  private let soups = Mutex<Set<Int64>>([])

  func insert(_ soup: Soup) { soups.withLock { _ = $0.insert(soup.number) } }

  /// - Returns: Whether they were wanted.
  func remove(_ soup: Soup) -> Bool { soups.withLock { $0.remove(soup.number) != nil } }
}
