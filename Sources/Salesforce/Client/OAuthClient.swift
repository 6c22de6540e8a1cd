import Logging
import RestClient
import Support

/// Gets sessions from a login host's token endpoint.
public struct OAuthClient: Sendable {
  let sender: RequestSender

  public init(
    transport: HTTPTransport, policy: RetryPolicy = .standard, environment: RetryEnvironment = .live,
    observer: (any RestObserver)? = nil, logger: Logger = Logger.tureen("rest")
  ) {
    sender = RequestSender(
      transport: transport, refusalWords: .salesforce, policy: policy, environment: environment, observer: observer,
      logger: logger)
  }

  init(sender: RequestSender) {
    self.sender = sender
  }

  /// Controls the retries of a token request.
  struct Attempts: Sendable {
    /// Sends the request only once: the caller has already waited for another host.
    var isSingle = false
    /// Looks for a session that another process has obtained in the meantime.
    var other: @Sendable () async -> Session? = { nil }

    init(isSingle: Bool = false, other: @escaping @Sendable () async -> Session? = { nil }) {
      self.isSingle = isSingle
      self.other = other
    }
  }

  /// Signs in.
  ///
  /// - Parameter previous: The session that the new one replaces. Its refresh token takes precedence over that of the
  ///   credentials, because with rotating tokens only the newest is valid; its audience is reused, too.
  /// - Parameter refused: The access token that the org has refused; an external source is then asked for a different one. If
  ///   nil, the source's current token is used.
  /// - Throws: ``RestError`` `.notAuthenticated` with a reason and the server's message if it refuses the credentials;
  ///   `.httpStatus` and `.noResponse` if the same credentials may succeed later.
  public func signIn(
    _ credentials: Credentials, previous: Session? = nil, refused: String? = nil
  ) async throws(RestError) -> Session {
    try await signIn(credentials, previous: previous, refused: refused, Attempts())
  }

  func signIn(
    _ credentials: Credentials, previous: Session?, refused: String?, _ attempts: Attempts
  ) async throws(RestError) -> Session {
    switch credentials {
    case .accessToken(let url, let token): return try given(token, url, previous, refused: refused)
    case .external(let source): return try await source.session(refused: refused)
    default: break
    }
    try checkDomain(credentials)
    var exchange = TokenExchange(sender: sender, context: TokenRequestContext(credentials), instanceURL: previous?.instanceURL)
    exchange.sender.timeoutS = TokenExchange.timeoutS
    exchange.other = attempts.other
    if attempts.isSingle { exchange.sender.policy = .never }
    if case .jwtBearer(let bearer) = credentials { return try await signIn(bearer, exchange, previous) }
    let latest = previous?.refreshToken
    if case .refreshToken(_, _, _, nil) = credentials, latest == nil { throw Self.needsPerson(credentials.subject) }
    let answer = try await exchange.send { () throws(RestError) in credentials.form(latest: latest) }
    let response: RestResponse
    switch answer {
    case .response(let got): response = got
    case .session(let other): return other
    }
    let fresh = try Session(
      tokenResponse: response, loginURL: credentials.loginURL, refreshToken: credentials.refreshToken(latest: latest))
    return fresh.completed(credentials, after: previous, now: sender.environment.now())
  }

  /// Revokes a session at the login host: its refresh token, which also ends the tokens derived from it, else its access token.
  ///
  /// Sends one request with a short timeout, so that a sign-out does not wait for an unreachable host. The status 400, with
  /// which Salesforce answers for a token that no longer exists, counts as success.
  public func revoke(_ session: Session) async throws(RestError) {
    let path = "/services/oauth2/revoke"
    let url = try WebAddress.url(path: path, query: [], base: session.loginURL)
    let form = PercentEncoding.form([("token", session.refreshToken ?? session.accessToken)])
    let request = RestRequest(
      .POST, path, body: Array(form.utf8), contentType: "application/x-www-form-urlencoded", requiresAuthentication: false)
    var sender = sender
    sender.policy = .never
    sender.timeoutS = Self.revocationTimeoutS
    do throws(RestError) {
      _ = try await sender.send(request, url: url, token: nil)
    } catch {
      guard error.status == 400 else { throw error }
    }
  }

