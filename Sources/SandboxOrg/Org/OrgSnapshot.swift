import Database

/// What an org holds at one moment: records, files, Bulk jobs, notifications, recent items and the briefcase. In memory.
///
/// Who is signed in, passwords and tokens, fault rules, the log and the clock are no part of it.
struct OrgSnapshot {
  fileprivate let database: Connection
  fileprivate var recentlyUsed = RecentItems()
  fileprivate var notifications = NotificationBox()
  fileprivate var briefcase: [BriefcaseRule]
}

/// On the org's queue.
extension Org {
  func takeSnapshot(_ name: String) throws {
    guard snapshots[name] != nil || snapshots.count < Tuning.snapshots else {
      throw SandboxError(
        status: 400, code: "INVALID_ARGUMENT",
        message: "there are \(Tuning.snapshots) snapshots already; take one again under its name", fields: ["name"])
    }
    let copy = try Connection(path: ":memory:", mode: .readWriteCreate)
    try connection.copy(to: copy)
    snapshots[name] = OrgSnapshot(
      database: copy, recentlyUsed: recentlyUsed, notifications: notifications, briefcase: briefcase)
  }

  /// - Throws: ``SandboxError`` `NOT_FOUND` when there is no snapshot of that name.
  func restoreSnapshot(_ name: String) throws {
    guard let snapshot = snapshots[name] else {
      let names = snapshots.keys.sorted().joined(separator: ", ")
      throw SandboxError.notFound(
        "there is no snapshot '\(name)'; " + (names.isEmpty ? "take one with the action snapshot" : "there are \(names)"))
    }
    try restore(snapshot)
  }

  /// Makes the org what a new one is that is started with the same options.
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
    try forgetWhatWasUnderWay()
  }

  /// Tokens, approvals and settings outlast a restore: clients stay signed in.
  private static let keptTables = ["sandbox_token", "sandbox_approval", "sandbox_setting"]

  private func rows(of table: String) throws(DatabaseError) -> [[SQLValue]] {
    let statement = try connection.prepare("SELECT * FROM \(table)")
    var rows: [[SQLValue]] = []
    while try statement.step() { rows.append((0..<statement.columnCount).map { statement.value($0) }) }
    return rows
  }
}

extension SandboxServer {
  /// Keeps a copy of what the org holds, under a name, until the server stops. A copy of that name is replaced.
  public func takeSnapshot(_ name: String = "default") throws { try org.performAndWait { try $0.takeSnapshot(name) } }

  /// Makes the org hold what it held when the copy was taken. Clients stay signed in; open query locators end.
  /// - Throws: ``SandboxError`` `NOT_FOUND` when there is no snapshot of that name.
  public func restoreSnapshot(_ name: String = "default") throws { try org.performAndWait { try $0.restoreSnapshot(name) } }

  /// Makes the org what a new one is that is started with the same options: seeded, with the schema it has. Clients stay
  /// signed in.
  public func reset() throws { try org.performAndWait { try $0.reset() } }
}
