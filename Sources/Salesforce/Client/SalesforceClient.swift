import Logging
import MobileSync
import RestClient

/// The client of one org. It alone handles tokens, refreshes and retries.
///
/// Threads: any. Owns its transport and session; ``shutdown()`` ends both.
public final class SalesforceClient: RestClient {
  public let apiVersion: String
  private let sender: RequestSender
  private let sessions: SessionProvider
  private let oauth: OAuthClient
  private let loginURL: String?
  /// The client id of the app and the user name; nil if the credentials do not contain them.
  public let clientId: String?
  public let username: String?
  /// True if callers must not see tokens.
  private let hidesTokens: Bool
  /// The hosts besides the org's that callers may reach; nil for all.
  private let reachableHosts: ReachableHosts?
  private let secrets: [String]

  /// - Parameters:
  ///   - session: The initial session if there is no store; nil signs in with the first request.
  ///   - store: Stores the session for the next run and for other processes; nil keeps it in memory.
  ///   - credentials: Used to sign in and to refresh. Without them an expired session stays expired.
  ///   - orgId: The org that every session must belong to; nil accepts the org of the first session.
  ///   - hidesTokens: True for requests of untrusted scripts: tokens are removed from responses, as they always are from errors.
  ///   - reachableHosts: The hosts besides the org's that requests may reach; nil for all.
  ///   - admission: Called before each attempt of a request, sign-in excepted. If it throws, nothing is sent.
  ///   - userAgent: Called for each request, because the value may change.
  ///   - onSessionChange: Awaited before the requests continue that are waiting for the session.
  public init(
    session: Session? = nil, store: (any SessionStore)? = nil, credentials: Credentials? = nil, orgId: String? = nil,
    apiVersion: String = "v66.0", transport: HTTPTransport = HTTPTransport(), hidesTokens: Bool = false,
    reachableHosts: ReachableHosts? = nil, policy: RetryPolicy = .standard, environment: RetryEnvironment = .live,
    observer: (any RestObserver)? = nil,
    logger: Logger = Logger.tureen("rest"),
    admission: @escaping @Sendable () async throws(RestError) -> Void = { () async throws(RestError) in },
    userAgent: @escaping @Sendable () -> String = { "tureen" },
    onSessionChange: @escaping @Sendable (SessionChange) async -> Void = { _ in }
  ) {
    self.apiVersion = apiVersion
    self.hidesTokens = hidesTokens
    self.reachableHosts = reachableHosts
    secrets = credentials?.secrets ?? []
    var sender = RequestSender(
      transport: transport, refusalWords: .salesforce, policy: policy, environment: environment, observer: observer,
      logger: logger, userAgent: userAgent)
    oauth = OAuthClient(sender: sender)
    sender.admission = admission
    self.sender = sender
    let renewal = SessionRenewal(
      store: store ?? MemorySessionStore(session), oauth: oauth, credentials: credentials, orgId: orgId)
    sessions = SessionProvider(renewal, onChange: onSessionChange)
    loginURL = credentials.map(\.loginURL).flatMap { $0.isEmpty ? nil : $0 } ?? session?.loginURL
    clientId = credentials?.clientId
    username = credentials?.username
  }

  /// Returns the current session; signs in if there is none yet.
  public func session() async throws(RestError) -> Session {
    try await sessions.current()
  }

  /// Returns the current session without sending a request; nil if no user is signed in.
  public func knownSession() async -> Session? { await sessions.known() }

  /// Replaces the current session by a new one. Also works after ``signOut()``.
  public func signIn() async throws(RestError) -> Session { try await sessions.signIn() }

  /// Adopts the session that a browser sign-in has stored. Also works after ``signOut()``.
  package func adoptKeptSession() async { await sessions.adoptKept() }

  /// Removes the session from memory and from the store, so that requests which need one fail with `notAuthenticated` until
  /// ``signIn()``. Then asks the login host to revoke the token, with one request of at most ten seconds.
  ///
  /// - Returns: False if the login host was unreachable or refused: the token is then valid until it expires.
  @discardableResult
  public func signOut() async -> Bool {
    guard let ended = await sessions.signOut() else { return true }
    do throws(RestError) {
      try await oauth.revoke(ended)
      return true
    } catch {
      sender.logger.warning("the token could not be revoked: \(error.message)")
      return false
    }
  }

  /// - Note: A refused session is renewed by a single request for all callers, and each of their requests is sent again. That
  ///   is safe even for a create, because a request with a refused session changes nothing.
  public func send(_ request: RestRequest) async throws -> RestResponse {
    // The session may change during the request; redact the tokens of both.
    let before = await sessions.known()
    do throws(RestError) {
      let response = try await sendWithSession(request)
      return hidesTokens ? await redaction(before).cleaned(response) : response
    } catch {
      // Errors end up in logs and on screens, and a server may quote what it was sent.
      throw await redaction(before).cleaned(error)
    }
  }

