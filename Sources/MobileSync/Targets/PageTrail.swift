import RestClient

/// Notices when a server's pages lead in a circle, in the same memory for a million pages as for two.
///
/// - Note: Brent's method: one address is kept, exchanged for a later one each time the distance has doubled.
struct PageTrail: Sendable {
  private var kept: String?
  private var distance = 0
  private var longest = 1

  /// Call with where each page says that the next one is.
  /// - Throws: ``SyncError`` `.unexpectedAnswer`, naming the address, once the pages repeat.
  mutating func follow(_ address: String) throws(SyncError) {
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

extension RestError {
  /// The server no longer knows where a query's next page begins. Asking the query again helps.
  ///
  /// - Note: Source: Salesforce REST API: 400, by some reports 404.
  var isExpiredLocator: Bool { code == .httpStatus && serverCode == "INVALID_QUERY_LOCATOR" }
}

/// Runs something that follows the pages of a query, and once more from its beginning when the server forgot the query meanwhile.
func startingAgainOnce<T>(_ body: () async throws -> T) async throws -> T {
  do {
    return try await body()
  } catch let error as RestError where error.isExpiredLocator {
    return try await body()
  }
}
