/// The verbs of the REST API.
public enum HTTPMethod: String, Sendable, CaseIterable {
  case GET, POST, PUT, PATCH, DELETE, HEAD

  /// True when sending the request twice leaves the server as sending it once does.
  public var isIdempotent: Bool {
    switch self {
    case .GET, .HEAD, .PUT, .DELETE: true
    case .POST, .PATCH: false
    }
  }
}

/// One HTTP request, before it knows its host and its token.
public struct RestRequest: Sendable {
  public var method: HTTPMethod

  /// A path on the instance (`/services/data/v66.0/query`), or an absolute `http(s)` URL. Already percent-encoded; it
  /// may hold a query of its own, as `nextRecordsUrl` may.
  public var path: String

  /// Parameters appended to the path. Names and values are plain text here; they are encoded when the request is sent.
  public var query: [(name: String, value: String)]

  /// Headers beside `Authorization`, `Content-Type`, `Accept` and `Accept-Encoding`; one named here wins over the
  /// default.
  public var headers: [(name: String, value: String)]

  public var body: [UInt8]?

  /// Sent when there is a body.
  public var contentType: String

  /// True when the request may be sent again although the outcome of the first try is unknown: GET, HEAD, PUT, DELETE,
  /// or a POST that only reads.
  public var isRepeatable: Bool

  /// False for the few resources that are open to everybody, such as the list of API versions. No token is sent then.
  public var requiresAuthentication: Bool = true

  /// Makes a request. Unless you say otherwise, it is repeatable if its method is idempotent.
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

  /// The path without anything behind `?`: what logs and traces may show.
  public var pathWithoutQuery: String { RestTrace.path(of: path) }
}
