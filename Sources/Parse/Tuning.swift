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
  /// Objects of a page: the usual number, and what hosted servers gave at most. Servers may lower it without a word.
  static let pageSize = 500, largestPage = 1_000
  /// How far a later run looks back, ms: stamps are given when a request begins, and by clocks of several servers.
  static let overlapMs: Int64 = 30_000
  /// Requests for the links of owners under way at once; the connection's own limit holds as well.
  static let linkRequests = 4
  /// No larger part of the rows goes as ghosts without being told so.
  static let largestGhostShare = 0.5
  /// Characters of a file's name, as the server allows.
  static let fileNameCharacters = 128
  /// Uploaded files that a client remembers, so that a second save of their object makes no second file.
  static let rememberedFiles = 1_000
  /// Link rows that one sync up reads and writes back together. Owners cut in two cost one request more.
  static let linkRows = 500
}
