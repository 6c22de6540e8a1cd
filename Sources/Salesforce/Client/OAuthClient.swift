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

  /// Signs in.
  ///
  /// - Parameter latestRefreshToken: Used in place of the credentials' own: where tokens rotate, only the newest is
  ///   good.
  /// - Throws: ``RestError`` `.notAuthenticated` with the server's words when it refuses the credentials; `.httpStatus`
  ///   and `.noResponse` when the same credentials may do later.
  public func signIn(
    _ credentials: Credentials, latestRefreshToken: String? = nil
  ) async throws(RestError) -> Session {
    let loginURL = credentials.loginURL
    let url = try WebAddress.url(path: "/services/oauth2/token", query: [], base: loginURL)
    let form = PercentEncoding.form(credentials.form(latest: latestRefreshToken))
    // Asking twice makes two sessions at worst, so a lost answer is no reason to give up.
    let request = RestRequest(
      .POST, "/services/oauth2/token", body: Array(form.utf8),
      contentType: "application/x-www-form-urlencoded", isRepeatable: true, requiresAuthentication: false)
    do {
      let response = try await sender.send(request, url: url, token: nil)
      return try Session(
        tokenResponse: response, loginURL: loginURL,
        refreshToken: credentials.refreshToken(latest: latestRefreshToken))
    } catch {
      throw Self.isRefusal(error) ? error.recoded(.notAuthenticated, Self.words(error, credentials)) : error
    }
  }

  /// Ends a session at the login host: its refresh token, and with it all that came of it, else its access token.
  ///
  /// Asked once: who signs out is not kept waiting for a host that is away.
  func revoke(_ session: Session) async throws(RestError) {
    let path = "/services/oauth2/revoke"
    let url = try WebAddress.url(path: path, query: [], base: session.loginURL)
    let form = PercentEncoding.form([("token", session.refreshToken ?? session.accessToken)])
    let request = RestRequest(
      .POST, path, body: Array(form.utf8), contentType: "application/x-www-form-urlencoded", requiresAuthentication: false)
    var sender = sender
    sender.policy = .never
    _ = try await sender.send(request, url: url, token: nil)
  }

  /// Who was refused where, what the host said, and what to look at.
  private static func words(_ error: RestError, _ credentials: Credentials) -> String {
    let host = WebAddress.withoutTrailingSlashes(credentials.loginURL)
    let who = credentials.username.map { "the sign-in of \($0)" } ?? "the sign-in of client \(credentials.clientId)"
    return "\(host) refused \(who): \(error.message); \(credentials.remedy(for: error.serverCode ?? ""))"
  }

  /// True when the login host has judged the credentials, as opposed to being unable to.
  private static func isRefusal(_ error: RestError) -> Bool {
    guard error.code == .httpStatus, let status = error.status, (400..<500).contains(status) else { return false }
    return error.serverCode.map(refusals.contains) ?? false
  }

  private static let refusals: Set<String> = [
    "invalid_grant", "invalid_client", "invalid_client_id", "inactive_user", "inactive_org", "unsupported_grant_type",
    "invalid_scope", "invalid_request", "redirect_uri_mismatch",
  ]
}
