/// Notices when a server's pages lead in a circle, in the same memory for a million pages as for two.
///
/// - Note: Brent's method: one address is kept, exchanged for a later one each time the distance has doubled.
package struct PageTrail: Sendable {
  private var kept: String?
  private var distance = 0
  private var longest = 1

  package init() {}

  /// Call with where each page says that the next one is.
  /// - Throws: ``SyncError`` `.unexpectedAnswer`, naming the address, once the pages repeat.
  package mutating func follow(_ address: String) throws(SyncError) {
    guard address != kept else {
      throw SyncError(
        .unexpectedAnswer,
        "the pages of the answer lead in a circle: '\(address)' came before, \(distance + 1) pages back; "
          + "this is an error of the server")
    }
    distance += 1
    guard distance == longest else { return }
    (kept, distance, longest) = (address, 0, longest * 2)
  }
}
