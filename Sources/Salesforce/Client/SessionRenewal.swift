import RestClient

/// One renewal of a session for all processes that keep it in the same place: what happens between taking the lock and giving it
/// back. Run once at a time.
struct SessionRenewal: Sendable {
  struct Renewed: Sendable {
    let session: Session
    /// Whether the server gave it to this process now; else another process had got it before.
    let isFresh: Bool
    /// False when it is only in memory, because it could not be kept.
    var isKept = true
  }

  let store: any SessionStore
  let oauth: OAuthClient
  let credentials: Credentials?
  /// The org that sessions must be of; nil takes the one of the first.
  var orgId: String?

  private var environment: RetryEnvironment { oauth.sender.environment }

  /// - Parameters:
  ///   - old: The session in use, which is not good any more.
  ///   - isUnsaved: Whether `old` is newer than what is kept, because it could not be kept.
  /// - Returns: Nil when there is nothing new and the login host is not to be asked, which happens after `unreachable` alone.
  /// - Throws: `RestError`, and what the store throws.
  func run(_ cause: RenewalCause, replacing old: Session?, isUnsaved: Bool) async throws -> Renewed? {
    try await store.withLock {
      var kept = try await store.load() ?? KeptSession()
      if isUnsaved { kept.session = old }
      let credentials = credentials ?? kept.session.flatMap { Credentials(renewing: $0) }
      let isSame = kept.refusal.map { credentials?.matches($0.key, latest: kept.session?.refreshToken) ?? false } ?? false
      switch RenewalStep(
        cause, kept: kept, replacing: old?.accessToken, isOfSameCredentials: isSame, now: environment.now())
      {
      case .use(let session):
        try checkOrg(session)
        return Renewed(session: session, isFresh: false)
      case .fail(let refusal): throw refusal.error
      case .leave: return nil
      case .ask:
        guard let credentials else { throw RestError.cannotRenew(old) }
        try await store.reserve()
        return try await ask(credentials, kept, cause, replacing: old, isOfSameCredentials: isSame)
      }
    }
  }

  /// Removes what is kept.
  /// - Returns: The session it was; nil when there was none, or when it cannot be read.
  func forget() async -> Session? {
    do {
      return try await store.withLock {
        let kept = try? await store.load()
        try await store.erase()
        return kept?.session
      }
    } catch {
      oauth.sender.logger.warning("the session could not be removed from where it is kept: \(error)")
      return nil
    }
  }

  // MARK: Asking

  private func ask(
    _ credentials: Credentials, _ known: KeptSession, _ cause: RenewalCause, replacing old: Session?, isOfSameCredentials: Bool
  ) async throws -> Renewed {
    var kept = known
    if cause == .unreachable {
      kept.unreachableAt = environment.now()
      try await store.save(kept)
      try await store.reserve()
    }
    let fresh: Session
    do throws(RestError) {
      var previous = known.session
      // Since the stored refresh token was refused, another one was put into the credentials.
      if known.refusal?.reason == SignInReason.sessionEnded.rawValue, !isOfSameCredentials { previous?.refreshToken = nil }
      fresh = try await signIn(credentials, cause, previous: previous, refused: cause == .needed ? old?.accessToken : nil)
    } catch {
      await remember(error, credentials, kept, isOfSameCredentials)
      throw error
    }
    kept.session = fresh
    kept.refusal = nil
    do {
      try await store.save(kept)
      return Renewed(session: fresh, isFresh: true)
    } catch {
      // It is good, and where refresh tokens rotate it is the only one: used, and kept with the next renewal.
      oauth.sender.logger.warning("the session is used but could not be kept: \(error)")
      return Renewed(session: fresh, isFresh: true, isKept: false)
    }
  }

  private func signIn(
    _ credentials: Credentials, _ cause: RenewalCause, previous: Session?, refused: String?
  ) async throws(RestError) -> Session {
    let attempts = OAuthClient.Attempts(isSingle: cause == .unreachable) { [store, old = previous?.accessToken] in
      guard let other = try? await store.load()?.session, other.accessToken != old else { return nil }
      return other
    }
    let fresh = try await oauth.signIn(credentials, previous: previous, refused: refused, attempts)
    try check(fresh, against: previous, credentials)
    oauth.sender.logger.info("signed in", metadata: fresh.logged)
    return fresh
  }

  /// The same names may be another org's, or another user's: a sandbox that was refreshed has a new id.
  private func check(_ fresh: Session, against known: Session?, _ credentials: Credentials) throws(RestError) {
    try checkOrg(fresh)
    guard let known else { return }
    if !known.isOfSameOrg(as: fresh) { throw .other("org", at: known.loginURL, kept: known.orgId, given: fresh.orgId) }
    guard !known.isOfSameUser(as: fresh) else { return }
    // Which user that is, is up to the app.
    guard case .clientCredentials = credentials else {
      throw .other("user", at: known.loginURL, kept: known.userId, given: fresh.userId)
    }
    oauth.sender.logger.warning("the app runs as user \(fresh.userId) now, before it was \(known.userId)")
  }

  /// Its folder has the data of one org, also where no session is kept to compare with.
  private func checkOrg(_ session: Session) throws(RestError) {
    guard let orgId, !Session.isSame(orgId, session.orgId) else { return }
    throw .other("org", at: session.loginURL, kept: orgId, given: session.orgId)
  }

  // MARK: Refusals

  /// Keeps the login host's refusal, so that no process asks it again too soon.
  private func remember(
    _ error: RestError, _ credentials: Credentials, _ kept: KeptSession, _ isOfSameCredentials: Bool
  ) async {
    guard error.code == .notAuthenticated, error.outcome != .notSent,
      let reason = error.reason.flatMap({ SignInReason(rawValue: $0) })
    else { return }
    let said = error.errors.first?["error_description"]?.stringValue ?? ""
    oauth.sender.logger.warning(
      "sign-in refused",
      metadata: [
        "reason": "\(reason.rawValue)", "host": "\(credentials.loginURL)", "flow": "\(credentials.grant.rawValue)",
        "error": "\(error.serverCode ?? "")", "description": "\(String(said.prefix(200)))",
      ])
    guard reason.isKept else { return }
    var kept = kept
    kept.refusal = KeptSession.Refusal(
      error, reason, after: kept.refusal, isOfSameCredentials: isOfSameCredentials,
      key: credentials.refusalKey(latest: kept.session?.refreshToken), now: environment.now())
    do {
      try await store.save(kept)
    } catch {
      oauth.sender.logger.warning("the refusal could not be kept: \(error)")
    }
  }
}
