/// What a request wants of the response cache.
public enum CacheMode: String, CaseIterable, Sendable {
  /// Fresh answers are served without a request, stale ones are validated. For single GETs of scripts.
  case `default`
  /// Always validated before use. For syncs.
  case revalidate
  /// A stored answer is ignored and replaced.
  case reload
  /// Neither read nor stored. For uploads and token requests.
  case bypass
  /// Stored answers only; a 504 where there is none.
  case offline

  /// What the request tells caches on the way.
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

/// What the cache did for an answer; the word in the request log.
public enum CacheResult: String, Sendable {
  /// Served without a request.
  case hit
  /// The server said that the stored answer still holds (304).
  case revalidated
  /// From the server.
  case miss
  /// Served although it is no longer fresh.
  case stale
  /// The cache took no part.
  case bypass
}
