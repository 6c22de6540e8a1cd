/// A server's own record of deletions. Asking it costs as much as was deleted, not as much as
/// exists.
package protocol DeletionFeed: Sendable {
  /// Returns which of `ids` were deleted and are still deleted.
  ///
  /// - Parameter since: ms since 1970 UTC, by the server's clock.
  /// - Returns: nil if the feed does not reach back that far or does not cover the type.
  /// - Throws: `RestError` if other requests would fail as well.
  func gone(among ids: [String], since: Int64, in context: FetchContext) async throws -> IdSet?
}
