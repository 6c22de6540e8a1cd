/// The limits of workers.
extension Tuning {
  /// Milliseconds that a claimed job belongs to its worker without a sign of life: three missed heartbeats.
  static let jobClaimMs: Int64 = 30_000
  /// Milliseconds between looks for due jobs if no notification arrives: those can get lost, and jobs that another worker gives
  /// back send none.
  static let jobPollMs: Int64 = 5_000
  /// The minimum milliseconds between two looks, if a job is due that another worker is just taking.
  static let jobPauseMs: Int64 = 100
  /// Milliseconds after which the sign-ins of the home are read again, because `tureen login` may have added one.
  static let workerAccountsMs: Int64 = 30_000
  /// Milliseconds that attempts have to end at a page when a worker stops: less than the ten seconds after which container
  /// runtimes kill.
  static let workerGraceMs: Int64 = 6_000
  /// Milliseconds of the first pause after the database could not be reached, and of the longest.
  static let databasePauseMs: Int64 = 1_000, longestDatabasePauseMs: Int64 = 30_000
  /// The longest interval of a job in milliseconds: a mistyped unit must not overflow.
  static let longestJobIntervalMs: Int64 = 10 * 365 * 86_400_000
  /// Bytes of a job's name, and of a queue's: a row of an index has at most about 2,700 bytes.
  static let longestJobName = 1000
}
