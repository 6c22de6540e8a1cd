/// Limits of the pretend forge, each with its unit and its reason. Most are GitHub's own figures.
enum Tuning {
  /// Items of a page: unless asked for otherwise, and at most.
  static let pageItems = 30, largestPageItems = 100
  /// Rows of one list that page numbers reach, and of one search: 422 behind them.
  static let listedRows = 50_000, searchedRows = 1_000
  /// Requests in a window without a token, and with one; of searches likewise.
  static let anonymousRequests = 60, signedInRequests = 5_000, anonymousSearches = 10, signedInSearches = 30
  /// Seconds of a window: of requests, and of searches.
  static let windowSeconds: Int64 = 3_600, searchWindowSeconds: Int64 = 60
  /// Points of the secondary limit in a minute: a read costs 1, a write 5. Writes in a minute and in an hour.
  static let pointsPerMinute = 900, writesPerMinute = 80, writesPerHour = 500
  /// Wrong tokens within so many seconds after which a client is refused altogether, and for how long.
  static let wrongTokens = 5, wrongTokenSeconds: Int64 = 60, refusalSeconds: Int64 = 300
  /// Seconds an answer may be used again without asking.
  static let freshSeconds = 60
  /// Bytes of a title and of a body text.
  static let titleCharacters = 256, bodyCharacters = 65_536
  /// Pixels of an avatar's side, and the largest one that can be asked for.
  static let avatarPixels = 80, largestAvatarPixels = 460
}
