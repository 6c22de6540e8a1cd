/// Limits of this module, each with its unit and its reason.
enum Tuning {
  /// Bytes of an encoded URL above which a query goes out as a POST: some proxies cut longer ones.
  static let queryURLBytes = 2_000
  /// Operations of one batch: the documented classic maximum, which some servers enforce.
  static let batchOperations = 50
  /// Ids of one look at the stamps of records, and of one look at which records are still there.
  static let stampIds = 100, presenceIds = 200
  /// Seconds a wait is at most before chance shortens it; a server may ask for longer.
  static let longestBackOff = 60.0
  /// Tries of one request, the first included; of one that failed with an internal error.
  static let attempts = 5, internalErrorAttempts = 3
}
