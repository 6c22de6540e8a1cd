import RestClient

/// A change of a client's session. Observers are notified before the requests continue that wait for it.
public enum SessionChange: Sendable {
  /// The first session of this client.
  case signedIn(Session)
  /// A different token is in use, obtained by this or another process.
  case renewed(Session)
  /// The session has ended, and only a person or other credentials can restore it.
  case lost(Session, RestError)
}

/// Holds the current session and renews it on demand. Concurrent requests share one renewal.
actor SessionProvider {
  typealias Renewed = SessionRenewal.Renewed
  private typealias Waiter = CheckedContinuation<Result<Renewed?, RestError>, Never>

  private let renewal: SessionRenewal
  private let onChange: @Sendable (SessionChange) async -> Void
  private var session: Session?
  private var isFresh = false
  /// True once the server has refused the current session.
  private var isRefused = false
  private var isKept = true
  private var isLoaded = false, isSignedOut = false, isClosed = false
  /// True once observers were notified that the session is lost.
  private var wasLost = false
  /// A permanent error: the session belongs to a different org. Only an explicit sign-in clears it.
  private var obstacle: RestError?
  private var running: (cause: RenewalCause, task: Task<Void, Never>)?
  private var waiting: [UInt64: Waiter] = [:]
  private var nextWaiter: UInt64 = 0

  init(_ renewal: SessionRenewal, onChange: @escaping @Sendable (SessionChange) async -> Void) {
    self.renewal = renewal
    self.onChange = onChange
  }

  /// Returns the current session. Waits for a renewal in progress, and signs in if there is no session.
  func current() async throws(RestError) -> Session {
    try await load()
    if running == nil, let session, !isRefused { return session }
    return try await renewed(replacing: session).session
  }

  /// Returns the current session without asking the login host; nil if no user is signed in.
  func known() async -> Session? {
    try? await load()
    return session
  }

  /// Returns a session other than the refused one. If it has already been replaced, returns the replacement.
  ///
  /// - Throws: ``RestError`` `.notAuthenticated` if the server refuses the credentials or there are none,
  ///   `.cancelled` if the caller's task is cancelled (the renewal continues for the others), otherwise the error of the
  ///   request to the login host.
  func renewed(replacing refused: Session?) async throws(RestError) -> Renewed {
    if let known = try replacement(of: refused) { return known }
    if let refused, refused.accessToken == session?.accessToken { isRefused = true }
    guard let renewed = try await outcome(of: .needed) else { preconditionFailure("only an unreachable instance is left alone") }
    return renewed
  }

  /// Returns a session on another instance after the current one was unreachable; nil if there is none.
  func moved(from unreachable: Session) async throws(RestError) -> Renewed? {
    if let known = try replacement(of: unreachable) { return known }
    return try await outcome(of: .unreachable)
  }

  /// Replaces the current session by a new one. Also works after ``signOut()`` and after a refusal.
  func signIn() async throws(RestError) -> Session {
    isSignedOut = false
    obstacle = nil
    try await load()
    guard let renewed = try await outcome(of: .asked) else { preconditionFailure("a sign-in gives a session or fails") }
    return renewed.session
  }

  /// Adopts the session that a browser sign-in has stored. Also works after ``signOut()`` and after a refusal.
  func adoptKept() async {
    await running?.task.value
    guard !isClosed, let kept = try? await renewal.store.load()?.session,
      renewal.orgId.map({ $0 == kept.orgId }) ?? true
    else { return }
    (isLoaded, isSignedOut, obstacle) = (true, false, nil)
    await use(Renewed(session: kept, isFresh: true))
  }

  /// Removes the session from memory and from the store. Requests fail until ``signIn()``.
  /// - Returns: The newest session; nil if no user was signed in.
  func signOut() async -> Session? {
    isSignedOut = true
    await running?.task.value
    try? await load()
    let newest = await renewal.forget() ?? session
    (session, isKept) = (nil, true)
    return newest
  }

  /// Fails all waiting requests. A renewal in progress gets a few seconds to finish, because with rotating refresh tokens an
  /// abandoned response loses the new token.
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

  /// Returns the session that has already replaced `refused`; nil if a renewal is needed.
  /// - Throws: ``RestError`` if no request can have a session: after a shutdown, a sign-out or a permanent error.
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
