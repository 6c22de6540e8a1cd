import Database

/// The `Organization` record, whose Id is the org's Id. Each refresh of the sandbox changes it.
struct OrganizationRecord {
  private let connection: Connection
  /// The distance between the ids of one org before and after a refresh, so that no two orgs share
  /// an id.
  private static let step: Int64 = 1_000_000_000

  init(_ connection: Connection) { self.connection = connection }

  /// - Returns: The org's id. In the caller's transaction.
  func prepare(number: Int64) throws -> String {
    let refreshes = try setting("org_refreshes").flatMap { Int64($0) } ?? 0
    let id = RecordID.make(prefix: "00D", sequence: number + refreshes * Self.step)
    try connection.run("UPDATE \"Organization\" SET Id = ?1 WHERE Id <> ?1", [.text(id)])
    return id
  }

  /// - Returns: The new id.
  func refresh(number: Int64) throws -> String {
    let refreshes = try setting("org_refreshes").flatMap { Int64($0) } ?? 0
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES ('org_refreshes', ?)", [.text("\(refreshes + 1)")])
    return try prepare(number: number)
  }

  private func setting(_ name: String) throws(DatabaseError) -> String? {
    let found = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    guard case .text(let value)? = found else { return nil }
    return value
  }
}
