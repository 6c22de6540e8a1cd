import RestClient
import Support

extension OAuthClient {
  /// Exchanges the authorization code of a browser sign-in for a session.
  ///
  /// The request is never retried, not even if the response is lost: a code is valid once, and an org revokes the tokens of a
  /// code that is sent twice.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` with a reason if the org refuses; otherwise the error of the request.
  public func signIn(
    _ request: AuthorizationRequest, code: String, clientSecret: String? = nil
  ) async throws(RestError) -> Session {
    var once = sender
    once.policy = .never
    once.timeoutS = TokenExchange.timeoutS
    let exchange = TokenExchange(
      sender: once, context: TokenRequestContext(request, hasSecret: clientSecret != nil), instanceURL: nil)
    let answer: TokenExchange.Answer
    do throws(RestError) {
      answer = try await exchange.send { () throws(RestError) in request.form(code: code, clientSecret: clientSecret) }
    } catch {
      throw Self.withoutSecondTry(error, request)
    }
    switch answer {
    case .session(let other): return other
    case .response(let response):
      var session = try Session(tokenResponse: response, loginURL: request.loginURL, refreshToken: nil)
      session.clientId = request.clientId
      session.refreshedAt = Int64(saturating: sender.environment.now() * 1_000)
      return session
    }
  }

  /// Reports a lost response as final: the org may have issued a session, and does not accept the code again.
  private static func withoutSecondTry(_ error: RestError, _ request: AuthorizationRequest) -> RestError {
    guard error.code == .noResponse, error.outcome != .notSent else { return error }
    var lost = error.recoded(
      .notAuthenticated,
      "the answer of \(request.loginURL) to the code was lost: \(error.message); a code works once, so sign in again")
    lost.reason = SignInReason.needsPerson.rawValue
    return lost
  }
}

extension TokenRequestContext {
  fileprivate init(_ request: AuthorizationRequest, hasSecret: Bool) {
    self.init(
      loginURL: request.loginURL, grant: .authorizationCode, subject: "the sign-in of client \(request.clientId)"
    ) { reason, code in
      switch reason {
      case .wrongCredentials where !hasSecret: "the app wants its client secret: name it with --secret-file"
      case .refused where code == "invalid_grant": "the code of a sign-in lives 15 minutes and works once; sign in again"
      default: AuthorizationRequest.remedy(reason, code ?? "")
      }
    }
  }
}
