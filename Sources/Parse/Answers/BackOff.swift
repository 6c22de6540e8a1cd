/// Computes the wait before the next attempt. A pure function: it uses no clock and no randomness.
enum BackOff {
  /// Returns the wait after a failed attempt.
  ///
  /// - Parameters:
  ///   - attempt: The number of the failed attempt, from 1.
  ///   - random: In 0..<1.
  ///   - asked: Seconds requested by `Retry-After` or `x-rate-limit-reset`; they apply if they are
  ///     longer.
  /// - Returns: Seconds, or nil if there are no attempts left.
  static func seconds(afterAttempt attempt: Int, of attempts: Int, random: Double, asked: Double?) -> Double? {
    guard attempt < attempts else { return nil }
    let bound = min(Tuning.longestBackOff, Double(1 << min(max(attempt, 0), 30)))
    return max(bound * (0.5 + random / 2), asked ?? 0)
  }
}
