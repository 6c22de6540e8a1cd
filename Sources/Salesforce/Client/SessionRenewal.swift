import RestClient

/// Renews the session in a store that several processes share, holding the store's lock meanwhile. One renewal runs at a time.
struct SessionRenewal: Sendable {
  struct Renewed: Sendable {
    let session: Session
    /// True if this process has just obtained the session; false if another process did.
    let isFresh: Bool
    /// False if saving the session failed, so that it exists only in memory.
    var isKept = true
  }

  let store: any SessionStore
  let oauth: OAuthClient
  let credentials: Credentials?
  /// The org that every session must belong to; nil accepts the org of the first session.
  var orgId: String?

  private var environment: RetryEnvironment { oauth.sender.environment }

  /// - Parameters:
  ///   - old: The current session, which is no longer valid.
  ///   - isUnsaved: True if `old` is newer than the stored session, because saving it failed.
  /// - Returns: nil if there is no new session and the login host must not be asked yet; only for the cause `unreachable`.
  /// - Throws: `RestError`, and the errors of the store.
  func run(_ cause: RenewalCause, replacing old: Session?, isUnsaved: Bool) async throws -> Renewed? {
    try await store.withLock {
      var kept = try await store.load() ?? StoredSession()
      if isUnsaved { kept.session = old }
      let credentials = credentials ?? kept.session.flatMap { Credentials(renewing: $0) }
      let isSame = try kept.refusal.map { try credentials?.matches($0.key, latest: kept.session?.refreshToken) ?? false } ?? false
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

  /// Erases the stored session and refusal.
  /// - Returns: The erased session; nil if there was none or it could not be read.
  func forget() async -> Session? {
    do {
      return try await store.withLock {
        let kept = try? await store.load()
        try await store.erase()
        return kept?.session
      }
    } catch {
      oauth.sender.logger.warning("the stored session could not be removed: \(error)")
      return nil
    }
  }

  // MARK: Asking

  private func ask(
    _ credentials: Credentials, _ known: StoredSession, _ cause: RenewalCause, replacing old: Session?, isOfSameCredentials: Bool
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
      // The stored refresh token was refused, and the credentials have changed since: use theirs.
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
      // The session is valid, and with rotating refresh tokens it is the only one: use it, and save it with the next renewal.
      oauth.sender.logger.warning("the session is used but could not be stored: \(error)")
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

  /// Refuses a session of a different org or user. The same user name may belong to another org: a refreshed sandbox has a new
  /// org id.
  private func check(_ fresh: Session, against known: Session?, _ credentials: Credentials) throws(RestError) {
    try checkOrg(fresh)
    guard let known else { return }
    if !known.isOfSameOrg(as: fresh) { throw .other("org", at: known.loginURL, kept: known.orgId, given: fresh.orgId) }
    guard !known.isOfSameUser(as: fresh) else { return }
    // The app's settings choose the run-as user, so a change is allowed.
    guard case .clientCredentials = credentials else {
      throw .other("user", at: known.loginURL, kept: known.userId, given: fresh.userId)
    }
    oauth.sender.logger.warning("the app runs as user \(fresh.userId) now, before it was \(known.userId)")
  }

  /// Refuses a session of an org other than the one whose data the folder holds, even if there is no stored session to compare.
  private func checkOrg(_ session: Session) throws(RestError) {
    guard let orgId, !Session.isSame(orgId, session.orgId) else { return }
    throw .other("org", at: session.loginURL, kept: orgId, given: session.orgId)
  }

  // MARK: Refusals

  /// Stores the login host's refusal, so that no process asks again too soon.
  private func remember(
    _ error: RestError, _ credentials: Credentials, _ kept: StoredSession, _ isOfSameCredentials: Bool
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
    do {
      kept.refusal = StoredSession.Refusal(
        error, reason, after: kept.refusal, isOfSameCredentials: isOfSameCredentials,
        key: try credentials.refusalKey(latest: kept.session?.refreshToken), now: environment.now())
      try await store.save(kept)
    } catch {
      oauth.sender.logger.warning("the refusal could not be stored: \(error)")
    }
  }
}
