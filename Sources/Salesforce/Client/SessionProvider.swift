import RestClient

/// Holds the session and renews it, at most once at a time however many requests ask.
actor SessionProvider {
  private let oauth: OAuthClient
  private let credentials: Credentials?
  private let onSessionChange: @Sendable (Session) async -> Void
  private var session: Session?
  /// The login host's last word on these credentials, not what was wrong before it was asked. Asking again would only lock the
  /// user out.
  private var rejection: RestError?
  private var renewal: Task<Void, Never>?
  private var waiting: [UInt64: CheckedContinuation<Result<Session, RestError>, Never>] = [:]
  private var nextWaiter: UInt64 = 0
  private var isClosed = false

  init(
    session: Session?, credentials: Credentials?, oauth: OAuthClient,
    onSessionChange: @escaping @Sendable (Session) async -> Void
  ) {
    self.session = session
    self.credentials = credentials
    self.oauth = oauth
    self.onSessionChange = onSessionChange
  }

  /// The session as it is; signs in when there is none.
  func current() async throws(RestError) -> Session {
    if let rejection { throw rejection }
    if let session { return session }
    return try await renewed(replacing: nil)
  }

  /// False when a refused session is the end.
  nonisolated var canRenew: Bool { credentials != nil }

  /// What is known without asking anybody.
  var known: Session? { session }

  /// A session other than the one the server refused. Callers that come late get the one made meanwhile.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` when the server refuses the credentials or there are none,
  ///   `.cancelled` when the caller's task is cancelled (the renewal goes on for the others), else what kept the login
  ///   host away.
  func renewed(replacing refused: Session?) async throws(RestError) -> Session {
    if isClosed { throw .shutDown(outcome: .notSent) }
    if let rejection { throw rejection }
    if let session, session.accessToken != refused?.accessToken { return session }
    return try await renewal(refused: refused?.accessToken)
  }

  private func renewal(refused: String?) async throws(RestError) -> Session {
    if renewal == nil { renewal = Task { await self.renew(refused: refused) } }
    return try await outcome().get()
  }

  /// A new session in place of the one in use, also after ``signOut()``.
  func signIn() async throws(RestError) -> Session {
    if isClosed { throw .shutDown(outcome: .notSent) }
    rejection = nil
    return try await renewal(refused: nil)
  }

  /// Forgets the session: requests fail until ``signIn()``.
  /// - Returns: The one that was in use; nil when nobody was signed in.
  func signOut() async -> Session? {
    await renewal?.value
    defer { session = nil }
    rejection = RestError(
      code: .notAuthenticated, message: "signed out; oauth.authenticate signs in again", outcome: .notSent)
    return session
  }

  /// Ends a renewal under way and waits for its end.
  func shutdown() async {
    isClosed = true
    renewal?.cancel()
    await renewal?.value
  }

  private func renew(refused: String?) async {
    let result = await newSession(refused: refused)
    renewal = nil
    switch result {
    case .success(let fresh): session = fresh
    case .failure(let error): if error.code == .notAuthenticated, error.outcome != .notSent { rejection = error }
    }
    let waiters = waiting
    waiting = [:]
    for waiter in waiters.values { waiter.resume(returning: result) }
  }

  private func newSession(refused: String?) async -> Result<Session, RestError> {
    guard let credentials else {
      return .failure(
        RestError(
          code: .notAuthenticated,
          message: "there is no session and there are no credentials to sign in with; give some, or a session",
          outcome: .notSent))
    }
    do {
      let fresh = try await oauth.signIn(credentials, previous: session, refused: refused)
      // Before anybody uses it: where refresh tokens rotate, an unsaved one is lost with the process.
      await onSessionChange(fresh)
      return .success(fresh)
    } catch {
      return .failure(isClosed ? .shutDown(outcome: .notSent) : error)
    }
  }

  private func outcome() async -> Result<Session, RestError> {
    let id = nextWaiter
    nextWaiter += 1
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled {
          continuation.resume(returning: .failure(.cancelled(outcome: .notSent)))
        } else {
          waiting[id] = continuation
        }
      }
    } onCancel: {
      Task { await self.abandon(id) }
    }
  }

  private func abandon(_ id: UInt64) {
    waiting.removeValue(forKey: id)?.resume(returning: .failure(.cancelled(outcome: .notSent)))
  }
}
