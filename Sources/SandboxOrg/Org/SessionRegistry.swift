import Database

/// Access and refresh tokens, and what users allowed. On the org's queue; all of it outlives a restart.
final class SessionRegistry {
  enum Kind: String { case access, refresh }

  /// What a token stands for.
  struct Grant: Equatable {
    let user: String
    let client: String
    /// Names with blanks between them.
    let scope: String
  }

  struct Session {
    let kind: Kind
    let grant: Grant
    /// Of an access token: the refresh token it came with. Of a refresh token: the first of its line.
    let parent: String?
    /// Seconds since 1970 UTC.
    let issued: Int64
    var lastUsed: Int64
    /// A refresh token that another one has taken the place of.
    var isSpent = false
  }

  let password: String
  let clientSecret: String
  /// Issued when the org was made, for clients that start from a refresh token.
  let provisionedRefreshToken: String
  private let connection: Connection
  private let configuration: SandboxConfiguration
  private var sessions: [String: Session] = [:]

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
        Session(kind: .refresh, grant: grant, parent: provisionedRefreshToken, issued: 0, lastUsed: 0))
    }
  }

  static func prepare(_ connection: Connection) throws {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_token (token TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL, "
        + "client TEXT NOT NULL, scope TEXT NOT NULL, parent TEXT, issued INTEGER NOT NULL, "
        + "last_used INTEGER NOT NULL, spent INTEGER NOT NULL) "
        + "WITHOUT ROWID")
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_approval (client TEXT NOT NULL, user TEXT NOT NULL, scope TEXT NOT NULL, "
        + "PRIMARY KEY (client, user)) WITHOUT ROWID")
  }

  private func load() throws {
    let statement = try connection.statement(
      "SELECT token, kind, user, client, scope, parent, issued, last_used, spent FROM sandbox_token")
    defer { statement.reset() }
    while try statement.step() {
      sessions[statement.string(0)] = Session(
        kind: Kind(rawValue: statement.string(1)) ?? .access,
        grant: Grant(user: statement.string(2), client: statement.string(3), scope: statement.string(4)),
        parent: statement.isNull(5) ? nil : statement.string(5), issued: statement.int64(6),
        lastUsed: statement.int64(7), isSpent: statement.int64(8) != 0)
    }
  }

  // MARK: Issuing

  /// - Parameter refreshToken: The token it was issued for; revoking that one ends it too.
  func issueAccessToken(_ grant: Grant, organization: String, refreshToken: String? = nil) throws -> String {
    try forgetExpired()
    let token = "\(organization.prefix(15))!\(RandomText.make(64))"
    let now = configuration.clock.now()
    try add(token, Session(kind: .access, grant: grant, parent: refreshToken, issued: now, lastUsed: now))
    return token
  }

  func issueRefreshToken(_ grant: Grant) throws -> String {
    let token = Self.refreshToken()
    let now = configuration.clock.now()
    try add(token, Session(kind: .refresh, grant: grant, parent: token, issued: now, lastUsed: now))
    return token
  }

  /// Puts a new refresh token in the place of `token`, whose access tokens end.
  func rotate(_ token: String) throws -> String {
    guard var old = sessions[token] else { throw SandboxError.sessionInvalid }
    let new = Self.refreshToken()
    let now = configuration.clock.now()
    try add(new, Session(kind: .refresh, grant: old.grant, parent: old.parent, issued: now, lastUsed: now))
    for (key, session) in sessions where session.kind == .access && session.parent == token { try remove(key) }
    old.isSpent = true
    try add(token, old)
    return new
  }

  private static func refreshToken() -> String { "5Aep861\(RandomText.make(73))" }

  // MARK: Finding

  /// The session of an access token that is still valid. Using it keeps it alive, unless only looked at.
  func session(ofAccessToken token: String, keepingAlive: Bool = true) -> Session? {
    let now = configuration.clock.now()
    guard let session = sessions[token], session.kind == .access, isAlive(session, now) else { return nil }
    if keepingAlive { sessions[token]?.lastUsed = now }
    return session
  }

  func user(ofAccessToken token: String) -> String? { session(ofAccessToken: token)?.grant.user }

  /// A refresh token used a second time after its rotation has been stolen from somebody: its whole line ends.
  func grant(ofRefreshToken token: String) throws -> Grant? {
    guard let session = sessions[token], session.kind == .refresh else { return nil }
    guard session.isSpent else { return session.grant }
    try revokeLine(session.parent ?? token)
    return nil
  }

  /// A refresh token that is still good, for introspection.
  func session(ofRefreshToken token: String) -> Session? {
    sessions[token].flatMap { $0.kind == .refresh && !$0.isSpent ? $0 : nil }
  }

  private func isAlive(_ session: Session, _ now: Int64) -> Bool {
    session.kind == .refresh || now - session.lastUsed <= configuration.accessTokenLifetime
  }

  // MARK: Ending

  /// Ends an access token alone, or a refresh token with its line and the access tokens they brought.
  /// - Returns: false when there is no such token.
  func revoke(_ token: String) throws -> Bool {
    guard let session = sessions[token], isAlive(session, configuration.clock.now()) else { return false }
    if session.kind == .refresh { try revokeLine(session.parent ?? token) } else { try remove(token) }
    return true
  }

  private func revokeLine(_ first: String) throws {
    let line = Set(sessions.filter { $0.value.kind == .refresh && $0.value.parent == first }.keys)
    for (key, session) in sessions where line.contains(key) || session.parent.map({ line.contains($0) }) == true {
      try remove(key)
    }
  }

  func expireAccessTokens() throws {
    for (key, session) in sessions where session.kind == .access { try remove(key) }
  }

  /// Dead tokens would pile up in an org that lives long.
  private func forgetExpired() throws {
    guard sessions.count >= Tuning.keptSessions else { return }
    let now = configuration.clock.now()
    for (key, session) in sessions where !isAlive(session, now) { try remove(key) }
  }

  private func add(_ token: String, _ session: Session) throws {
    sessions[token] = session
    try connection.run(
      "INSERT OR REPLACE INTO sandbox_token VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      [
        .text(token), .text(session.kind.rawValue), .text(session.grant.user), .text(session.grant.client),
        .text(session.grant.scope), session.parent.map { .text($0) } ?? .null, .integer(session.issued),
        .integer(session.lastUsed), .integer(session.isSpent ? 1 : 0),
      ])
  }

  private func remove(_ token: String) throws {
    sessions[token] = nil
    try connection.run("DELETE FROM sandbox_token WHERE token = ?", [.text(token)])
  }

  // MARK: Approvals

  /// The scopes a user has allowed a client; nil when never asked.
  func approvedScopes(client: String, user: String) throws -> Set<String>? {
    let found = try connection.firstValue(
      "SELECT scope FROM sandbox_approval WHERE client = ? AND user = ?", [.text(client), .text(user)])
    guard case .text(let scope)? = found else { return nil }
    return Set(scope.split(separator: " ").map(String.init))
  }

  func approve(_ grant: Grant) throws {
    let scopes = try (approvedScopes(client: grant.client, user: grant.user) ?? [])
      .union(grant.scope.split(separator: " ").map(String.init))
    try connection.run(
      "INSERT OR REPLACE INTO sandbox_approval VALUES (?, ?, ?)",
      [.text(grant.client), .text(grant.user), .text(scopes.sorted().joined(separator: " "))])
  }

  // MARK: Settings

  /// A text that is made up once and kept with the org.
  func keptText(_ name: String, _ make: () throws -> String) throws -> String {
    let found = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if case .text(let value)? = found { return value }
    return try Self.setting(name, try make(), connection)
  }

  /// The configured value, else the one in the database, else a random one; kept for the next start.
  private static func setting(_ name: String, _ configured: String?, _ connection: Connection) throws -> String {
    let stored = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if configured == nil, case .text(let value)? = stored { return value }
    let value = configured ?? RandomText.make(32)
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES (?, ?)", [.text(name), .text(value)])
    return value
  }

  /// True from the second time on.
  private static func flag(_ name: String, _ connection: Connection) throws -> Bool {
    let isSet = try connection.firstValue("SELECT 1 FROM sandbox_setting WHERE name = ?", [.text(name)]) != nil
    if !isSet { try connection.run("INSERT INTO sandbox_setting VALUES (?, '1')", [.text(name)]) }
    return isSet
  }
}

/// The two seeded users.
enum Users {
  /// Who signs in.
  static let caller = RecordID.make(prefix: "005", sequence: 1)
  /// Who makes the changes that do not come from the signed-in user.
  static let colleague = RecordID.make(prefix: "005", sequence: 2)
}
