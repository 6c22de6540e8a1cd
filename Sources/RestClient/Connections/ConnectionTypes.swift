/// How one request of a connection is sent.
public struct ConnectionOptions: Sendable {
  public var cache = CacheMode.default
  /// False follows URLs of any origin, without credentials.
  public var sameOrigin = true
  /// Names of request headers that hold secrets, beside the usual ones: for the connection's own origin alone.
  public var secretHeaders: [String] = []

  /// For requests of strangers: the connection's secrets are taken out of what the server says.
  public var hidesSecrets = false

  public init(
    cache: CacheMode = .default, sameOrigin: Bool = true, secretHeaders: [String] = [], hidesSecrets: Bool = false
  ) {
    self.cache = cache
    self.sameOrigin = sameOrigin
    self.secretHeaders = secretHeaders
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
