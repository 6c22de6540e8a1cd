import SmartStore

/// The limits of a host's own part, each with its unit and its reason.
enum Tuning {
  /// Milliseconds a command may take to print the stores' key: enough to unlock a password manager.
  static let keyCommandTimeoutMs: Int64 = 60_000
  /// Milliseconds a file may take to give the key: a pipe may be one.
  static let keyFileTimeoutMs: Int64 = 10_000
  /// Bytes of a secret with its line break; one more is noticed.
  static let secretBytes = StoreKey.maximumBytes + 2
  /// Bytes of a connection's secret with its line break; one more is noticed. Tokens of some servers have several kilobytes.
  static let connectionSecretBytes = 32 * 1024 + 2
  /// Bytes of a session that a program keeps: tokens of some kilobytes each.
  static let sessionBytes = 256 * 1024
  /// Characters of what such a program says when it fails.
  static let shownErrors = 200
  /// Milliseconds to wait for another process that renews the same session.
  static let sessionLockPatienceMs: Int64 = 90_000
  /// Milliseconds the sf CLI may take for one answer: it may refresh a token first.
  static let salesforceCLITimeoutMs: Int64 = 60_000
  /// Bytes that the sf CLI may answer.
  static let salesforceCLIBytes = 1024 * 1024
  /// Seconds the program around a host may take to give a session: a person may have to sign in.
  static let programSessionS = 120.0
  /// Milliseconds to wait for another process that changes the orgs of the home: it writes a few small files.
  static let homeLockPatienceMs: Int64 = 30_000
  /// Milliseconds that stores to be moved or deleted wait for their last holder: a child process that is being started lets go
  /// within a few.
  static let storeLockPatienceMs: Int64 = 500
  /// Bytes of one file a script may send: as much as the model's org takes, and what fits in memory twice.
  static let largestUpload = 2_000_000_000 / 4
  /// Seconds that syncs have to reach the end of their page when another user becomes the current one.
  static let switchSeconds = 30.0
  /// Milliseconds between two writes of an org's usage: a sync has an answer every few milliseconds.
  static let usageWriteMs: Int64 = 10_000
  /// Milliseconds for which what was seen of an org's usage counts: calls of the last day leave it all the time.
  static let usageLifeMs: Int64 = 600_000
  /// Milliseconds that clocks of machines with a common home may be apart.
  static let usageClockSkewMs: Int64 = 60_000
}
