/// A server's own record of deletions: asking it costs what changed, not what there is.
package protocol DeletionFeed: Sendable {
  /// Which of `ids` were deleted and are still gone.
  ///
  /// - Parameter since: ms since 1970 UTC, by the server's clock.
  /// - Returns: nil when the feed cannot tell: it does not reach back so far, or the type has none.
  /// - Throws: `RestError` when nothing else can be asked either.
  func gone(among ids: [String], since: Int64, in context: FetchContext) async throws -> Set<String>?
}
