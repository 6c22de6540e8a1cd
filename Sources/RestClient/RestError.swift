import JSON

/// Why a request gave no usable response.
///
/// Contains what the server said, but never a token, since nothing of the request is included.
public struct RestError: Error, Sendable {
  /// Stable: scripts and tests switch on it.
  public enum Code: String, CaseIterable, Sendable {
    /// No complete response: connection refused, timed out or interrupted.
    case noResponse
    /// The server's certificate is expired, belongs to another host, or is not signed by a trusted
    /// authority.
    case untrustedCertificate
    /// An error status. ``RestError/errors`` and ``RestError/body`` hold the server's response.
    case httpStatus
    /// A success status with a body of another form than requested.
    case invalidBody
    case responseTooLarge
    /// The URL and headers are longer than servers accept.
    case requestTooLarge
    /// There is no session and none can be obtained: credentials are missing, or the server revoked
    /// or refused them.
    case notAuthenticated
    /// The server refused the session twice, the second time right after a refresh.
    case sessionExpired
    case requestLimitExceeded
    case cancelled
    case invalidURL
    /// A header's name or value contains characters that cannot be sent.
    case invalidHeader
    case shutDown
    /// The server's quota is used up, or it demands a longer wait than is allowed; see
    /// ``RestError/resumeAt``.
    case quotaExhausted
    /// The server redirects the request to a URL that is not allowed.
    case redirectRefused
    /// A restricted script may not reach the host; see ``ReachableHosts``.
    case restricted
    /// Another process has held the sign-in lock for too long.
    case signInBusy
    /// The login host signed in to another org or user than the stored data belongs to.
    case otherOrg
  }

  /// When a refused call may succeed.
  package enum Passing: Sendable {
    /// Within the retries of one request.
    case soon
    /// Later than that, for example at midnight.
    case later
  }

  /// What is known about the effect of a failed call on the server.
  public enum Outcome: String, Sendable {
    /// The request was not sent completely, so the server cannot have acted on it.
    case notSent
    /// The server's response says that it did not execute the request.
    case answered
    /// The server may or may not have executed the request.
    case unknown
  }

  public let code: Code
  /// The server's first message for an error status, otherwise our own description.
  public internal(set) var message: String
  public let status: Int?
  public internal(set) var headers: [(name: String, value: String)]
  /// The server's body, verbatim.
  public internal(set) var body: String?
  /// The elements of the REST error array (`{message, errorCode, fields}`), or the single object of
  /// an OAuth error.
  public internal(set) var errors: [JSONValue]
  public let outcome: Outcome
  /// Set if the server's error code or message says that the call may succeed later; nil if only
  /// the status tells.
  package var passing: Passing?
  /// When the server will accept requests again, in milliseconds since 1970, if it says so.
  public var resumeAt: Int64?
  /// One word for scripts that says why a sign-in was refused; nil for other errors.
  public var reason: String?
  /// True if nothing was sent, because a local limit applied or this machine cannot send.
  public var isLocal = false
  /// True if an earlier attempt of the request may have been executed, even if the server refused
  /// this one.
  package private(set) var followsLostAttempt = false

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

  /// The server's time in seconds since 1970; nil without a `Date` header.
  package var serverTime: Double? { header("Date").flatMap { HTTPDate.secondsSince1970($0) }.map { Double($0) } }

  /// The `errorCode` (or `error`, from sign-in endpoints) of the first error.
  public var serverCode: String? {
    guard let first = errors.first else { return nil }
    return (first["errorCode"] ?? first["error"])?.stringValue
  }

  /// True if the unchanged call may succeed later. Says nothing about whether repeating it is safe:
  /// see ``outcome``.
  public var isRetryable: Bool {
    switch code {
    // Without libcurl, there is never a response.
    case .noResponse: !isLocal
    case .requestLimitExceeded, .quotaExhausted, .signInBusy: true
    case .httpStatus:
      status.map(RestError.transientStatuses.contains) ?? false
        || passing != nil
    case .untrustedCertificate, .invalidBody, .responseTooLarge, .requestTooLarge, .notAuthenticated, .sessionExpired,
      .cancelled, .invalidURL, .invalidHeader, .shutDown, .redirectRefused, .restricted, .otherOrg:
      false
    }
  }

  /// Transient statuses: overload, maintenance, an unreachable instance.
  static let transientStatuses: Set<Int> = [420, 429, 500, 502, 503, 504]
}

extension RestError {
  /// Whether the server may have executed the request. A refusal and an unsent request are certain;
  /// a success status without a usable body is not.
  package var mayHaveTakenEffect: Bool {
    if code == .invalidBody || code == .responseTooLarge { return true }
    if let status, status >= 500 { return true }
    return outcome == .unknown || followsLostAttempt
  }

  /// Returns this error as the error of a retry.
  ///
  /// - Parameter wasLost: Whether an earlier attempt may have been executed.
  package func following(lostAttempt wasLost: Bool) -> RestError {
    guard wasLost else { return self }
    var later = self
    later.followsLostAttempt = true
    return later
  }
}

extension RestError: Equatable {
  public static func == (a: RestError, b: RestError) -> Bool {
    a.code == b.code && a.message == b.message && a.status == b.status && a.body == b.body && a.errors == b.errors
      && a.outcome == b.outcome && a.resumeAt == b.resumeAt && a.reason == b.reason && a.isLocal == b.isLocal
      && a.followsLostAttempt == b.followsLostAttempt
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
