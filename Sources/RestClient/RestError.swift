import JSON

/// Why a request gave no usable answer.
///
/// Carries the server's own words, never a token: what goes to the server is not in here.
public struct RestError: Error, Sendable {
  /// Stable: scripts and tests switch on it.
  public enum Code: String, CaseIterable, Sendable {
    /// No complete answer: refused, timed out, cut off in the middle.
    case noResponse
    /// The server's certificate rests on no authority that is trusted here, has expired, or is another host's.
    case untrustedCertificate
    /// An error status; ``RestError/errors`` and ``RestError/body`` hold what the server said.
    case httpStatus
    /// A good status with a body that is not what was asked for.
    case invalidBody
    case responseTooLarge
    /// The URL and the headers are longer than any server takes.
    case requestTooLarge
    /// There is no session and none can be had: no credentials, or the server revoked or refused them.
    case notAuthenticated
    /// The server refused the session twice, the second time right after a refresh.
    case sessionExpired
    case requestLimitExceeded
    case cancelled
    case invalidURL
    /// A header's name or value holds what cannot be sent.
    case invalidHeader
    case shutDown
    /// The server's quota is used up, or it asks for a longer wait than is allowed; ``RestError/resumeAt`` says until when.
    case quotaExhausted
    /// The server sends the request elsewhere, and it must not go there.
    case redirectRefused
    /// Another process has been signing in for too long.
    case signInBusy
    /// The login host signed in to another org, or as another user, than the data kept here are of.
    case otherOrg
  }

  /// When a call that a server refused may succeed.
  package enum Passing: Sendable {
    /// Within the waits between two tries.
    case soon
    /// Not within them: at midnight, say.
    case later
  }

  /// What is known about the server's side when a call failed.
  public enum Outcome: String, Sendable {
    /// The request never left this machine, or not all of it: the server cannot have acted on it.
    case notSent
    /// The server answered, and the answer says that it did not do it.
    case answered
    /// The server may have done it or not.
    case unknown
  }

  public let code: Code
  /// For an error status the server's first message, else a sentence of ours.
  public internal(set) var message: String
  public let status: Int?
  public internal(set) var headers: [(name: String, value: String)]
  /// The server's body as it came, for people and scripts to read.
  public internal(set) var body: String?
  /// The elements of the REST error array (`{message, errorCode, fields}`), or the one object of an OAuth error.
  public internal(set) var errors: [JSONValue]
  public let outcome: Outcome
  /// Whether the server's own words say that the same call may succeed later; nil where only the status tells.
  package var passing: Passing?
  /// Milliseconds since 1970: when the server will answer again, where it has said so.
  public var resumeAt: Int64?
  /// Why a sign-in was refused, in one word that scripts switch on; nil for other errors.
  public var reason: String?
  /// Nothing was asked: this side keeps to a limit of its own.
  public var isLocal = false
  /// The request was sent before, and the server may have carried out that try, whatever it said to this one.
  package private(set) var followsLostTry = false

  public init(
    code: Code, message: String, status: Int? = nil, headers: [(name: String, value: String)] = [],
    body: String? = nil, errors: [JSONValue] = [], outcome: Outcome = .answered
  ) {
    self.code = code
    self.message = message
    self.status = status
    self.headers = headers
    self.body = body
    self.errors = errors
    self.outcome = outcome
  }

  public func header(_ name: String) -> String? {
    headers.first { $0.name.equalsIgnoringCase(name) }?.value
  }

  /// Seconds since 1970 by the server's clock; nil when the answer names no time.
  package var serverTime: Double? { header("Date").flatMap { HTTPDate.secondsSince1970($0) }.map { Double($0) } }

  /// `errorCode` (or `error`, from the sign-in pages) of the first error.
  public var serverCode: String? {
    guard let first = errors.first else { return nil }
    return (first["errorCode"] ?? first["error"])?.stringValue
  }

  /// True when the same call, unchanged, may succeed later. Says nothing about whether it is safe: see ``outcome``.
  public var isRetryable: Bool {
    switch code {
    case .noResponse, .requestLimitExceeded, .quotaExhausted, .signInBusy: true
    case .httpStatus:
      status.map(RestError.passingStatuses.contains) ?? false
        || passing != nil
    case .untrustedCertificate, .invalidBody, .responseTooLarge, .requestTooLarge, .notAuthenticated, .sessionExpired,
      .cancelled, .invalidURL, .invalidHeader, .shutDown, .redirectRefused, .otherOrg:
      false
    }
  }

  /// Statuses that pass by themselves: overload, maintenance, an instance that cannot be reached.
  static let passingStatuses: Set<Int> = [420, 429, 500, 502, 503, 504]
}

extension RestError {
  /// Whether the server may have done what a request asked for. An answer that says no is certain; so is a request that never
  /// left. A good status without a usable body is not.
  package var mayHaveHappened: Bool {
    if code == .invalidBody || code == .responseTooLarge { return true }
    if let status, status >= 500 { return true }
    return outcome == .unknown || followsLostTry
  }

  /// This error as that of a request's later try.
  /// - Parameter wasLost: An earlier one may have been carried out.
  package func following(lostTry wasLost: Bool) -> RestError {
    guard wasLost else { return self }
    var later = self
    later.followsLostTry = true
    return later
  }
}

extension RestError: Equatable {
  public static func == (a: RestError, b: RestError) -> Bool {
    a.code == b.code && a.message == b.message && a.status == b.status && a.body == b.body && a.errors == b.errors
      && a.outcome == b.outcome && a.resumeAt == b.resumeAt && a.reason == b.reason && a.isLocal == b.isLocal
      && a.followsLostTry == b.followsLostTry
      && a.headers.elementsEqual(b.headers) { $0.name == $1.name && $0.value == $1.value }
  }
}

extension RestError: CustomStringConvertible {
  public var description: String {
    var text = "rest.\(code.rawValue)"
    if let status { text += " (HTTP \(status))" }
    return text + ": " + message
  }
}
