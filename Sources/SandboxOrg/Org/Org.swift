import Database
import Dispatch
import JSON

/// The pretend org: its records, sessions and open queries.
///
/// Everything but the constants is touched on `queue` only, which is also what keeps SQLite off the event loops:
/// `perform` and `performAndWait` are the two ways in.
final class Org: @unchecked Sendable {
  let schema: OrgSchema
  let configuration: SandboxConfiguration
  let organizationId = RecordID.make(prefix: "00D", sequence: 1)

  let connection: Connection
  let sessions: SessionRegistry
  var cursors = CursorTable()
  var recentlyUsed = RecentItems()
  private(set) var callCount = 0
  private var lastStamp: Int64 = 0
  private var isClosed = false
  private let queue = DispatchQueue(label: "tureen.sandbox.org")

  /// Opens the database and, when it is new, seeds it. Blocks.
  init(_ configuration: SandboxConfiguration, schema: OrgSchema = .standard) throws(SandboxError) {
    self.schema = schema
    self.configuration = configuration
    let connection = try OrgDatabase.open(configuration.databasePath)
    self.connection = connection
    do {
      sessions = try connection.transaction(.immediate) {
        try OrgDatabase.prepare(connection, schema: schema)
        let isNew = try connection.firstValue("SELECT count(*) FROM \"User\"") == .integer(0)
        if isNew { try Seeder(connection: connection, schema: schema, seed: configuration.seed).run() }
        try OrgDatabase.createIndexes(connection, schema: schema)
        // Whoever signs in is the first seeded user, under the configured name.
        try connection.run(
          "UPDATE \"User\" SET Username = ?1, Email = ?1 WHERE Id = ?2 AND Username <> ?1",
          [.text(configuration.username), .text(Users.caller)])
        return try SessionRegistry(connection: connection, configuration: configuration)
      }
      lastStamp = try Self.newestStamp(connection, schema: schema)
    } catch let error as SandboxError {
      throw error
    } catch {
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

  /// Twice is as good as once.
  func close() {
    queue.sync {
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

  func countCall() { callCount += 1 }

  /// The moment a write is stamped with. Never earlier than any stamp given before.
  func stamp() -> Int64 {
    lastStamp = max(lastStamp, configuration.clock.now())
    return lastStamp
  }

  var today: CivilDate { CivilDate(dayNumber: Int(configuration.clock.now() / 86_400)) }

  func compiler(for userId: String) -> QueryCompiler { QueryCompiler(schema: schema, today: today, userId: userId) }

  /// - Throws: ``SandboxError`` 404: what a URL with an unknown object gets.
  func object(_ name: String) throws(SandboxError) -> ObjectSchema {
    guard let object = schema.object(name) else { throw .notFound() }
    return object
  }

  /// One transaction; an error leaves the database as it was.
  func transaction<T>(_ body: () throws -> T) throws -> T { try connection.transaction(.immediate, body) }

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

/// Records a user worked with last, newest first, by object.
struct RecentItems {
  private var ids: [String: [String]] = [:]

  mutating func touch(_ id: String, of object: String) {
    var list = ids[object] ?? []
    list.removeAll { $0 == id }
    list.insert(id, at: 0)
    ids[object] = Array(list.prefix(Tuning.recentItems))
  }

  func list(_ object: String) -> [String] { ids[object] ?? [] }
}
