/// How long to wait before the next try. A value: no clock and no randomness.
enum BackOff {
  /// - Parameters:
  ///   - attempt: The try that failed, from 1.
  ///   - random: In 0..<1.
  ///   - asked: Seconds the server asks for, by `Retry-After` or `x-rate-limit-reset`; they win when they are longer.
  /// - Returns: Seconds, or nil when there are no tries left.
  static func seconds(afterAttempt attempt: Int, of attempts: Int, random: Double, asked: Double?) -> Double? {
    guard attempt < attempts else { return nil }
    let bound = min(Tuning.longestBackOff, Double(1 << min(max(attempt, 0), 30)))
    return max(bound * (0.5 + random / 2), asked ?? 0)
  }
}
