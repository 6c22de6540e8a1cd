/// Limits of the pretend Parse server, each with its unit and its reason. Most are Parse Server's own figures.
enum Tuning {
  /// Objects of a page unless the query says otherwise.
  static let pageObjects = 100
  /// Bytes of a request body: the stock upload limit.
  static let bodyBytes = 20 * 1024 * 1024
  /// Characters of an object id, of a file name at most, and hexadecimal digits of a session token.
  static let idCharacters = 10, fileNameCharacters = 128, tokenDigits = 32
  /// Seconds a session lives, and a request id is remembered.
  static let sessionSeconds = 31_536_000, requestIdSeconds = 300
  /// Mean radius of the earth, which turns radians into distances.
  static let earthKilometers = 6371.0, earthMiles = 3958.8
  /// Levels of an include path and of a nested query.
  static let queryDepth = 20
}
