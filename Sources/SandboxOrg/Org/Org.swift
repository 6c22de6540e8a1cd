import Database
import Dispatch
import JSON

/// The pretend org: its records, sessions and open queries.
///
/// Everything but the constants is touched on `queue` only, which is also what keeps SQLite off the event loops:
/// `perform` and `performAndWait` are the two ways in.
final class Org: @unchecked Sendable {
  let schema: OrgSchema
  /// When the schema was last another one, seconds since 1970 UTC.
  let schemaChanged: Int64
  var briefcase: [BriefcaseRule]
  var briefcaseRuns = BriefcaseRuns()
  let configuration: SandboxConfiguration
  /// Another one after a refresh of the sandbox.
  var organizationId: String

  let connection: Connection
  let sessions: SessionRegistry
  var directory: SignInDirectory
  /// By name.
  var snapshots: [String: OrgSnapshot] = [:]
  var apex = ApexHandlers()
  var notifications = NotificationBox()
  var authorizations = AuthorizationTable()
  var browsers = BrowserSessions()
  var guards = SignInGuards()
  var signIns = SignInHistory()
  var instance = OrgInstance()
  var tokenRedirect: TokenRedirect?
  /// Refresh tokens that a request is being answered for.
  var refreshesInWork: Set<String> = []
  var cursors = CursorTable()
  var recentlyUsed = RecentItems()
  /// Works off Bulk jobs. Any thread.
  let jobs = BulkRunner()
  var calls: CallCount
  private var lastStamp: Int64 = 0
  /// What faults do to the request that is being handled, and what has happened but is not visible yet.
  var interference = Interference()
  /// What faults do to Bulk jobs under way, by the job's id.
  var jobInterference: [String: Interference] = [:]
  var lateCommits: [LateCommit] = []
  private var isClosed = false
  private let queue = DispatchQueue(label: "tureen.sandbox.org")

  /// Opens the database, brings it in step with the schema and, when it is new, fills it. Blocks.
  /// - Parameter schemaText: In place of the schema file that the configuration names.
  init(_ configuration: SandboxConfiguration, schemaText: SchemaText? = nil) throws(SandboxError) {
    self.configuration = configuration
    calls = CallCount(limit: configuration.dailyCalls)
    var file = schemaText
    if file == nil, let path = configuration.schemaPath { file = try SchemaText(path: path) }
    let connection = try OrgDatabase.open(configuration.databasePath)
    self.connection = connection
    do {
      try connection.execute("BEGIN IMMEDIATE")
      let opened = try OpenedOrg(connection: connection, configuration: configuration, schemaFile: file)
      schema = opened.schema
      schemaChanged = opened.schemaChanged
      briefcase = opened.briefcase
      sessions = opened.sessions
      organizationId = try OrganizationRecord(connection).prepare(number: configuration.organizationNumber)
      directory = try SignInDirectory(
        configuration, password: sessions.password, clientSecret: sessions.clientSecret, connection: connection)
      lastStamp = try Self.newestStamp(connection, schema: schema)
      if opened.isNew {
        for path in configuration.seedPaths { try SeedFiles(org: self).load(path) }
      }
      try connection.execute("COMMIT")
    } catch {
      // Closing takes everything back: an org whose files were refused is as new as before.
      connection.close()
      if let error = error as? SandboxError { throw error.opening(configuration.databasePath) }
      throw OrgDatabase.cannotOpen(configuration.databasePath, (error as? DatabaseError)?.message ?? "\(error)")
    }
  }

  /// Runs `body` on the org's queue.
  func perform<T: Sendable>(_ body: @escaping @Sendable (Org) throws -> T) async throws -> T {
    try await withCheckedThrowingContinuation { continuation in
      queue.async {
        continuation.resume(
          with: Result {
            try self.requireOpen()
            return try body(self)
          })
      }
    }
  }

  /// Runs `body` on the org's queue and blocks the caller meanwhile. Not to be called on that queue.
  func performAndWait<T>(_ body: (Org) throws -> T) throws(SandboxError) -> T {
    do {
      return try queue.sync {
        try requireOpen()
        return try body(self)
      }
    } catch let error as SandboxError {
      throw error
    } catch {
      throw .unknown("\(error)")
    }
  }

  /// Makes visible what has waited long enough; from any thread, returns at once.
  func commitDue() { queue.async { if !self.isClosed { self.commitDue(isRequest: false) } } }

  /// Twice is as good as once.
  func close() {
    queue.sync {
      lateCommits.removeAll()
      isClosed = true
      connection.close()
    }
  }

  private func requireOpen() throws(SandboxError) {
    guard !isClosed else {
      throw SandboxError(status: 503, code: "SERVER_UNAVAILABLE", message: "the sandbox has been stopped")
    }
  }

  // MARK: On the queue

  /// After the database has been exchanged.
  func forgetWhatWasUnderWay() throws {
    cursors.removeAll()
    briefcaseRuns = BriefcaseRuns()
    lateCommits.removeAll()
    jobInterference.removeAll()
    lastStamp = try Self.newestStamp(connection, schema: schema)
  }

  /// The moment a write is stamped with. Never earlier than any stamp given before, but for faults.
  func stamp() -> Int64 {
    lastStamp = max(lastStamp, configuration.clock.now())
    return interference.stamp(lastStamp)
  }

  var today: CivilDate { CivilDate(dayNumber: Int(configuration.clock.now() / 86_400)) }

  func compiler(for userId: String) -> QueryCompiler { QueryCompiler(schema: schema, today: today, userId: userId) }

  /// - Throws: ``SandboxError`` 404: what a URL with an unknown object gets.
  func object(_ name: String) throws(SandboxError) -> ObjectSchema {
    guard let object = schema.object(name) else { throw .notFound() }
    return object
  }

  /// One transaction, or a step of the one that is open; an error leaves everything as it was before.
  func transaction<T>(_ body: () throws -> T) throws -> T {
    let recent = recentlyUsed
    do {
      return try connection.isInTransaction ? step(body) : connection.transaction(.immediate, body)
    } catch {
      recentlyUsed = recent
      throw error
    }
  }

  private func step<T>(_ body: () throws -> T) throws -> T {
    try connection.execute("SAVEPOINT step")
    do {
      let result = try body()
      try connection.execute("RELEASE step")
      return result
    } catch {
      // A full disk and the like end the whole transaction by themselves.
      if connection.isInTransaction { try connection.execute("ROLLBACK TO step; RELEASE step") }
      throw error
    }
  }

  private static func newestStamp(_ connection: Connection, schema: OrgSchema) throws(DatabaseError) -> Int64 {
    var newest: Int64 = 0
    for object in schema.objects {
      guard case .text(let text)? = try connection.firstValue("SELECT max(SystemModstamp) FROM \(object.table)"),
        let milliseconds = Timestamp.milliseconds(parsing: text)
      else { continue }
      newest = max(newest, milliseconds / 1000)
    }
    return newest
  }
}
