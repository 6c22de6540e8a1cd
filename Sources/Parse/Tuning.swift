/// Limits of this module, each with its unit and its reason.
enum Tuning {
  /// Bytes of an encoded URL above which a query is sent as a POST, because some proxies truncate
  /// longer URLs.
  static let queryURLBytes = 2_000
  /// Operations per batch: the documented classic maximum, which some servers enforce.
  static let batchOperations = 50
  /// Ids per request for the time stamps of records, and per request that checks which records
  /// still exist.
  static let stampIds = 100, presenceIds = 200
  /// The longest back-off in seconds, before jitter shortens it. A server may ask for a longer
  /// wait.
  static let longestBackOff = 60.0
  /// Attempts of one request, including the first; and of one that failed with an internal error.
  static let attempts = 5, internalErrorAttempts = 3
  /// Objects per page: the default, and the maximum of hosted servers. A server may silently lower
  /// it.
  static let pageSize = 500, largestPage = 1_000
  /// How far later runs look back, in ms: time stamps are set when a request begins, and by several
  /// servers' clocks.
  static let overlapMs: Int64 = 30_000
  /// Concurrent requests for the relations of owners; the connection's own limit applies as well.
  static let linkRequests = 4
  /// The largest share of rows that is removed as ghosts without `force`.
  static let largestGhostShare = 0.5
  /// The server's limit for the length of a file name, in characters.
  static let fileNameCharacters = 128
  /// Uploaded files that a client remembers, so that saving their object again does not upload them
  /// twice.
  static let rememberedFiles = 1_000
  /// Link rows that one sync up reads and writes back together. An owner split across two such
  /// batches costs one more request.
  static let linkRows = 500
}
