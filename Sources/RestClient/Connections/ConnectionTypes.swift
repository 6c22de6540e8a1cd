/// Options for sending one request over a connection.
public struct ConnectionOptions: Sendable {
  public var cache = CacheMode.default
  /// If false, the request does not use the response cache, whatever ``cache`` tells caches along
  /// the way. For callers that store the data themselves.
  public var usesResponseCache = true
  /// If false, URLs of any origin may be requested, without credentials.
  public var sameOrigin = true
  /// Headers in addition to those of the request, such as a target's. Their secrets are read like
  /// the connection's, and only sent to its origin.
  public var headers: [ConnectionSettings.Header] = []
  /// Milliseconds between two writes, if longer than the connection's `pauseMs`.
  public var pauseMs = 0

  /// Error statuses that the caller expects, such as the 404 of a record that may be gone. The
  /// request log does not report them as warnings.
  package var expectedStatuses: Set<Int> = []

  /// Omits the user's session, because the request obtains a new one.
  package var omitsSession = false

  /// For requests of restricted scripts: removes the connection's secrets from the server's
  /// response.
  public var hidesSecrets = false

  public init(
    cache: CacheMode = .default, sameOrigin: Bool = true, headers: [ConnectionSettings.Header] = [], hidesSecrets: Bool = false
  ) {
    self.cache = cache
    self.sameOrigin = sameOrigin
    self.headers = headers
    self.hidesSecrets = hidesSecrets
  }
}

/// A response of a named server, and how it was obtained.
public struct ConnectionResponse: Sendable {
  public let response: RestResponse
  /// The URL of the response after redirects: the base of relative URLs in it.
  public let url: String
  /// The new URL of the request if every redirect was permanent; worth storing in the target.
  public let movedTo: String?
  public let cache: CacheResult
  /// Seconds since the origin server generated or validated a cached response; nil if it was not
  /// cached.
  public let age: Double?

  public var status: Int { response.status }
  public var body: ResponseBody { response.body }
  public var isStale: Bool { cache == .stale }

  /// Returns the first header with the given name, ignoring case.
  public func header(_ name: String) -> String? { response.header(name) }
}
