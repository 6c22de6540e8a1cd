/// How one request of a connection is sent.
public struct ConnectionOptions: Sendable {
  public var cache = CacheMode.default
  /// False leaves the response cache out, whatever ``cache`` tells caches on the way: for callers that keep the data themselves.
  public var usesStoredAnswers = true
  /// False follows URLs of any origin, without credentials.
  public var sameOrigin = true
  /// Headers beside those of the request, such as a target's; their secrets are read as the connection's are, and go to its own
  /// origin alone.
  public var headers: [ConnectionSettings.Header] = []
  /// Milliseconds between two writes, where that is longer than the connection's `pauseMs`.
  public var pauseMs = 0

  /// Refusals that the caller reckons with, such as the 404 of a record that may be gone: the request log tells of them as it
  /// tells of any answer.
  package var expectedStatuses: Set<Int> = []

  /// A user's session stays away: the request is to get one.
  package var leavesOutSession = false

  /// For requests of strangers: the connection's secrets are taken out of what the server says.
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

/// An answer of a named server, and how it was come by.
public struct ConnectionResponse: Sendable {
  public let response: RestResponse
  /// Where the answer is from, after redirects: the base of relative URLs in it.
  public let url: String
  /// The request's new address, when every redirect on the way was permanent; worth remembering with the target.
  public let movedTo: String?
  public let cache: CacheResult
  /// Seconds since the origin made or confirmed a stored answer; nil for one that was not stored.
  public let age: Double?

  public var status: Int { response.status }
  public var body: ResponseBody { response.body }
  public var isStale: Bool { cache == .stale }

  /// The first header of that name; names are compared without case.
  public func header(_ name: String) -> String? { response.header(name) }
}
