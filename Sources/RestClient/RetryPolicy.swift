import Support

/// Decides whether and when to retry a failed request. A pure value: it uses no clock, randomness
/// or network.
///
/// Uses exponential back-off with full jitter: each wait is random between zero and a bound that
/// doubles, so that clients that failed together do not retry together.
public struct RetryPolicy: Sendable, Equatable {
  public enum Decision: Sendable, Equatable {
    case stop
    case wait(seconds: Double)
  }

  /// Maximum attempts, including the first.
  public var attempts: Int
  /// The bound of the first wait, in seconds.
  public var firstBackoff: Double
  /// The longest wait, in seconds.
  public var longestBackoff: Double

  public init(
    attempts: Int = Tuning.attempts, firstBackoff: Double = Tuning.firstBackoff,
    longestBackoff: Double = Tuning.longestBackoff
  ) {
    self.attempts = attempts
    self.firstBackoff = firstBackoff
    self.longestBackoff = longestBackoff
  }

  public static let standard = RetryPolicy()
  /// Makes a single attempt.
  public static let never = RetryPolicy(attempts: 1)

  /// Decides what to do after a failed attempt.
  ///
  /// - Parameters:
  ///   - attempt: The number of the failed attempt, from 1.
  ///   - isRepeatable: Whether the request may be retried although the server may have executed it.
  ///   - error: Why the attempt failed.
  ///   - now: Seconds since 1970, to evaluate a date in `Retry-After`.
  ///   - random: In 0..<1.
  /// - Note: If the server asks for a longer wait than ``longestBackoff``, the decision is to stop:
  ///   an earlier retry would be refused as well, and the caller should know now.
  public func decide(
    afterAttempt attempt: Int, isRepeatable: Bool, error: RestError, now: Double, random: Double
  ) -> Decision {
    guard attempt < attempts, isWorthwhile(error, attempt: attempt) else { return .stop }
    guard isRepeatable || error.outcome == .notSent else { return .stop }
    let jitter = random * min(longestBackoff, firstBackoff * exponent(attempt))
    guard let asked = error.header("Retry-After").flatMap({ RetryAfter.seconds($0, now: now) }) else {
      return .wait(seconds: jitter)
    }
    guard asked <= longestBackoff else { return .stop }
    return .wait(seconds: min(longestBackoff, asked + random * firstBackoff))
  }

  private func exponent(_ attempt: Int) -> Double {
    Double(1 << min(max(attempt - 1, 0), 30))
  }

  /// Stricter than ``RestError/isRetryable``: a daily limit ends, but not within a back-off.
  private func isWorthwhile(_ error: RestError, attempt: Int) -> Bool {
    switch error.code {
    case .noResponse: !error.isLocal
    case .requestLimitExceeded: error.passing == .soon
    case .httpStatus:
      switch error.status ?? 0 {
      case 420: attempt <= 2  // a deleted instance answers this forever
      case let status: RestError.transientStatuses.contains(status)
      }
    default: false
    }
  }
}

/// The clock and randomness of retries; tests substitute their own.
public struct RetryEnvironment: Sendable {
  /// Waits for a number of seconds; throws if the task is cancelled.
  public var sleep: @Sendable (Double) async throws -> Void
  /// In 0..<1.
  public var random: @Sendable () -> Double
  /// Seconds since 1970.
  public var now: @Sendable () -> Double

  public init(
    sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double,
    now: @escaping @Sendable () -> Double
  ) {
    self.sleep = sleep
    self.random = random
    self.now = now
  }

  public static let live = RetryEnvironment(
    sleep: { try await Task.sleep(nanoseconds: UInt64(saturating: max(0, $0) * 1e9)) },
    random: { Double.random(in: 0..<1) },
    now: { SystemClock.secondsSince1970() })
}
