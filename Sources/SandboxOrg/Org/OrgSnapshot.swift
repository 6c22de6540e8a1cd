import Database

/// A copy of an org's data: records, files, Bulk jobs, notifications, recent items and the
/// briefcase. In memory.
///
/// Sessions, passwords, tokens, fault rules, the request log and the clock are not included.
struct OrgSnapshot {
  fileprivate let database: Connection
  fileprivate var recentlyUsed = RecentItems()
  fileprivate var notifications = NotificationBox()
  fileprivate var briefcase: [BriefcaseRule]
}

/// These run on the org's queue.
extension Org {
  func takeSnapshot(_ name: String) throws {
    guard snapshots[name] != nil || snapshots.count < Tuning.snapshots else {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "the limit of \(Tuning.snapshots) snapshots is reached; reuse one of their names", fields: ["name"])
    }
    let copy = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.copy(to: copy)
    snapshots[name] = OrgSnapshot(
      database: copy, recentlyUsed: recentlyUsed, notifications: notifications, briefcase: briefcase)
  }

  /// - Throws: ``SandboxError`` `NOT_FOUND` if there is no snapshot with that name.
  func restoreSnapshot(_ name: String) throws {
    guard let snapshot = snapshots[name] else {
      let names = snapshots.keys.sorted().joined(separator: ", ")
      throw SandboxError.notFound(
        "there is no snapshot '\(name)'; " + (names.isEmpty ? "take one with the action snapshot" : "the snapshots are \(names)"))
    }
    try restore(snapshot)
  }

  /// Resets the org to its state after a start with the same options.
  func reset() throws {
    var configuration = configuration
    configuration.databasePath = nil
    configuration.schemaPath = nil
    let fresh = try Org(configuration, schemaText: try OrgSettings(connection: connection).schemaText)
    defer { fresh.close() }
    try restore(OrgSnapshot(database: fresh.connection, briefcase: fresh.briefcase))
    directory = try transaction {
      try SignInDirectory(
        configuration, password: sessions.password, clientSecret: sessions.clientSecret, connection: connection)
    }
  }

  private func restore(_ snapshot: OrgSnapshot) throws {
    let kept = try Self.keptTables.map { (table: $0, rows: try rows(of: $0)) }
    try snapshot.database.copy(to: connection)
    try transaction {
      for (table, rows) in kept {
        try connection.run("DELETE FROM \(table)")
        for row in rows {
          try connection.run("INSERT INTO \(table) VALUES (\(row.map { _ in "?" }.joined(separator: ", ")))", row)
        }
      }
      organizationId = try OrganizationRecord(connection).prepare(number: configuration.organizationNumber)
    }
    recentlyUsed = snapshot.recentlyUsed
    notifications = snapshot.notifications
    briefcase = snapshot.briefcase
    try resetTransientState()
  }

  /// Tokens, approvals and settings survive a restore, so that clients stay signed in.
  private static let keptTables = ["sandbox_token", "sandbox_approval", "sandbox_setting"]

  private func rows(of table: String) throws(DatabaseError) -> [[SQLValue]] {
    let statement = try connection.prepare("SELECT * FROM \(table)")
    var rows: [[SQLValue]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map { statement.value($0) }) }
    return rows
  }
}

extension SandboxServer {
  /// Copies the org's data under a name; the copy is kept until the server stops. Replaces a copy
  /// with the same name.
  public func takeSnapshot(_ name: String = "default") throws { try org.performAndWait { try $0.takeSnapshot(name) } }

  /// Restores the org's data from a copy. Clients stay signed in; open query locators end.
  ///
  /// - Throws: ``SandboxError`` `NOT_FOUND` if there is no snapshot with that name.
  public func restoreSnapshot(_ name: String = "default") throws { try org.performAndWait { try $0.restoreSnapshot(name) } }

  /// Resets the org to its state after a start with the same options: seeded, with its current
  /// schema. Clients stay signed in.
  public func reset() throws { try org.performAndWait { try $0.reset() } }
}
