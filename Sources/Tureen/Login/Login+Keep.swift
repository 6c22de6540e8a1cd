import JSON
import RestClient
import Salesforce

extension Login {
  /// Identifies the user of a new session and stores it; then revokes the session that it replaces.
  ///
  /// If that fails, the new session is revoked, unless it belongs to another program.
  ///
  /// - Parameter credentials: The members of a credentials file.
  func keep(
    _ session: Session, _ credentials: JSONObject, _ client: OAuthClient, _ tell: @Sendable (LoginEvent) -> Void
  ) async throws -> LoginAccount {
    do {
      return try await identifyAndKeep(session, credentials, client, tell)
    } catch {
      if plan.flow.ownsSession { await revoke(session, client) }
      throw error
    }
  }

  private func identifyAndKeep(
    _ session: Session, _ credentials: JSONObject, _ client: OAuthClient, _ tell: @Sendable (LoginEvent) -> Void
  ) async throws -> LoginAccount {
    let identity = try await client.identity(of: session, apiVersion: dependencies.apiVersion)
    try check(identity)
    let complete = complete(session, identity)
    let recorded = RecordedLogin(
      session: complete, credentials: named(credentials, complete), orgName: settings.org,
      isSandbox: (try? await client.isSandbox(session, apiVersion: dependencies.apiVersion)) ?? nil,
      makesDefault: settings.makesDefault,
      replacesOrg: settings.replacesOrg)
    let place = try await Blocking.offPool { [directory] in try directory.place(recorded) }
    if let replaced = try await Blocking.offPool({ try replacedSignIn(at: place, by: recorded) }) { tell(.warning(replaced)) }
    let store = dependencies.store(place.folder, place.userFolder)
    let previous = place.conflict == nil ? try await kept(place, store) : nil
    try Task.checkCancellation()
    let entry = try await directory.record(recorded, in: store)
    if plan.browser != nil, session.refreshToken == nil { tell(.warning(Self.withoutRefreshToken)) }
    if let previous, isReplaced(previous, by: session), !(await revoke(previous, client)) {
      tell(.warning("the session before this one could not be revoked at \(previous.loginURL): it lives until it expires"))
    }
    return LoginAccount(
      org: entry.name, username: identity.name, displayName: identity.displayName, userId: identity.userId,
      orgId: identity.orgId, instanceURL: session.instanceURL, flow: plan.flow, isDefault: entry.isDefault,
      folder: entry.folder, userFolder: place.userFolder)
  }

  /// Tells which sign-in without a person this one replaces; nil if it replaces none.
  /// - Throws: ``LoginUsageError`` if the person did not name the org: who signs in to look around must not disable a job.
  private func replacedSignIn(at place: LoginDestination, by login: RecordedLogin) throws -> String? {
    guard place.entry != nil, place.conflict == nil, !login.credentials.isEmpty else { return nil }
    let path = directory.userFolder(org: place.folder, user: place.userFolder) + "/credentials.json"
    let kept = try directory.file(path)?.value
    guard let flow = kept?["flow"]?.stringValue.flatMap(LoginFlow.init), flow.isUnattended else { return nil }
    guard flow != plan.flow || kept?["clientId"] != login.credentials["clientId"] else { return nil }
    let sentence = "\(login.user) of '\(place.name)' signs in with \(flow.rawValue)"
    guard settings.org != nil else {
      throw LoginUsageError(
        "\(sentence), which this sign-in would replace: nothing was changed. Give --org \(place.name) to replace it, or another "
          + "--home to keep both")
    }
    return "\(sentence) no longer: \(plan.flow.rawValue) replaces that"
  }

  private static let withoutRefreshToken = """
    the org gave no refresh token, so this session ends when the org ends it, and only a person can sign in again; add the scope \
    refresh_token to the app, or to --scope, to avoid that
    """

  /// - Throws: ``HostError`` `.otherOrg` if it is not the requested user.
  private func check(_ identity: UserIdentity) throws {
    guard let expected = plan.user else { return }
    let names = [identity.username, identity.userId].compactMap { $0?.lowercased() }
    guard !names.contains(expected.lowercased()) else { return }
    throw HostError(
      .otherOrg,
      "\(identity.name) signed in, and not \(expected): nothing was stored and the session was ended. Sign in as \(expected), or "
        + "give --user \(identity.name)")
  }

  private func complete(_ session: Session, _ identity: UserIdentity) -> Session {
    var session = session
    (session.userId, session.orgId) = (identity.userId, identity.orgId)
    session.flow = plan.flow.rawValue
    // If the org does not reveal the name, it is known only for the flows that send it.
    session.username = identity.username ?? (plan.flow == .jwt || plan.flow == .password ? plan.user : nil)
    session.displayName = identity.displayName
    session.clientId = session.clientId ?? plan.credentials["clientId"]?.stringValue
    return session
  }

  /// Adds the user name to the credentials, which identifies the user's folder later.
  private func named(_ credentials: JSONObject, _ session: Session) -> JSONObject {
    guard plan.flow != .clientCredentials else { return credentials }
    var credentials = credentials
    credentials["username"] = .string(session.username ?? session.userId)
    return credentials
  }

  private func kept(_ place: LoginDestination, _ store: (any SessionStore)?) async throws -> Session? {
    guard place.entry != nil else { return nil }
    let path = directory.userFolder(org: place.folder, user: place.userFolder)
    let store: any SessionStore = store ?? FileSessionStore(folder: path)
    // If the stored session is unreadable, there is nothing to revoke.
    return try? await store.load()?.session
  }

  /// Returns true if the previous session should be revoked. An app may have five refresh tokens per user; a sixth revokes the
  /// oldest, which another machine may be using. Tokens that are shared with another program are not revoked.
  private func isReplaced(_ previous: Session, by session: Session) -> Bool {
    guard let token = previous.refreshToken, token != session.refreshToken else { return false }
    return previous.flow != LoginFlow.sfdxUrl.rawValue
  }

  @discardableResult
  private func revoke(_ session: Session, _ client: OAuthClient) async -> Bool {
    // A separate task, which is not cancelled with the sign-in.
    await Task { (try? await client.revoke(session)) != nil }.value
  }
}

extension LoginFlow {
  /// True if the stored credentials sign in again without a person and without another program.
  var isUnattended: Bool { self == .jwt || self == .clientCredentials || self == .password }

  /// True if Tureen created the session and may revoke it.
  var ownsSession: Bool {
    switch self {
    case .browser, .jwt, .clientCredentials, .password: true
    case .token, .sfdxUrl, .sf: false
    }
  }
}
