/// Sends requests to a server. All communication with a server goes through this protocol.
public protocol RestClient: Sendable {
  /// The version of the server's API, such as `v66.0`, for building requests.
  var apiVersion: String { get }

  /// Sends a request and waits for the whole response. Signs in, refreshes the session, and retries
  /// where that is safe.
  ///
  /// - Returns: A response with status 2xx, 300 or 304.
  /// - Throws: ``RestError`` for everything else; `.cancelled` soon after the task is cancelled.
  func send(_ request: RestRequest) async throws -> RestResponse

  /// Ends requests in flight and closes the connections. Later calls throw ``RestError``
  /// `.shutDown`. Safe to call twice.
  func shutdown() async
}
