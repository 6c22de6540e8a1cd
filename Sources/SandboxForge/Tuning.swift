/// Limits of the pretend forge, each with its unit and its reason. Most are GitHub's own.
enum Tuning {
  /// Default and maximum number of items per page.
  static let pageItems = 30, largestPageItems = 100
  /// Rows of a list and of a search that page numbers can reach; 422 beyond.
  static let listedRows = 50_000, searchedRows = 1_000
  /// Requests per window without and with a token; the same for searches.
  static let anonymousRequests = 60, signedInRequests = 5_000, anonymousSearches = 10, signedInSearches = 30
  /// The length of a window in seconds, for requests and for searches.
  static let windowSeconds: Int64 = 3_600, searchWindowSeconds: Int64 = 60
  /// Points per minute of the secondary limit (a read costs 1, a write 5); writes per minute and
  /// per hour.
  static let pointsPerMinute = 900, writesPerMinute = 80, writesPerHour = 500
  /// How many wrong tokens within how many seconds block a client, and for how many seconds.
  static let wrongTokens = 5, wrongTokenSeconds: Int64 = 60, refusalSeconds: Int64 = 300
  /// Seconds for which a response may be reused without revalidation.
  static let freshSeconds = 60
  /// Maximum characters of a title and of a body.
  static let titleCharacters = 256, bodyCharacters = 65_536
  /// The default and maximum side of an avatar in pixels.
  static let avatarPixels = 80, largestAvatarPixels = 460
}
