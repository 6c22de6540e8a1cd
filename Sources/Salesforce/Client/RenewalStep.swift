import RestClient

/// The reason for a renewal, weakest first. A renewal that was started for a weaker cause does not satisfy a stronger one.
enum RenewalCause: Int, Comparable, Sendable {
  /// The instance is unreachable; the login host may name another one.
  case unreachable
  /// There is no session, or the server has refused the one in use.
  case needed
  /// A person or a script requests a new session; a stored refusal is ignored.
  case asked

  static func < (a: RenewalCause, b: RenewalCause) -> Bool { a.rawValue < b.rawValue }
}

/// Decides what a renewal does once it holds the lock and has read the stored state. A plain value without clock and network.
enum RenewalStep: Equatable {
  /// Use the session that another process has obtained.
  case use(Session)
  /// Fail with the stored refusal, which still holds.
  case fail(StoredSession.Refusal)
  /// Do nothing: there is no new session, and the login host was asked recently.
  case leave
  case ask

  /// The minimum seconds between two sign-ins because of an unreachable instance.
  static let unreachableInterval = 300.0

  /// - Parameters:
  ///   - token: The access token that is no longer valid; nil if there was none.
  ///   - isOfSameCredentials: Whether the stored refusal was caused by the credentials in use.
  ///   - now: Seconds since 1970.
  init(_ cause: RenewalCause, kept: StoredSession, replacing token: String?, isOfSameCredentials: Bool, now: Double) {
    let holds = kept.refusal.map { isOfSameCredentials && $0.holds(at: now) } ?? false
    if let session = kept.session, session.accessToken != token, cause != .asked || kept.refusal == nil {
      self = .use(session)
      return
    }
    switch cause {
    case .asked: self = .ask
    case .needed: self = if let refusal = kept.refusal, holds { .fail(refusal) } else { .ask }
    case .unreachable:
      let since = now - (kept.unreachableAt ?? -.infinity)
      // A time in the future means that the clock was set back.
      self = holds || (0..<Self.unreachableInterval).contains(since) ? .leave : .ask
    }
  }
}

extension StoredSession.Refusal {
  /// The seconds to wait after the first, second, third and every further consecutive refusal.
  static let waits = [60.0, 300, 900, 3600]

  /// - Parameters:
  ///   - known: The previous refusal.
  ///   - key: The digest of the refused credentials.
  init(
    _ error: RestError, _ reason: SignInReason, after known: StoredSession.Refusal?, isOfSameCredentials: Bool, key: String,
    now: Double
  ) {
    let count = isOfSameCredentials ? (known?.count ?? 0) + 1 : 1
    self.init(
      reason: reason.rawValue, message: error.message,
      until: reason.isFinal ? nil : now + Self.waits[min(count, Self.waits.count) - 1], count: count, key: key)
  }

  /// Returns true while the login host must not be asked again.
  /// - Parameter now: Seconds since 1970. If the end is further away than the longest wait, the clock was set back, and the
  ///   refusal no longer holds.
  func holds(at now: Double) -> Bool {
    guard let until else { return true }
    return now < until && until - now <= Self.waits[Self.waits.count - 1]
  }

  /// The error of requests that are not sent because of this refusal.
  var error: RestError {
    let end = until.map { "after \(LogText.time($0))" } ?? "when the credentials change"
    var error = RestError(
      code: .notAuthenticated,
      message: "\(message); it is asked again \(end), or by oauth.authenticate and `tureen login`", outcome: .notSent)
    error.reason = reason
    return error
  }
}

extension SignInReason {
  /// True if waiting does not help.
  var isFinal: Bool { self == .sessionEnded || self == .wrongCredentials }

  /// True if the refusal is stored. Decisions that a person made in a browser are not.
  var isKept: Bool { self != .denied && self != .needsPerson }
}
