import RestClient

/// Why a session is renewed. A stronger cause is not served by a renewal that was begun for a weaker one.
enum RenewalCause: Int, Comparable, Sendable {
  /// The instance cannot be reached: the login host may know another one.
  case unreachable
  /// There is no session, or the server has refused the one in use.
  case needed
  /// A person or a script asks for a new one: a refusal that was kept does not count.
  case asked

  static func < (a: RenewalCause, b: RenewalCause) -> Bool { a.rawValue < b.rawValue }
}

/// What a renewal does once it has the lock and knows what is kept. A value: no clock, no network.
enum RenewalStep: Equatable {
  /// Another process has renewed it.
  case use(Session)
  /// The login host has refused, and that still holds.
  case fail(KeptSession.Refusal)
  /// There is nothing new, and the login host was asked a short while ago.
  case leave
  case ask

  /// Seconds between two questions because the instance cannot be reached.
  static let unreachableInterval = 300.0

  /// - Parameters:
  ///   - token: The access token that is not good any more; nil when there was none.
  ///   - isOfSameCredentials: Whether the refusal that is kept is one of the credentials in use.
  ///   - now: Seconds since 1970.
  init(_ cause: RenewalCause, kept: KeptSession, replacing token: String?, isOfSameCredentials: Bool, now: Double) {
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
      // A time to come is one of a clock that was set back.
      self = holds || (0..<Self.unreachableInterval).contains(since) ? .leave : .ask
    }
  }
}

extension KeptSession.Refusal {
  /// Seconds: how long the login host is not asked after one, two, three and more refusals in a row.
  static let waits = [60.0, 300, 900, 3600]

  /// - Parameters:
  ///   - known: The refusal before this one.
  ///   - key: Of what was sent.
  init(
    _ error: RestError, _ reason: SignInReason, after known: KeptSession.Refusal?, isOfSameCredentials: Bool, key: String,
    now: Double
  ) {
    let count = isOfSameCredentials ? (known?.count ?? 0) + 1 : 1
    self.init(
      reason: reason.rawValue, message: error.message,
      until: reason.isFinal ? nil : now + Self.waits[min(count, Self.waits.count) - 1], count: count, key: key)
  }

  /// - Parameter now: Seconds since 1970. An end that is further away than any wait is one of a clock that was set back.
  func holds(at now: Double) -> Bool {
    guard let until else { return true }
    return now < until && until - now <= Self.waits[Self.waits.count - 1]
  }

  /// What requests get that are not sent because of it.
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
  /// Whether waiting does not help.
  var isFinal: Bool { self == .sessionEnded || self == .wrongCredentials }

  /// Whether it is kept: what a person did in a browser is not.
  var isKept: Bool { self != .denied && self != .needsPerson }
}
