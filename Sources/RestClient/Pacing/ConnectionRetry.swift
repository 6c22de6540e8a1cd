/// Decides whether and when to retry a request of a connection. A pure value: it uses no clock and
/// no network.
///
/// A response counts as rate-limited by these signs, in this order: `Retry-After`, an exhausted
/// quota, a body that mentions a limit.
struct ConnectionRetry: Sendable {
  enum Step: Sendable, Equatable {
    /// The result is final.
    case stop
    case wait(seconds: Double)
    /// The requested wait exceeds `maxWaitS`; `until` is in seconds since 1970.
    case tooLong(until: Double)
  }

  /// Whether sending the request twice has the same effect on the server as sending it once.
  let isRepeatable: Bool
  let maxWaitS: Double
  let quota: ConnectionSettings.QuotaHeaders
  /// Failed attempts so far.
  private(set) var failures = 0
  /// Waits for a secondary rate limit so far.
  private(set) var secondaryWaits = 0

  /// Maximum attempts of a request that the server answers with 500.
  var internalErrorAttempts = ConnectionRetry.attempts

  static let attempts = 5
  static let longestBackoff = 60.0
  private static let transientStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  init(isRepeatable: Bool, maxWaitS: Double, quota: ConnectionSettings.QuotaHeaders) {
    self.isRepeatable = isRepeatable
    self.maxWaitS = maxWaitS
    self.quota = quota
  }

  /// Decides after an attempt without a response.
  ///
  /// - Parameter random: In 0..<1.
  mutating func step(after error: RestError, random: Double) -> Step {
    failures += 1
    guard error.code == .noResponse, !error.isLocal, isRepeatable || error.outcome == .notSent, failures < Self.attempts else {
      return .stop
    }
    return .wait(seconds: backoff(random))
  }

  /// Decides after a response with any status.
  mutating func step(after response: RestResponse, now: Double, random: Double) -> Step {
    let asked = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    if response.status == 429 || response.status == 403 { return limited(response, asked, now: now, random: random) }
    guard Self.transientStatuses.contains(response.status) else { return .stop }
    guard isRepeatable || (response.status == 503 && asked != nil) else { return .stop }
    failures += 1
    guard failures < (response.status == 500 ? internalErrorAttempts : Self.attempts) else { return .stop }
    return asked.map { waitOrGiveUp($0, now: now) } ?? .wait(seconds: backoff(random))
  }

  /// Whether a failing server may have executed the request. A 503 with `Retry-After` has not
  /// started it.
  static func mayHaveTakenEffect(_ response: RestResponse) -> Bool {
    response.status >= 500 && !(response.status == 503 && response.header("Retry-After") != nil)
  }

  /// Handles 403 and 429, where the server has not executed the request, so any method may be
  /// retried.
  private mutating func limited(_ response: RestResponse, _ asked: Double?, now: Double, random: Double) -> Step {
    if let asked { return failed() ?? waitOrGiveUp(asked, now: now) }
    let known = Quota(response.headers, quota, now: now)
    if known?.remaining == 0, let resetAt = known?.resetAt {
      return failed() ?? waitOrGiveUp(max(0, resetAt - now) + 1, now: now)
    }
    if Self.mentionsLimit(response) {
      guard secondaryWaits < Self.attempts else { return .stop }
      secondaryWaits += 1
      return waitOrGiveUp(60 * Double(1 << (secondaryWaits - 1)), now: now)
    }
    guard response.status == 429 else { return .stop }
    return failed() ?? .wait(seconds: backoff(random))
  }

  private mutating func failed() -> Step? {
    failures += 1
    return failures < Self.attempts ? nil : .stop
  }

  private func waitOrGiveUp(_ seconds: Double, now: Double) -> Step {
    seconds <= maxWaitS ? .wait(seconds: seconds) : .tooLong(until: now + seconds)
  }

  /// Back-off of 1, 2, 4, 8 ... seconds, jittered between half and all of it.
  private func backoff(_ random: Double) -> Double {
    min(Self.longestBackoff, Double(1 << min(failures - 1, 30))) * (0.5 + random / 2)
  }

  private static func mentionsLimit(_ response: RestResponse) -> Bool {
    guard response.body.count > 0 else { return false }
    let text = response.body.text.prefix(Tuning.loggedBody).lowercased()
    return ["rate limit", "rate-limit", "ratelimit", "rate_limit", "too many requests", "throttl"].contains {
      text.containsASCII($0)
    }
  }
}
