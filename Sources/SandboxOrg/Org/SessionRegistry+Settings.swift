import Database

// Approvals, and generated settings that are stored with the org.
extension SessionRegistry {
  // MARK: Approvals

  /// Returns the scopes that a user has approved for a client; nil if none.
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

  /// Returns a text that is generated once and stored with the org.
  func keptText(_ name: String, _ make: () throws -> String) throws -> String {
    let found = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if case .text(let value)? = found { return value }
    return try Self.setting(name, try make(), connection)
  }

  /// Returns the configured value, else the stored one, else a random one, and stores it for the
  /// next start.
  static func setting(_ name: String, _ configured: String?, _ connection: Connection) throws -> String {
    let stored = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    if configured == nil, case .text(let value)? = stored { return value }
    let value = configured ?? RandomText.make(32)
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES (?, ?)", [.text(name), .text(value)])
    return value
  }

  /// Returns false the first time it is called for a name, then true.
  static func flag(_ name: String, _ connection: Connection) throws -> Bool {
    let isSet = try connection.firstValue("SELECT 1 FROM sandbox_setting WHERE name = ?", [.text(name)]) != nil
    if !isSet { try connection.run("INSERT INTO sandbox_setting VALUES (?, '1')", [.text(name)]) }
    return isSet
  }
}
