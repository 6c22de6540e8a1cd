/// Detects that a server's pages form a cycle, with constant memory.
///
/// - Note: Brent's algorithm: it keeps one address and replaces it by a later one each time the
///   distance has doubled.
package struct PageTrail: Sendable {
  private var kept: String?
  private var distance = 0
  private var longest = 1

  package init() {}

  /// Call with the address of the next page that each page gives.
  /// - Throws: ``SyncError`` `.unexpectedAnswer`, naming the address, once the pages repeat.
  package mutating func follow(_ address: String) throws(SyncError) {
    guard address != kept else {
      let before = distance == 0 ? "just before" : "\(distance + 1) pages earlier"
      throw SyncError(
        .unexpectedAnswer,
        "the pages of the answer repeat: '\(address)' was fetched \(before); this is an error of the server")
    }
    distance += 1
    guard distance == longest else { return }
    (kept, distance, longest) = (address, 0, longest * 2)
  }
}
