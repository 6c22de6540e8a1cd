import Database
import Dispatch
import JSON

/// The pretend org: its records, sessions and open queries.
///
/// All mutable state is accessed on `queue` only, through `perform` and `performAndWait`. The queue
/// also keeps SQLite off the event loops.
final class Org: @unchecked Sendable {
  let schema: OrgSchema
  /// When the schema last changed, in seconds since 1970 UTC.
  let schemaChanged: Int64
  var briefcase: [BriefcaseRule]
  var briefcaseRuns = BriefcaseRuns()
  let configuration: SandboxConfiguration
  /// Changes with each refresh of the sandbox.
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
  var instance: OrgInstance
  var tokenRedirect: TokenRedirect?
  /// Refresh tokens of requests in progress.
  var refreshesInWork: Set<String> = []
  var cursors = CursorTable()
  var recentlyUsed = RecentItems()
  /// Processes Bulk jobs. Any thread.
  let jobs = BulkRunner()
  var calls: CallCount
  private var lastStamp: Int64 = 0
  /// The effects of faults on the current request; `lateCommits` below has changes that are not
  /// visible yet.
  var interference = Interference()
  /// The effects of faults on Bulk jobs in progress, by job id.
  var jobInterference: [String: Interference] = [:]
  var lateCommits: [LateCommit] = []
  private var isClosed = false
  private let queue = DispatchQueue(label: "tureen.sandbox.org")

  /// Opens the database, updates it to the schema and, if it is new, fills it. Blocks.
  ///
  /// - Parameter schemaText: Replaces the schema file that the configuration names.
  init(_ configuration: SandboxConfiguration, schemaText: SchemaText? = nil) throws(SandboxError) {
    self.configuration = configuration
    calls = CallCount(limit: configuration.dailyCalls)
    instance = OrgInstance(fixed: configuration.instanceURL)
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
      // Closing rolls everything back, so that an org whose files were refused remains new.
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

  /// Runs `body` on the org's queue and blocks the caller until it is done. Must not be called on
  /// that queue.
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

  /// Makes due commits visible. Any thread; returns at once.
  func commitDue() { queue.async { if !self.isClosed { self.commitDue(isRequest: false) } } }

  /// Closes the org. May be called twice.
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

  /// Resets cursors and other state in progress after the database has been replaced.
  func resetTransientState() throws {
    cursors.removeAll()
    briefcaseRuns = BriefcaseRuns()
    lateCommits.removeAll()
    jobInterference.removeAll()
    lastStamp = try Self.newestStamp(connection, schema: schema)
  }

  /// Returns the timestamp of a write. Without faults, timestamps never decrease.
  func stamp() -> Int64 {
    lastStamp = max(lastStamp, configuration.clock.now())
    return interference.stamp(lastStamp)
  }

  var today: CivilDate { CivilDate(dayNumber: Int(configuration.clock.now() / 86_400)) }

  func compiler(for userId: String) -> QueryCompiler { QueryCompiler(schema: schema, today: today, userId: userId) }

  /// - Throws: ``SandboxError`` 404, the error for a URL with an unknown object.
  func object(_ name: String) throws(SandboxError) -> ObjectSchema {
    guard let object = schema.object(name) else { throw .notFound() }
    return object
  }

  /// Runs a transaction, or a savepoint inside an open one; an error rolls it back.
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
      // Some errors, such as a full disk, end the whole transaction.
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
