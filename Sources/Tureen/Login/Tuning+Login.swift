/// The limits of a browser sign-in.
extension Tuning {
  /// The maximum bytes of a request to the listener. A redirect of an org has one or two kilobytes.
  static let loginRequestBytes = 16 * 1024
  /// The maximum number of connections to the listener. Browsers open a few in advance.
  static let loginConnections = 8
  /// Milliseconds until a request to the listener must be complete.
  static let loginRequestMs = 10_000
  /// Milliseconds that a browser is kept waiting for the exchange of its code; people do not wait longer.
  static let loginHoldMs = 30_000
  /// Milliseconds that a browser on this machine has to fetch the final page.
  static let loginPageMs = 2_000
  /// Seconds that a person has to sign in.
  static let loginTimeoutS = 300
  /// Seconds until the person gets a hint, because an org that refuses without a redirect says so only in the browser.
  static let loginHintS = 60
}
