/// HTTP methods.
public enum HTTPMethod: String, Sendable, CaseIterable {
  case GET, POST, PUT, PATCH, DELETE, HEAD

  /// True if sending the request twice has the same effect on the server as sending it once.
  public var isIdempotent: Bool {
    switch self {
    case .GET, .HEAD, .PUT, .DELETE: true
    case .POST, .PATCH: false
    }
  }
}

/// An HTTP request, independent of host and token.
public struct RestRequest: Sendable {
  public var method: HTTPMethod

  /// A path on the server (`/services/data/v66.0/query`), or an absolute `http(s)` URL. Must be
  /// percent-encoded and may include a query, as `nextRecordsUrl` does.
  public var path: String

  /// Parameters to append to the path. Names and values are plain text; they are encoded when the
  /// request is sent.
  public var query: [(name: String, value: String)]

  /// Headers in addition to `Authorization`, `Content-Type`, `Accept` and `Accept-Encoding`. A
  /// header given here overrides the default.
  public var headers: [(name: String, value: String)]

  public var body: [UInt8]?

  /// Only sent if there is a body.
  public var contentType: String

  /// True if the request may be retried when the outcome of an attempt is unknown: GET, HEAD, PUT,
  /// DELETE, or a POST that only reads.
  public var isRepeatable: Bool

  /// False for the few public resources, such as the list of API versions. They are requested
  /// without a token.
  public var requiresAuthentication: Bool = true

  /// Makes a request. By default, it is repeatable if its method is idempotent.
  public init(
    _ method: HTTPMethod,
    _ path: String,
    query: [(name: String, value: String)] = [],
    headers: [(name: String, value: String)] = [],
    body: [UInt8]? = nil,
    contentType: String = "application/json",
    isRepeatable: Bool? = nil,
    requiresAuthentication: Bool = true
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.contentType = contentType
    self.isRepeatable = isRepeatable ?? method.isIdempotent
    self.requiresAuthentication = requiresAuthentication
  }

  /// The path without query and fragment, which is safe for logs and traces.
  public var pathWithoutQuery: String { RestTrace.path(of: path) }
}
