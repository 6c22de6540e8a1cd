import MobileSync
import RestClient

extension RestError {
  /// True if the server has discarded the query cursor. Running the query again helps.
  ///
  /// - Note: Source: Salesforce REST API: 400, by some reports 404.
  var isExpiredLocator: Bool { code == .httpStatus && serverCode == "INVALID_QUERY_LOCATOR" }
}

/// Runs `body`, which follows the pages of a query, and runs it once more if the server has discarded the query cursor.
func startingAgainOnce<T>(_ body: () async throws -> T) async throws -> T {
  do {
    return try await body()
  } catch let error as RestError where error.isExpiredLocator {
    return try await body()
  }
}