  private static let revocationTimeoutS = 10.0

  /// Returns a session for a given token without checking the token; the org does that with the first request.
  private func given(
    _ token: String?, _ instanceURL: String, _ previous: Session?, refused: String?
  ) throws(RestError) -> Session {
    guard let token else {
      guard let previous else { throw Self.needsPerson("a session at \(instanceURL)") }
      guard previous.accessToken != refused else { throw Self.expired(instanceURL) }
      return previous
    }
    guard token != refused else { throw Self.expired(instanceURL) }
    return Session(givenToken: token, instanceURL: instanceURL)
  }

  private static func expired(_ instanceURL: String) -> RestError {
    RestError(
      code: .sessionExpired,
      message: "\(instanceURL) refused the given access token, which cannot be renewed here: give a new one",
      outcome: .notSent)
  }

  private static func needsPerson(_ what: String) -> RestError {
    var error = RestError(
      code: .notAuthenticated, message: "\(what) needs a person: sign in with `tureen login`", outcome: .notSent)
    error.reason = SignInReason.needsPerson.rawValue
    return error
  }

  /// Refuses client credentials at the shared login hosts: they do not support this grant and would get the secret in vain.
  private func checkDomain(_ credentials: Credentials) throws(RestError) {
    guard case .clientCredentials = credentials, let host = WebAddress(credentials.loginURL)?.host, JWTBearer.isShared(host)
    else { return }
    var error = RestError(
      code: .notAuthenticated,
      message: "\(credentials.loginURL) does not accept client credentials; \(credentials.remedy(for: .wrongHost, nil))",
      outcome: .notSent)
    error.reason = SignInReason.wrongHost.rawValue
    throw error
  }

  // MARK: Assertions

  /// Signs in with an assertion. After a refusal it tries one other audience and one assertion dated by the server's clock.
  private func signIn(
    _ bearer: JWTBearer, _ exchange: TokenExchange, _ previous: Session?
  ) async throws(RestError) -> Session {
    let isSameHost = previous?.loginURL == exchange.context.loginURL
    var audience = (isSameHost ? previous?.audience : nil) ?? bearer.firstAudience
    var offset = 0.0, otherWasTried = false, clockWasSet = false
    while true {
      let now = sender.environment.now
      let (target, ahead) = (audience, offset)
      do throws(RestError) {
        let answer = try await exchange.send { () throws(RestError) in
          [
            ("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"),
            ("assertion", try bearer.assertion(audience: target, now: now() + ahead)),
          ]
        }
        let response: RestResponse
        switch answer {
        case .response(let got): response = got
        case .session(let other): return other
        }
        var session = try Session(
          tokenResponse: response, loginURL: exchange.context.loginURL, refreshToken: nil)
        session.audience = audience
        return session.completed(.jwtBearer(bearer), after: previous, now: now())
      } catch {
        if Self.isOfAudience(error), !otherWasTried, let other = bearer.audience(after: audience) {
          (audience, otherWasTried) = (other, true)
        } else if error.reason == SignInReason.clock.rawValue, !clockWasSet, let measured = measuredOffset(error) {
          (offset, clockWasSet) = (measured, true)
          let side = measured > 0 ? "behind" : "ahead of"
          sender.logger.warning(
            "this machine's clock is \(Int(saturating: abs(measured))) s \(side) that of \(bearer.loginURL): set it")
        } else {
          throw error
        }
      }
    }
  }

  private static func isOfAudience(_ error: RestError) -> Bool {
    error.reason == SignInReason.audience.rawValue || (error.code == .notAuthenticated && error.serverCode == "app_not_found")
  }

  /// Returns how many seconds the server's clock is ahead of ours; nil if the clocks agree or the response has no date.
  private func measuredOffset(_ error: RestError) -> Double? {
    guard let server = error.serverTime else { return nil }
    let offset = server - sender.environment.now()
    return abs(offset) > JWTBearer.clockLeeway ? offset : nil
  }
}
