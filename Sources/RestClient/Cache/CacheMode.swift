/// How a request uses the response cache.
public enum CacheMode: String, CaseIterable, Sendable {
  /// Serve fresh responses without a request and validate stale ones. Used for single GETs of
  /// scripts.
  case `default`
  /// Always validate before use. Used for syncs.
  case revalidate
  /// Ignore the stored response and replace it.
  case reload
  /// Neither read nor store. Used for uploads and token requests.
  case bypass
  /// Use stored responses only; fail with a 504 if there is none.
  case offline

  /// The `Cache-Control` directive sent with the request, for caches along the way.
  var directive: String? {
    switch self {
    case .default: nil
    case .revalidate: "no-cache"
    case .reload: "max-age=0"
    case .bypass: "no-store"
    case .offline: "only-if-cached"
    }
  }
}

/// How the cache took part in a response. The raw value appears in the request log.
public enum CacheResult: String, Sendable {
  /// Served from the cache without a request.
  case hit
  /// The server confirmed the stored response (304).
  case revalidated
  /// Fetched from the server.
  case miss
  /// Served from the cache although no longer fresh.
  case stale
  /// The cache was not used.
  case bypass
}
