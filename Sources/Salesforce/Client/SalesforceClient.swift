import Logging
import MobileSync
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
  ///   - session: One to begin with, where there is no store; nil signs in with the first request.
  ///   - store: Where the session is kept, for the next run and for other processes; nil keeps it in memory.
  ///   - credentials: For signing in and for refreshing. Without them an expired session stays expired.
  ///   - orgId: The org that sessions must be of, as the place that keeps them knows it; nil takes the one of the first.
  ///   - isRestricted: For requests that strangers make: hosts other than the org's are refused, and the tokens are taken out
  ///     of what servers say.
  ///   - userAgent: Asked for each request, so that it may change meanwhile.
  ///   - onSessionChange: Awaited before the requests go on that a change is about.
  public init(
    session: Session? = nil, store: (any SessionStore)? = nil, credentials: Credentials? = nil, orgId: String? = nil,
    apiVersion: String = "v66.0", transport: HTTPTransport = HTTPTransport(), isRestricted: Bool = false,
    policy: RetryPolicy = .standard, environment: RetryEnvironment = .live, observer: (any RestObserver)? = nil,
    logger: Logger = Logger(label: "tureen.rest"), userAgent: @escaping @Sendable () -> String = { "tureen" },
    onSessionChange: @escaping @Sendable (SessionChange) async -> Void = { _ in }
  ) {
    self.apiVersion = apiVersion
    self.isRestricted = isRestricted
    secrets = credentials?.secrets ?? []
    sender = RequestSender(
      transport: transport, refusalWords: .salesforce, policy: policy, environment: environment, observer: observer,
      logger: logger, userAgent: userAgent)
    oauth = OAuthClient(sender: sender)
    let renewal = SessionRenewal(
      store: store ?? MemorySessionStore(session), oauth: oauth, credentials: credentials, orgId: orgId)
    sessions = SessionProvider(renewal, onChange: onSessionChange)
    loginURL = credentials.map(\.loginURL).flatMap { $0.isEmpty ? nil : $0 } ?? session?.loginURL
    clientId = credentials?.clientId
    username = credentials?.username
  }

  /// The session in use; signs in when there is none yet.
  public func session() async throws(RestError) -> Session {
    try await sessions.current()
  }

  /// The session in use, nil when nobody is signed in. Sends nothing.
  public func knownSession() async -> Session? { await sessions.known() }

  /// A new session in place of the one in use, also after ``signOut()``.
  public func signIn() async throws(RestError) -> Session { try await sessions.signIn() }

  /// Goes on with the session that a person's sign-in has kept, also after ``signOut()``.
  package func adoptKeptSession() async { await sessions.adoptKept() }

  /// Forgets the session, here and where it is kept; requests that need one fail with `notAuthenticated` until ``signIn()``. Then
  /// asks the login host, once and for ten seconds at most, to revoke its token.
  ///
  /// - Returns: False when the login host could not be asked or refused: the token then lives until it expires.
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

  /// - Note: A refused session is renewed once, by one request for all that were refused, and each of them is sent once
  ///   more. That is safe for a create as well: a request without a session changes nothing.
  public func send(_ request: RestRequest) async throws -> RestResponse {
    // The session that a request ends with may be another one than it begins with.
    let before = await sessions.known()
    do throws(RestError) {
      let response = try await sendWithSession(request)
      return isRestricted ? await redaction(before).cleaned(response) : response
    } catch {
      // Errors end up in logs and on screens, and a server may say back what it was sent.
      throw await redaction(before).cleaned(error)
    }
  }

  private func sendWithSession(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard request.requiresAuthentication else { return try await sendOpenly(request) }
    var session = try await sessions.current(), request = request, isFresh = false
    // Sessions that other processes got may be refused as well; each is another one.
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

  /// Sessions that a request is sent with at most. All but the last were got by other processes, which may use them up before a
  /// slow one comes to send; one that was got for this request ends it at once when it is refused.
  private static let mostSessions = 16

  /// The session to send a refused request with once more; nil when that does not help.
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

  /// What the request ends with when no other session helps.
  private func ended(_ refused: RestError, _ session: Session, _ isFresh: Bool) -> RestError {
    guard isFresh, refused.isSessionRefusal else { return refused }
    return refused.recoded(
      .sessionExpired,
      "\(session.instanceURL) refused the session right after it was renewed: \(refused.message); check that the user may use "
        + "the API, and that the connected app allows it")
  }

  /// An address on the instance that the org has left, on the new one.
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
      throw .invalidURL("the session is for \(session.dataURL) only, not for '\(WebAddress(url)?.host ?? "")'")
    }
    return try await sender.send(request, url: url, token: session.accessToken)
  }

  private func redaction(_ before: Session?) async -> TokenRedaction {
    let sessions = [before, await sessions.known()].compactMap { $0 }
    return TokenRedaction(secrets + sessions.flatMap { [$0.accessToken, $0.refreshToken ?? ""] })
  }

  /// Whether a URL leads to where the session may go, or to where it comes from.
  private func isOfOrg(_ url: String) async -> Bool {
    if await sessions.known()?.mayAuthorize(url) == true { return true }
    guard let loginURL, let login = WebAddress(loginURL) else { return false }
    return WebAddress(url) == login
  }

  private func sendOpenly(_ request: RestRequest) async throws(RestError) -> RestResponse {
    guard let base = await sessions.known()?.base(ofPath: request.path) ?? loginURL else {
      throw .invalidURL("no instance and no login host is known for '\(request.pathWithoutQuery)'")
    }
    let url = try WebAddress.url(path: request.path, query: request.query, base: base)
    if isRestricted, await !isOfOrg(url) {
      throw .invalidURL("a restricted script reaches the org alone, not '\(WebAddress(url)?.host ?? "")' (--restricted)")
    }
    return try await sender.send(request, url: url, token: nil)
  }
}
