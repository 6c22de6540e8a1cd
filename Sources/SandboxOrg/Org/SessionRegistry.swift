import Database

/// Access and refresh tokens, and users' approvals. On the org's queue. Everything survives a
/// restart.
final class SessionRegistry {
  enum Kind: String { case access, refresh }

  /// The rights of a token.
  struct Grant: Equatable {
    let user: String
    let client: String
    /// Names separated by blanks.
    let scope: String
  }

  struct Session {
    let kind: Kind
    let grant: Grant
    /// For an access token: its refresh token. For a refresh token: the first of its rotation
    /// chain.
    let parent: String?
    /// Seconds since 1970 UTC.
    let issued: Int64
    var lastUsed: Int64
    /// True for a refresh token that has been rotated.
    var isSpent = false
    /// The number of the session in order of creation.
    let number: Int64
  }

  let password: String
  let clientSecret: String
  /// Issued when the org was created, for clients that start from a refresh token.
  let provisionedRefreshToken: String
  let connection: Connection
  private let configuration: SandboxConfiguration
  private var sessions: [String: Session] = [:]
  private var lastNumber: Int64 = 0

  init(connection: Connection, configuration: SandboxConfiguration) throws {
    self.connection = connection
    self.configuration = configuration
    password = try Self.setting("password", configuration.password, connection)
    clientSecret = try Self.setting("client_secret", configuration.clientSecret, connection)
    provisionedRefreshToken = try Self.setting("refresh_token", nil, connection)
    try load()
    if !(try Self.flag("provisioned", connection)) {
      let grant = Grant(user: Users.caller, client: configuration.clientId, scope: "refresh_token api web")
      try add(
        provisionedRefreshToken,
        Session(kind: .refresh, grant: grant, parent: provisionedRefreshToken, issued: 0, lastUsed: 0, number: 0))
    }
  }

