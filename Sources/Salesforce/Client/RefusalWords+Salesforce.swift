import RestClient

extension RefusalWords {
  /// The error codes of Salesforce by how soon they pass. The two limits on concurrent requests pass within seconds, the daily
  /// limit does not.
  ///
  /// - Note: Source: Salesforce REST API Developer Guide, status codes and error responses, and the API limits.
  package static let salesforce = RefusalWords(
    limits: ["REQUEST_LIMIT_EXCEEDED"], momentary: ["ConcurrentPerOrgLongTxn", "ConcurrentRequests"],
    passing: ["UNABLE_TO_LOCK_ROW", "QUERY_TIMEOUT", "SERVER_UNAVAILABLE", "rate_limit_exceeded", "unknown_error"])
}
