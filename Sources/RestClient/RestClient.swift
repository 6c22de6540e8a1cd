/// The door to a server: everything that talks to one does it through this.
public protocol RestClient: Sendable {
  /// The version of the server's API, for those who build requests; such as `v66.0`.
  var apiVersion: String { get }

  /// Sends a request and waits for the whole answer. Signs in, refreshes the session and repeats what is safe to
  /// repeat.
  ///
  /// - Returns: Answers with status 2xx, 300 and 304.
  /// - Throws: ``RestError`` for everything else; `.cancelled` soon after the task is cancelled.
  func send(_ request: RestRequest) async throws -> RestResponse

  /// Ends what is under way and closes the connections. Later calls get ``RestError`` `.shutDown`. Safe twice.
  func shutdown() async
}
