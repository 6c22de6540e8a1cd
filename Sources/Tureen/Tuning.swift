import SmartStore

/// The limits of the host, each with its unit and its reason.
enum Tuning {
  /// Milliseconds that a command may take to print a key: enough to unlock a password manager.
  static let keyCommandTimeoutMs: Int64 = 60_000
  /// Milliseconds that reading a key file may take, because the file may be a pipe.
  static let keyFileTimeoutMs: Int64 = 10_000
  /// The buffer size for a secret: its maximum, a line break, and one byte to detect longer input.
  static let secretBytes = StoreKey.maximumBytes + 2
  /// The buffer size for a connection's secret, with a line break and one byte to detect longer input. Tokens of some servers
  /// have several kilobytes.
  static let connectionSecretBytes = 32 * 1024 + 2
  /// The maximum bytes of a session that a program stores: its tokens may have some kilobytes each.
  static let sessionBytes = 256 * 1024
  /// The maximum characters of such a program's standard error in a message.
  static let shownErrors = 200
  /// Milliseconds to wait for another process that is renewing the same session.
  static let sessionLockPatienceMs: Int64 = 90_000
  /// Milliseconds that a command of the sf CLI may take: it may refresh a token first.
  static let salesforceCLITimeoutMs: Int64 = 60_000
  /// The maximum bytes of output of the sf CLI.
  static let salesforceCLIBytes = 1024 * 1024
  /// Seconds that the embedding program may take to give a session: a person may have to sign in.
  static let programSessionS = 120.0
  /// Milliseconds to wait for another process that is changing the orgs of the home, which writes a few small files.
  static let homeLockPatienceMs: Int64 = 30_000
  /// Milliseconds to wait for the last user of a store that is to be moved or deleted: a child process that is being started
  /// releases its copy of the lock within a few milliseconds.
  static let storeLockPatienceMs: Int64 = 500
  /// The maximum bytes of a file that a script may send. The upload needs up to twice as much memory.
  static let largestUpload = 2_000_000_000 / 4
  /// Seconds that syncs have to finish their page before a switch of users.
  static let switchSeconds = 30.0
  /// Milliseconds between two writes of an org's usage, because a sync gets a response every few milliseconds.
  static let usageWriteMs: Int64 = 10_000
  /// Milliseconds for which a known usage is valid: it covers a sliding window of 24 hours and changes steadily.
  static let usageLifeMs: Int64 = 600_000
  /// The maximum clock difference, in milliseconds, between machines that share a home.
  static let usageClockSkewMs: Int64 = 60_000
}
