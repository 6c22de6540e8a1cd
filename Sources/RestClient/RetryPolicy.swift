import Support

/// Decides whether and when a failed request is sent again. A value: no clock, no randomness, no network.
///
/// Exponential back-off with full jitter: the wait is drawn from zero to a bound that doubles, so that clients which
/// failed together do not come back together.
public struct RetryPolicy: Sendable, Equatable {
  public enum Decision: Sendable, Equatable {
    case stop
    case wait(seconds: Double)
  }

  /// Tries, the first included.
  public var attempts: Int
  /// Seconds: the bound of the first wait.
  public var firstBackoff: Double
  /// Seconds: no wait is longer.
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
  /// One try only.
  public static let never = RetryPolicy(attempts: 1)

  /// - Parameters:
  ///   - attempt: The try that failed, from 1.
  ///   - isRepeatable: Whether the request may be sent again although the server may have carried it out.
  ///   - error: Why the try failed.
  ///   - now: Seconds since 1970, to read a date in `Retry-After`.
  ///   - random: In 0..<1.
  /// - Note: When the server asks for a longer wait than ``longestBackoff``, the answer is to stop: coming back early
  ///   would be refused too, and the caller of the sync should hear of it now.
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

  /// Not the same as "may succeed later": the daily limit passes, but not within a back-off.
  private func isWorthwhile(_ error: RestError, attempt: Int) -> Bool {
    switch error.code {
    case .noResponse: true
    case .requestLimitExceeded: error.passing == .soon
    case .httpStatus:
      switch error.status ?? 0 {
      case 420: attempt <= 2  // an instance that is gone answers this for ever
      case let status: RestError.passingStatuses.contains(status)
      }
    default: false
    }
  }
}

/// What a retry needs from the world. Tests pass their own.
public struct RetryEnvironment: Sendable {
  /// Seconds; throws when the task is cancelled meanwhile.
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
    sleep: { try await Task.sleep(nanoseconds: UInt64(max(0, $0) * 1e9)) },
    random: { Double.random(in: 0..<1) },
    now: { SystemClock.secondsSince1970() })
}
