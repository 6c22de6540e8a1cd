import Logging
import RestClient

/// Gets sessions from a login host's token endpoint.
public struct OAuthClient: Sendable {
  let sender: RequestSender

  public init(
    transport: HTTPTransport, policy: RetryPolicy = .standard, environment: RetryEnvironment = .live,
    observer: (any RestObserver)? = nil, logger: Logger = Logger(label: "tureen.rest")
  ) {
    sender = RequestSender(
      transport: transport, refusalWords: .salesforce, policy: policy, environment: environment, observer: observer,
      logger: logger)
  }

  init(sender: RequestSender) {
    self.sender = sender
  }

  /// How often a token resource is asked.
  struct Attempts: Sendable {
    /// One try: what asks has waited for another host already.
    var isSingle = false
    /// Looks for a session that another process has got meanwhile.
    var other: @Sendable () async -> Session? = { nil }

    init(isSingle: Bool = false, other: @escaping @Sendable () async -> Session? = { nil }) {
      self.isSingle = isSingle
      self.other = other
    }
  }

  /// Signs in.
  ///
  /// - Parameter previous: The session that the new one replaces. Its refresh token is used in place of the credentials' own,
  ///   because only the newest is good where tokens rotate; so is the audience that worked.
  /// - Parameter refused: The access token that the org has refused: a source outside of here is asked for another one. Nil
  ///   takes the one it has.
  /// - Throws: ``RestError`` `.notAuthenticated` with a reason and the server's words when it refuses the credentials;
  ///   `.httpStatus` and `.noResponse` when the same credentials may succeed later.
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
    var exchange = TokenExchange(sender: sender, asking: TokenAsking(credentials), instanceURL: previous?.instanceURL)
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

  /// Ends a session at the login host: its refresh token, and with it all that came of it, else its access token.
  ///
  /// Asked once, and not for long: who signs out is not kept waiting for a host that is away. A token that is gone already, which
  /// Salesforce answers with 400, has ended.
  public func revoke(_ session: Session) async throws(RestError) {
    let path = "/services/oauth2/revoke"
    let url = try WebAddress.url(path: path, query: [], base: session.loginURL)
    let form = PercentEncoding.form([("token", session.refreshToken ?? session.accessToken)])
    let request = RestRequest(
      .POST, path, body: Array(form.utf8), contentType: "application/x-www-form-urlencoded", requiresAuthentication: false)
    var sender = sender
    sender.policy = .never
    sender.timeoutS = Self.revocationS
    do throws(RestError) {
      _ = try await sender.send(request, url: url, token: nil)
    } catch {
      guard error.status == 400 else { throw error }
    }
  }

  /// Seconds.
  private static let revocationS = 10.0

  /// A given token is used unchecked: whether it is good is for the org to say.
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
      message: "\(instanceURL) refused the given access token, and nothing here can renew it: give a new one",
      outcome: .notSent)
  }

  private static func needsPerson(_ what: String) -> RestError {
    var error = RestError(
      code: .notAuthenticated, message: "\(what) needs a person: sign in with `tureen login`", outcome: .notSent)
    error.reason = SignInReason.needsPerson.rawValue
    return error
  }

  /// The hosts that all orgs share know no client credentials: the secret would be sent for nothing.
  private func checkDomain(_ credentials: Credentials) throws(RestError) {
    guard case .clientCredentials = credentials, let host = WebAddress(credentials.loginURL)?.host, JWTBearer.isShared(host)
    else { return }
    var error = RestError(
      code: .notAuthenticated,
      message: "\(credentials.loginURL) takes no client credentials; \(credentials.remedy(for: .wrongHost, nil))",
      outcome: .notSent)
    error.reason = SignInReason.wrongHost.rawValue
    throw error
  }

  // MARK: Assertions

  /// One other audience is tried, and one assertion by the server's clock.
  private func signIn(
    _ bearer: JWTBearer, _ exchange: TokenExchange, _ previous: Session?
  ) async throws(RestError) -> Session {
    let isSameHost = previous?.loginURL == exchange.asking.loginURL
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
          tokenResponse: response, loginURL: exchange.asking.loginURL, refreshToken: nil)
        session.audience = audience
        return session.completed(.jwtBearer(bearer), after: previous, now: now())
      } catch {
        if Self.isOfAudience(error), !otherWasTried, let other = bearer.audience(after: audience) {
          (audience, otherWasTried) = (other, true)
        } else if error.reason == SignInReason.clock.rawValue, !clockWasSet, let measured = measuredOffset(error) {
          (offset, clockWasSet) = (measured, true)
          let side = measured > 0 ? "behind" : "ahead of"
          sender.logger.warning("this machine's clock is \(Int(abs(measured))) s \(side) that of \(bearer.loginURL): set it")
        } else {
          throw error
        }
      }
    }
  }

  private static func isOfAudience(_ error: RestError) -> Bool {
    error.reason == SignInReason.audience.rawValue || (error.code == .notAuthenticated && error.serverCode == "app_not_found")
  }

  /// Seconds that the server's clock is ahead of ours; nil when the clocks agree or the server names no time.
  private func measuredOffset(_ error: RestError) -> Double? {
    guard let server = error.serverTime else { return nil }
    let offset = server - sender.environment.now()
    return abs(offset) > JWTBearer.clockLeeway ? offset : nil
  }
}