  static func prepare(_ connection: Connection) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_token (token TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL, "
        + "client TEXT NOT NULL, scope TEXT NOT NULL, parent TEXT, issued INTEGER NOT NULL, "
        + "last_used INTEGER NOT NULL, spent INTEGER NOT NULL, number INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID")
    // The file was created by an earlier release.
    if try connection.firstValue("SELECT 1 FROM pragma_table_info('sandbox_token') WHERE name = 'number'") == nil {
      try connection.execute("ALTER TABLE sandbox_token ADD COLUMN number INTEGER NOT NULL DEFAULT 0")
    }
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_approval (client TEXT NOT NULL, user TEXT NOT NULL, scope TEXT NOT NULL, "
        + "PRIMARY KEY (client, user)) WITHOUT ROWID")
  }

  private func load() throws {
    let statement = try connection.statement(
      "SELECT token, kind, user, client, scope, parent, issued, last_used, spent, number FROM sandbox_token")
    defer { statement.reset() }
    while try statement.step() {
      sessions[statement.string(0)] = Session(
        kind: Kind(rawValue: statement.string(1)) ?? .access,
        grant: Grant(user: statement.string(2), client: statement.string(3), scope: statement.string(4)),
        parent: statement.isNull(5) ? nil : statement.string(5), issued: statement.int64(6),
        lastUsed: statement.int64(7), isSpent: statement.int64(8) != 0, number: statement.int64(9))
      lastNumber = max(lastNumber, statement.int64(9))
    }
  }

  // MARK: Issuing

  /// - Parameter refreshToken: The token for which it is issued; revoking that one revokes it as
  ///   well.
  func issueAccessToken(_ grant: Grant, organization: String, refreshToken: String? = nil) throws -> String {
    try forgetExpired()
    let token = "\(organization.prefix(15))!\(RandomText.make(64))"
    let now = configuration.clock.now()
    try add(
      token, Session(kind: .access, grant: grant, parent: refreshToken, issued: now, lastUsed: now, number: nextNumber()))
    return token
  }

  /// Issues a refresh token. Ends the oldest one of the user and client above the limit.
  func issueRefreshToken(_ grant: Grant) throws -> String {
    try endOldest(of: grant)
    let token = Self.refreshToken()
    let now = configuration.clock.now()
    try add(token, Session(kind: .refresh, grant: grant, parent: token, issued: now, lastUsed: now, number: nextNumber()))
    return token
  }

  private func endOldest(of grant: Grant) throws {
    let lines = sessions.filter { token, session in
      session.kind == .refresh && !session.isSpent && session.grant.user == grant.user && session.grant.client == grant.client
        && token != provisionedRefreshToken
    }
    let surplus = lines.count + 1 - Tuning.refreshTokensPerUser
    guard surplus > 0 else { return }
    // The age of a rotation chain is that of its first token.
    let byAge = lines.sorted { firstNumber(of: $0.value) < firstNumber(of: $1.value) }
    for (token, session) in byAge.prefix(surplus) { try revokeChain(session.parent ?? token) }
  }

  private func firstNumber(of session: Session) -> Int64 {
    session.parent.flatMap { sessions[$0]?.number } ?? session.number
  }

  private func nextNumber() -> Int64 {
    lastNumber += 1
    return lastNumber
  }

  /// Replaces a refresh token by a new one; the access tokens of the old one end.
  func rotate(_ token: String) throws -> String {
    guard var old = sessions[token] else { throw SandboxError.sessionInvalid }
    let new = Self.refreshToken()
    let now = configuration.clock.now()
    try add(
      new, Session(kind: .refresh, grant: old.grant, parent: old.parent, issued: now, lastUsed: now, number: nextNumber()))
    for (key, session) in sessions where session.kind == .access && session.parent == token { try remove(key) }
    old.isSpent = true
    try add(token, old)
    return new
  }

  private static func refreshToken() -> String { "5Aep861\(RandomText.make(73))" }

  // MARK: Finding

  /// Returns the session of a valid access token. This extends its life unless `keepingAlive` is
  /// false.
  func session(ofAccessToken token: String, keepingAlive: Bool = true) -> Session? {
    let now = configuration.clock.now()
    guard let session = sessions[token], session.kind == .access, isAlive(session, now) else { return nil }
    if keepingAlive { sessions[token]?.lastUsed = now }
    return session
  }

  /// Returns the grant of a refresh token. Reuse after rotation means that the token was stolen:
  /// its whole chain ends.
  func grant(ofRefreshToken token: String, of client: SandboxClient) throws -> Grant? {
    guard var session = sessions[token], session.kind == .refresh, session.grant.client == client.id else { return nil }
    guard !session.isSpent else {
      try revokeChain(session.parent ?? token)
      return nil
    }
    guard isValid(session, client.refreshTokens) else { return nil }
    session.lastUsed = configuration.clock.now()
    try add(token, session)
    return session.grant
  }

  /// Returns the session of a valid refresh token, for introspection.
  func session(ofRefreshToken token: String, of client: SandboxClient) -> Session? {
    sessions[token].flatMap { $0.kind == .refresh && !$0.isSpent && isValid($0, client.refreshTokens) ? $0 : nil }
  }

  /// Tokens that a new org is provisioned with do not age.
  private func isValid(_ session: Session, _ policy: SandboxClient.RefreshTokens) -> Bool {
    let now = configuration.clock.now()
    let first = session.parent.flatMap { sessions[$0]?.issued } ?? session.issued
    return switch policy {
    case .untilRevoked: true
    case .immediately: false
    case .idle(let seconds): session.lastUsed == 0 || now - session.lastUsed <= seconds
    case .total(let seconds): first == 0 || now - first <= seconds
    }
  }

  private func isAlive(_ session: Session, _ now: Int64) -> Bool {
    session.kind == .refresh || now - session.lastUsed <= configuration.accessTokenLifetime
  }

  // MARK: Ending

  /// Revokes an access token, or a refresh token with its rotation chain and their access tokens.
  ///
  /// - Returns: False if there is no such token.
  func revoke(_ token: String) throws -> Bool {
    guard let session = sessions[token], isAlive(session, configuration.clock.now()) else { return false }
    if session.kind == .refresh { try revokeChain(session.parent ?? token) } else { try remove(token) }
    return true
  }

  private func revokeChain(_ first: String) throws {
    let line = Set(sessions.filter { $0.value.kind == .refresh && $0.value.parent == first }.keys)
    for (key, session) in sessions where line.contains(key) || session.parent.map({ line.contains($0) }) == true {
      try remove(key)
    }
  }

  /// Ends every token and deletes users' approvals.
  func endAll() throws {
    sessions.removeAll()
    try connection.execute("DELETE FROM sandbox_token; DELETE FROM sandbox_approval")
  }

  func expireAccessTokens() throws {
    for (key, session) in sessions where session.kind == .access { try remove(key) }
  }

  /// Removes expired tokens, which would accumulate in a long-lived org.
  private func forgetExpired() throws {
    guard sessions.count >= Tuning.keptSessions else { return }
    let now = configuration.clock.now()
    for (key, session) in sessions where !isAlive(session, now) { try remove(key) }
  }

  private func add(_ token: String, _ session: Session) throws {
    sessions[token] = session
    try connection.run(
      "INSERT OR REPLACE INTO sandbox_token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .text(token), .text(session.kind.rawValue), .text(session.grant.user), .text(session.grant.client),
        .text(session.grant.scope), session.parent.map { .text($0) } ?? .null, .integer(session.issued),
        .integer(session.lastUsed), .integer(session.isSpent ? 1 : 0),
        .integer(session.number),
      ])
  }

  private func remove(_ token: String) throws {
    sessions[token] = nil
    try connection.run("DELETE FROM sandbox_token WHERE token = ?", [.text(token)])
  }
}

/// The two seeded users.
enum Users {
  /// The default user.
  static let caller = RecordID.make(prefix: "005", sequence: 1)
  /// The user who makes changes that do not come from the signed-in user.
  static let colleague = RecordID.make(prefix: "005", sequence: 2)
}
