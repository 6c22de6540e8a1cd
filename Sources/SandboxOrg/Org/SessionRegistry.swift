import Database

/// Who may call: the org's secrets, access tokens and refresh tokens. On the org's queue; tokens outlive a restart.
final class SessionRegistry {
  enum Kind: String { case access, refresh }
  struct Session {
    let user: String
    let parent: String?
    let kind: Kind
    var lastUsed: Int64
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
    let statement = try connection.statement("SELECT token, kind, user, parent, last_used FROM sandbox_token")
    defer { statement.reset() }
    while try statement.step() {
      sessions[statement.string(0)] = Session(
        user: statement.string(2), parent: statement.isNull(3) ? nil : statement.string(3),
        kind: Kind(rawValue: statement.string(1)) ?? .access, lastUsed: statement.int64(4))
    }
    if !(try Self.flag("provisioned", connection)) {
      try add(provisionedRefreshToken, Session(user: Users.caller, parent: nil, kind: .refresh, lastUsed: 0))
    }
  }

  /// - Parameter refreshToken: The token it was issued for; revoking that one ends it too.
  func issueAccessToken(user: String, organization: String, refreshToken: String? = nil) throws -> String {
    let token = "\(organization.prefix(15))!\(Self.random(64))"
    try add(token, Session(user: user, parent: refreshToken, kind: .access, lastUsed: configuration.clock.now()))
    return token
  }

  /// The user of an access token that is still valid. Using it keeps it alive.
  func user(ofAccessToken token: String) -> String? {
    let now = configuration.clock.now()
    guard let session = sessions[token], session.kind == .access,
      now - session.lastUsed <= configuration.accessTokenLifetime
    else { return nil }
    sessions[token]?.lastUsed = now
    return session.user
  }

  func user(ofRefreshToken token: String) -> String? {
    guard let session = sessions[token], session.kind == .refresh else { return nil }
    return session.user
  }

  /// - Returns: false when there is no such token.
  func revoke(_ token: String) throws -> Bool {
    guard sessions[token] != nil else { return false }
    for (key, session) in sessions where key == token || session.parent == token { try remove(key) }
    _ = sessions.removeValue(forKey: token)
    return true
  }

  func expireAccessTokens() throws {
    for (key, session) in sessions where session.kind == .access { try remove(key) }
  }

  private func add(_ token: String, _ session: Session) throws {
    sessions[token] = session
    try connection.run(
      "INSERT OR REPLACE INTO sandbox_token VALUES (?, ?, ?, ?, ?)",
      [
        .text(token), .text(session.kind.rawValue), .text(session.user), session.parent.map { .text($0) } ?? .null,
        .integer(session.lastUsed),
      ])
  }

  private func remove(_ token: String) throws {
    sessions[token] = nil
    try connection.run("DELETE FROM sandbox_token WHERE token = ?", [.text(token)])
  }

  // MARK: Settings

  /// The configured value, else the one in the database, else a random one; kept for the next start.
  private static func setting(_ name: String, _ configured: String?, _ connection: Connection) throws -> String {
    let stored = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if configured == nil, case .text(let value)? = stored { return value }
    let value = configured ?? random(32)
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES (?, ?)", [.text(name), .text(value)])
    return value
  }

  /// True from the second time on.
  private static func flag(_ name: String, _ connection: Connection) throws -> Bool {
    let isSet = try connection.firstValue("SELECT 1 FROM sandbox_setting WHERE name = ?", [.text(name)]) != nil
    if !isSet { try connection.run("INSERT INTO sandbox_setting VALUES (?, '1')", [.text(name)]) }
    return isSet
  }

  /// From the system's generator: tokens guard the loopback port against other users of the computer.
  static func random(_ length: Int) -> String {
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")
    var generator = SystemRandomNumberGenerator()
    return String((0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] })
  }
}

/// The two seeded users.
enum Users {
  /// Who signs in.
  static let caller = RecordID.make(prefix: "005", sequence: 1)
  /// Who makes the changes that do not come from the signed-in user.
  static let colleague = RecordID.make(prefix: "005", sequence: 2)
}
