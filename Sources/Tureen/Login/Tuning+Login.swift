/// The limits of a person's sign-in.
extension Tuning {
  /// Bytes of a request to the listener of a sign-in: an answer of an org has one or two kilobytes.
  static let loginRequestBytes = 16 * 1024
  /// Connections to that listener: browsers open a few in advance.
  static let loginConnections = 8
  /// Milliseconds until a request to it has to be complete.
  static let loginRequestMs = 10_000
  /// Milliseconds a browser waits for the exchange of its code: as long as people wait.
  static let loginHoldMs = 30_000
  /// Milliseconds a browser has to fetch the page that ends a sign-in: it is on this machine.
  static let loginPageMs = 2_000
  /// Seconds a person has to sign in.
  static let loginTimeoutS = 300
  /// Seconds after which a person gets a hint: an org that refuses without a redirect says so in the browser alone.
  static let loginHintS = 60
}
