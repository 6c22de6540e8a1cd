/// Limits of the pretend Parse server, each with its unit and its reason. Most are parse-server's
/// own.
enum Tuning {
  /// Default number of objects per page.
  static let pageObjects = 100
  /// Maximum bytes of a request body: parse-server's default upload limit.
  static let bodyBytes = 20 * 1024 * 1024
  /// Characters of an object id, maximum characters of a file name, and hexadecimal digits of a
  /// session token.
  static let idCharacters = 10, fileNameCharacters = 128, tokenDigits = 32
  /// Seconds for which a session is valid, and for which a request id is remembered.
  static let sessionSeconds = 31_536_000, requestIdSeconds = 300
  /// Mean radius of the earth, which converts radians to distances.
  static let earthKilometers = 6371.0, earthMiles = 3958.8
  /// Maximum depth of an include path and of a nested query.
  static let queryDepth = 20
}
