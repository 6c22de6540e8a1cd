import Logging
import RestClient

/// A signed-in client of one org: tokens, refreshes and retries happen in here and nowhere else.
///
/// Threads: any. Owns its transport and session; ``shutdown()`` ends both.
public final class SalesforceClient: RestClient {
  public let apiVersion: String
  private let sender: RequestSender
  private let sessions: SessionProvider
  private let oauth: OAuthClient
  private let loginURL: String?
  /// The app that signs in, and as whom; nil where the credentials do not say.
  public let clientId: String?
  public let username: String?
  /// Whether callers are kept from the tokens, and from hosts that are not the org's.
  private let isRestricted: Bool
  private let secrets: [String]

  /// - Parameters:
  ///   - session: A stored one; nil signs in with the first request.
  ///   - credentials: For signing in and for refreshing. Without them an expired session stays expired.
  ///   - isRestricted: For requests that strangers make: hosts other than the org's are refused, and the tokens are taken out
  ///     of what servers say.
  ///   - userAgent: Asked for each request, so that it may change meanwhile.
  ///   - onSessionChange: Awaited with each new session before it is used, so that the host can store it.
  public init(
    session: Session? = nil, credentials: Credentials? = nil, apiVersion: String = "v66.0",
    transport: HTTPTransport = HTTPTransport(), isRestricted: Bool = false, policy: RetryPolicy = .standard,
    environment: RetryEnvironment = .live, observer: (any RestObserver)? = nil,
    logger: Logger = Logger(label: "tureen.rest"), userAgent: @escaping @Sendable () -> String = { "tureen" },
    onSessionChange: @escaping @Sendable (Session) async -> Void = { _ in }
  ) {
    self.apiVersion = apiVersion
    self.isRestricted = isRestricted
    secrets = credentials?.secrets ?? []
    sender = RequestSender(
      transport: transport, refusalWords: .salesforce, policy: policy, environment: environment, observer: observer,
      logger: logger, userAgent: userAgent)
    oauth = OAuthClient(sender: sender)
    sessions = SessionProvider(
      session: session, credentials: credentials, oauth: oauth, onSessionChange: onSessionChange)
    loginURL = credentials.map(\.loginURL).flatMap { $0.isEmpty ? nil : $0 } ?? session?.loginURL
    clientId = credentials?.clientId
    username = credentials?.username
  }

  /// The session in use; signs in when there is none yet.
  public func session() async throws(RestError) -> Session {
    try await sessions.current()
  }

  /// The session in use, nil when nobody is signed in. Sends nothing.
  public func knownSession() async -> Session? { await sessions.known }

  /// A new session in place of the one in use, also after ``signOut()``.
  public func signIn() async throws(RestError) -> Session { try await sessions.signIn() }

  /// Forgets the session; requests that need one fail with `notAuthenticated` until ``signIn()``. Then asks the login host,
  /// once, to revoke its token.
  ///
  /// - Parameter onForgotten: Called before the login host is asked: whoever keeps the session can throw it away even when the
  ///   host does not answer.
  /// - Returns: False when the login host could not be asked or refused: the token then lives until it expires.
  @discardableResult
  public func signOut(onForgotten: @Sendable () -> Void = {}) async -> Bool {
    let ended = await sessions.signOut()
    onForgotten()
    guard let ended else { return true }
    do throws(RestError) {
      try await oauth.revoke(ended)
      return true
    } catch {
      sender.logger.warning("the token could not be revoked: \(error.message)")
      return false
    }
  }

  /// - Note: A refused session is renewed once, by one request for all that were refused, and each of them is sent once
  ///   more. That is safe for a create as well: a request without a session changes nothing.
  public func send(_ request: RestRequest) async throws -> RestResponse {
    guard isRestricted else { return try await sendWithSession(request) }
    // The session that a request ends with may be another one than it begins with.
    let before = await sessions.known
    do throws(RestError) {
      let response = try await sendWithSession(request)
      return await redaction(before).cleaned(response)
    } catch {
      throw await redaction(before).cleaned(error)
    }
  }

  private func sendWithSession(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard request.requiresAuthentication else { return try await sendOpenly(request) }
    let session = try await sessions.current()
    do throws(RestError) {
      return try await send(request, with: session)
    } catch {
      guard error.isSessionRefusal else { throw error }
      guard sessions.canRenew else {
        throw error.recoded(
          .sessionExpired,
          "\(session.instanceURL) refused the session: \(error.message); there are no credentials to renew it with: sign in "
            + "anew")
      }
      return try await sendAgain(request, refused: session)
    }
  }

  public func shutdown() async {
    await sessions.shutdown()
    await sender.transport.shutdown()
  }

  private func sendAgain(_ request: RestRequest, refused: Session) async throws(RestError) -> RestResponse {
    let fresh = try await sessions.renewed(replacing: refused)
    do throws(RestError) {
      return try await send(request, with: fresh)
    } catch {
      guard error.isSessionRefusal else { throw error }
      throw error.recoded(
        .sessionExpired,
        "\(fresh.instanceURL) refused the session right after it was renewed: \(error.message); check that the user may use the "
          + "API, and that the connected app allows it")
    }
  }

  private func send(_ request: RestRequest, with session: Session) async throws(RestError) -> RestResponse {
    let url = try WebAddress.url(path: request.path, query: request.query, base: session.instanceURL)
    guard session.mayAuthorize(url) else {
      throw .invalidURL("the session is for \(session.instanceURL) only, not for '\(WebAddress(url)?.host ?? "")'")
    }
    return try await sender.send(request, url: url, token: session.accessToken)
  }

  private func redaction(_ before: Session?) async -> TokenRedaction {
    let sessions = [before, await sessions.known].compactMap { $0 }
    return TokenRedaction(secrets + sessions.flatMap { [$0.accessToken, $0.refreshToken ?? ""] })
  }

  /// Whether a URL leads to where the session may go, or to where it comes from.
  private func isOfOrg(_ url: String) async -> Bool {
    if await sessions.known?.mayAuthorize(url) == true { return true }
    guard let loginURL, let login = WebAddress(loginURL) else { return false }
    return WebAddress(url) == login
  }

  private func sendOpenly(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard let base = await sessions.known?.instanceURL ?? loginURL else {
      throw .invalidURL("no instance and no login host is known for '\(request.pathWithoutQuery)'")
    }
    let url = try WebAddress.url(path: request.path, query: request.query, base: base)
    if isRestricted, await !isOfOrg(url) {
      throw .invalidURL("a restricted script reaches the org alone, not '\(WebAddress(url)?.host ?? "")' (--restricted)")
    }
    return try await sender.send(request, url: url, token: nil)
  }
}
