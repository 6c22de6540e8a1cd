import MobileSync
import RestClient

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
