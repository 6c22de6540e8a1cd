import Synchronization

/// The memory of a page that is being built, counted with that of all others in this process: many
/// queries at once must not use all memory. Each page has one, and returns its share when it is
/// released.
final class PageMemory {
  /// Bytes of all pages that are being built.
  private static let used = Atomic(0)

  private let most: Int
  private var reserved = 0

  /// - Parameter most: The limit for all pages. For tests.
  init(most: Int = Tuning.allPagesBytes) { self.most = most }

  deinit { Self.used.subtract(reserved, ordering: .relaxed) }

  /// The length of a text up to which no more memory is needed.
  private(set) var enough = 256 << 10

  /// Takes the memory for a longer text. Arrays grow to twice their size.
  /// - Throws: ``StoreError`` `.queryLimit` if all pages together need too much.
  func grow(to length: Int) throws(StoreError) {
    let wanted = length * 2 - reserved
    guard Self.used.add(wanted, ordering: .relaxed).newValue <= most else {
      Self.used.subtract(wanted, ordering: .relaxed)
      throw StoreError(
        .queryLimit,
        "the pages of all running queries need more than \(most) bytes; ask for fewer rows with 'pageSize', or for fewer pages "
          + "at once")
    }
    reserved += wanted
    enough = length * 2
  }
}
