import RestClient

/// What became of a session. Told before the requests go on that it is about.
public enum SessionChange: Sendable {
  /// There was none before.
  case signedIn(Session)
  /// Another token is in use, whoever got it.
  case renewed(Session)
  /// The session is of no use any more, and only a person or other credentials bring another one.
  case lost(Session, RestError)
}

/// Holds the session in use and has it renewed, once at a time however many requests ask.
actor SessionProvider {
  typealias Renewed = SessionRenewal.Renewed
  private typealias Waiter = CheckedContinuation<Result<Renewed?, RestError>, Never>

  private let renewal: SessionRenewal
  private let onChange: @Sendable (SessionChange) async -> Void
  private var session: Session?
  private var isFresh = false
  /// Whether the server has refused the session in use.
  private var isRefused = false
  private var isKept = true
  private var isLoaded = false, isSignedOut = false, isClosed = false
  /// Whether it was told that the session is lost.
  private var wasLost = false
  /// What no other request may change: the session is another org's.
  private var obstacle: RestError?
  private var running: (cause: RenewalCause, task: Task<Void, Never>)?
  private var waiting: [UInt64: Waiter] = [:]
  private var nextWaiter: UInt64 = 0

  init(_ renewal: SessionRenewal, onChange: @escaping @Sendable (SessionChange) async -> Void) {
    self.renewal = renewal
    self.onChange = onChange
  }

  /// The session as it is; waits for a renewal under way, and signs in when there is none.
  func current() async throws(RestError) -> Session {
    try await load()
    if running == nil, let session, !isRefused { return session }
    return try await renewed(replacing: session).session
  }

  /// What is known without asking the login host. Nil when nobody is signed in.
  func known() async -> Session? {
    try? await load()
    return session
  }

  /// A session other than the one the server refused. Callers that come late get the one made meanwhile.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` when the server refuses the credentials or there are none,
  ///   `.cancelled` when the caller's task is cancelled (the renewal goes on for the others), else what kept the login
  ///   host away.
  func renewed(replacing refused: Session?) async throws(RestError) -> Renewed {
    if let known = try replacement(of: refused) { return known }
    if let refused, refused.accessToken == session?.accessToken { isRefused = true }
    guard let renewed = try await outcome(of: .needed) else { preconditionFailure("only an unreachable instance is left alone") }
    return renewed
  }

  /// A session of another instance, after this one's could not be reached; nil when none is known.
  func moved(from unreachable: Session) async throws(RestError) -> Renewed? {
    if let known = try replacement(of: unreachable) { return known }
    return try await outcome(of: .unreachable)
  }

  /// A new session in place of the one in use, also after ``signOut()`` and after a refusal.
  func signIn() async throws(RestError) -> Session {
    isSignedOut = false
    obstacle = nil
    try await load()
    guard let renewed = try await outcome(of: .asked) else { preconditionFailure("a sign-in gives a session or fails") }
    return renewed.session
  }

  /// Takes the session that a person's sign-in has kept, also after ``signOut()`` and after a refusal.
  func adoptKept() async {
    await running?.task.value
    guard !isClosed, let kept = try? await renewal.store.load()?.session,
      renewal.orgId.map({ $0 == kept.orgId }) ?? true
    else { return }
    (isLoaded, isSignedOut, obstacle) = (true, false, nil)
    await use(Renewed(session: kept, isFresh: true))
  }

  /// Forgets the session, here and where it is kept: requests fail until ``signIn()``.
  /// - Returns: The newest one that was known; nil when nobody was signed in.
  func signOut() async -> Session? {
    isSignedOut = true
    await running?.task.value
    try? await load()
    let newest = await renewal.forget() ?? session
    (session, isKept) = (nil, true)
    return newest
  }

  /// Ends what waits. A renewal under way gets a few seconds: where refresh tokens rotate, an answer that is not awaited is lost.
  func shutdown() async {
    isClosed = true
    answer(.failure(.shutDown(outcome: .notSent)))
    guard let task = running?.task else { return }
    let patience = Task { [environment = renewal.oauth.sender.environment] in
      try? await environment.sleep(Self.lastSeconds)
      task.cancel()
    }
    await task.value
    patience.cancel()
  }

  private static let lastSeconds = 5.0

  private func load() async throws(RestError) {
    guard !isLoaded else { return }
    let kept: Session?
    do {
      kept = try await renewal.store.load()?.session
    } catch {
      throw RestError(keeping: error)
    }
    guard !isLoaded else { return }
    isLoaded = true
    session = kept
  }

  /// - Throws: what keeps every request from a session.
  private func replacement(of refused: Session?) throws(RestError) -> Renewed? {
    if isClosed { throw .shutDown(outcome: .notSent) }
    if isSignedOut { throw .signedOut }
    if let obstacle { throw obstacle }
    guard running == nil, !isRefused, let session, session.accessToken != refused?.accessToken else { return nil }
    return Renewed(session: session, isFresh: isFresh)
  }

  // MARK: One renewal at a time

  private func outcome(of cause: RenewalCause) async throws(RestError) -> Renewed? {
    while let running {
      let result = await nextOutcome()
      if running.cause >= cause { return try result.get() }
      if case .success(let renewed?) = result { return renewed }
      if case .failure(let error) = result, error.code == .cancelled || isClosed { throw error }
    }
    if isClosed { throw .shutDown(outcome: .notSent) }
    running = (cause, Task { await self.renew(cause) })
    return try await nextOutcome().get()
  }

  private func renew(_ cause: RenewalCause) async {
    var result: Result<Renewed?, RestError>
    do {
      result = .success(try await renewal.run(cause, replacing: session, isUnsaved: !isKept))
    } catch {
      result = .failure(isClosed ? .shutDown(outcome: .notSent) : RestError(keeping: error))
    }
    switch result {
    case .success(let renewed?): await use(renewed)
    case .success: break
    case .failure(let error): await note(error)
    }
    running = nil
    answer(result)
  }

  private func use(_ renewed: Renewed) async {
    let isFirst = session == nil
    session = renewed.session
    (isFresh, isKept) = (renewed.isFresh, renewed.isKept)
    (isRefused, wasLost) = (false, false)
    await onChange(isFirst ? .signedIn(renewed.session) : .renewed(renewed.session))
  }

  private func note(_ error: RestError) async {
    if error.code == .otherOrg { obstacle = error }
    guard error.isLoss, let session, !wasLost else { return }
    wasLost = true
    await onChange(.lost(session, error))
  }

  private func answer(_ result: Result<Renewed?, RestError>) {
    let waiters = waiting
    waiting = [:]
    for waiter in waiters.values { waiter.resume(returning: result) }
  }

  private func nextOutcome() async -> Result<Renewed?, RestError> {
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
