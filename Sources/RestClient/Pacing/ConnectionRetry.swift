/// Decides whether a request of a connection is sent again, and when. A value: no clock, no network.
///
/// Whether the answer is a limit is asked in this order: `Retry-After`, an empty quota, a text that speaks of a limit.
struct ConnectionRetry: Sendable {
  enum Step: Sendable, Equatable {
    /// What came is the result.
    case stop
    case wait(seconds: Double)
    /// The server asks for more patience than is allowed; seconds since 1970.
    case tooLong(until: Double)
  }

  /// Whether repeating the request leaves the server as sending it once does.
  let isRepeatable: Bool
  let maxWaitS: Double
  let quota: ConnectionSettings.QuotaHeaders
  /// Tries that have failed so far.
  private(set) var failures = 0
  /// Waits for a secondary limit so far.
  private(set) var secondaryWaits = 0

  /// Tries of a request that the server answers with 500.
  var internalErrorAttempts = ConnectionRetry.attempts

  static let attempts = 5
  static let longestBackoff = 60.0
  private static let passing: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  init(isRepeatable: Bool, maxWaitS: Double, quota: ConnectionSettings.QuotaHeaders) {
    self.isRepeatable = isRepeatable
    self.maxWaitS = maxWaitS
    self.quota = quota
  }

  /// After a try without an answer.
  /// - Parameter random: In 0..<1.
  mutating func step(after error: RestError, random: Double) -> Step {
    failures += 1
    guard error.code == .noResponse, isRepeatable || error.outcome == .notSent, failures < Self.attempts else { return .stop }
    return .wait(seconds: backoff(random))
  }

  /// After an answer, whatever its status.
  mutating func step(after response: RestResponse, now: Double, random: Double) -> Step {
    let asked = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: now) }
    if response.status == 429 || response.status == 403 { return limited(response, asked, now: now, random: random) }
    guard Self.passing.contains(response.status) else { return .stop }
    guard isRepeatable || (response.status == 503 && asked != nil) else { return .stop }
    failures += 1
    guard failures < (response.status == 500 ? internalErrorAttempts : Self.attempts) else { return .stop }
    return asked.map { patience($0, now: now) } ?? .wait(seconds: backoff(random))
  }

  /// Whether a server that failed may have done what it was asked. One that names the time to come back has not begun.
  static func mayHaveActed(_ response: RestResponse) -> Bool {
    response.status >= 500 && !(response.status == 503 && response.header("Retry-After") != nil)
  }

  /// The server did nothing but count: every method may be sent again.
  private mutating func limited(_ response: RestResponse, _ asked: Double?, now: Double, random: Double) -> Step {
    if let asked { return failed() ?? patience(asked, now: now) }
    let known = Quota(response.headers, quota, now: now)
    if known?.remaining == 0, let resetAt = known?.resetAt { return failed() ?? patience(max(0, resetAt - now) + 1, now: now) }
    if Self.speaksOfLimit(response) {
      guard secondaryWaits < Self.attempts else { return .stop }
      secondaryWaits += 1
      return patience(60 * Double(1 << (secondaryWaits - 1)), now: now)
    }
    guard response.status == 429 else { return .stop }
    return failed() ?? .wait(seconds: backoff(random))
  }

  private mutating func failed() -> Step? {
    failures += 1
    return failures < Self.attempts ? nil : .stop
  }

  private func patience(_ seconds: Double, now: Double) -> Step {
    seconds <= maxWaitS ? .wait(seconds: seconds) : .tooLong(until: now + seconds)
  }

  /// 1, 2, 4, 8 ... seconds, of which at least half.
  private func backoff(_ random: Double) -> Double {
    min(Self.longestBackoff, Double(1 << min(failures - 1, 30))) * (0.5 + random / 2)
  }

  private static func speaksOfLimit(_ response: RestResponse) -> Bool {
    guard response.body.count > 0 else { return false }
    let text = response.body.text.prefix(Tuning.loggedBody).lowercased()
    return ["rate limit", "rate-limit", "ratelimit", "rate_limit", "too many requests", "throttl"].contains {
      text.containsASCII($0)
    }
  }
}
