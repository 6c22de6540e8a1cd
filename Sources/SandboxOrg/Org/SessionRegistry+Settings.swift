import Database

// What an org remembers beside its tokens: approvals, and texts that are made up once.
extension SessionRegistry {
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
  static func setting(_ name: String, _ configured: String?, _ connection: Connection) throws -> String {
    let stored = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if configured == nil, case .text(let value)? = stored { return value }
    let value = configured ?? RandomText.make(32)
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES (?, ?)", [.text(name), .text(value)])
    return value
  }

  /// True from the second time on.
  static func flag(_ name: String, _ connection: Connection) throws -> Bool {
    let isSet = try connection.firstValue("SELECT 1 FROM sandbox_setting WHERE name = ?", [.text(name)]) != nil
    if !isSet { try connection.run("INSERT INTO sandbox_setting VALUES (?, '1')", [.text(name)]) }
    return isSet
  }
}