  private func sendWithSession(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard request.requiresAuthentication else { return try await sendOpenly(request) }
    var session = try await sessions.current(), request = request, isFresh = false
    // A session that another process obtained may be refused as well; then try the next one.
    for _ in 0..<Self.mostSessions {
      let refused: RestError
      do throws(RestError) {
        return try await send(request, with: session)
      } catch {
        refused = error
      }
      guard !isFresh, let next = try await replacement(of: session, after: refused) else {
        throw ended(refused, session, isFresh)
      }
      request.path = Self.moved(request.path, from: session, to: next.session)
      (session, isFresh) = (next.session, next.isFresh)
    }
    throw RestError(
      code: .sessionExpired, message: "\(session.instanceURL) refused \(Self.mostSessions) sessions, one after the other")
  }

  /// The most sessions that one request tries. All but the last were obtained by other processes and may have ended before a
  /// slow request gets to use them. If the session that was obtained for this request is refused, the request fails at once.
  private static let mostSessions = 16

  /// Returns the session with which to repeat a failed request; nil if repeating does not help.
  private func replacement(of session: Session, after refused: RestError) async throws(RestError) -> SessionProvider.Renewed? {
    if refused.isSessionRefusal {
      do throws(RestError) {
        return try await sessions.renewed(replacing: session)
      } catch {
        guard error.code == .sessionExpired, error.outcome == .notSent else { throw error }
        throw refused.recoded(
          .sessionExpired, "\(session.instanceURL) refused the session: \(refused.message); \(error.message)")
      }
    }
    let mayHaveMoved = refused.isUnreachable(session.dataURL) && (SyncTraffic.isOfSync || refused.status != nil)
    guard mayHaveMoved, let next = try? await sessions.moved(from: session) else { return nil }
    return WebAddress(next.session.dataURL) == WebAddress(session.dataURL) ? nil : next
  }

  /// Returns the final error of a request that no other session can save.
  private func ended(_ refused: RestError, _ session: Session, _ isFresh: Bool) -> RestError {
    guard isFresh, refused.isSessionRefusal else { return refused }
    return refused.recoded(
      .sessionExpired,
      "\(session.instanceURL) refused the session right after it was renewed: \(refused.message); check that the user may use "
        + "the API, and that the connected app allows it")
  }

  /// Rewrites an absolute URL on the org's old instance to the new instance.
  private static func moved(_ path: String, from old: Session, to new: Session) -> String {
    guard let target = WebAddress(path), target == WebAddress(old.dataURL), old.dataURL != new.dataURL,
      let scheme = path.firstRange(ofASCII: "://"),
      let rest = path[scheme.upperBound...].firstIndex(where: { "/?#".contains($0) })
    else { return path }
    return new.base(ofPath: String(path[rest...])) + path[rest...]
  }

  public func shutdown() async {
    await sessions.shutdown()
    await sender.transport.shutdown()
  }

  private func send(_ request: RestRequest, with session: Session) async throws(RestError) -> RestResponse {
    let url = try WebAddress.url(path: request.path, query: request.query, base: session.base(ofPath: request.path))
    guard session.mayAuthorize(url) else {
      try await checkReach(url)
      throw .invalidURL("the session is for \(session.dataURL) only, not for '\(WebAddress(url)?.host ?? "")'")
    }
    return try await sender.send(request, url: url, token: session.accessToken)
  }

  private func redaction(_ before: Session?) async -> TokenRedaction {
    let sessions = [before, await sessions.known()].compactMap { $0 }
    return TokenRedaction(secrets + sessions.flatMap { [$0.accessToken, $0.refreshToken ?? ""] })
  }

  /// Returns true if the URL leads to a host that may get the session's token, or to the login host.
  private func isOfOrg(_ url: String) async -> Bool {
    if await sessions.known()?.mayAuthorize(url) == true { return true }
    guard let loginURL, let login = WebAddress(loginURL) else { return false }
    return WebAddress(url) == login
  }

  /// - Throws: ``RestError`` `.restricted` if callers may not reach the URL's host.
  private func checkReach(_ url: String) async throws(RestError) {
    guard let hosts = reachableHosts, let address = WebAddress(url), !hosts.contains(address), await !isOfOrg(url) else { return }
    throw hosts.refusal(of: url)
  }

  private func sendOpenly(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard let base = await sessions.known()?.base(ofPath: request.path) ?? loginURL else {
      throw .invalidURL("no instance and no login host is known for '\(request.pathWithoutQuery)'")
    }
    let url = try WebAddress.url(path: request.path, query: request.query, base: base)
    try await checkReach(url)
    return try await sender.send(request, url: url, token: nil)
  }
}
