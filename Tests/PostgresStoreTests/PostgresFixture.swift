import Glibc
import PostgresStore
import SmartStore
import Synchronization
import TestSupport
import Testing

extension PostgresCluster {
  static let need: Comment = "needs a PostgreSQL server (Debian: apt install postgresql)"
}

/// A schema of a test's own on the shared server, with a store in it.
struct PostgresFixture {
  private static let last = Mutex(0)

  let cluster: PostgresCluster
  let schema: PostgresSchema
  let connection: PostgresConnection
  let store: PostgresSchema.Store

  /// - Parameter cluster: nil for the shared one.
  init(_ cluster: PostgresCluster? = nil) throws {
    self.cluster = try cluster ?? PostgresCluster.running()
    schema = PostgresSchema(PostgresFixture.newSchemaName())
    connection = try self.cluster.connect()
    try schema.open(connection)
    store = try schema.openStore(connection, org: "acme", user: "ada", name: "main")
  }

  static func newSchemaName() -> String {
    last.withLock {
      $0 += 1
      return "test\($0)_t"
    }
  }

  func session(port: Int? = nil, _ change: (inout PostgresConnector) -> Void = { _ in }) -> PostgresSession {
    var connector = PostgresConnector(cluster.address(port: port))
    change(&connector)
    return PostgresSession(connector)
  }

  func count(_ table: String) throws -> Int64 { try connection.query("SELECT count(*) FROM \(table)").only().int64(0) }
}

/// A database of a test's own, and stores in it that different hosts have open.
struct Hosts {
  let cluster: PostgresCluster
  let schema = PostgresFixture.newSchemaName()

  init() throws { cluster = try PostgresCluster.running() }

  func engines(port: Int? = nil, _ change: (inout PostgresConnector) -> Void = { _ in }) -> PostgresEngines {
    var connector = PostgresConnector(cluster.address(port: port, schema: schema))
    change(&connector)
    return PostgresEngines(connector, org: "acme", user: "ada")
  }

  func store(port: Int? = nil, _ change: (inout PostgresConnector) -> Void = { _ in }) throws -> Store {
    let engines = engines(port: port, change)
    defer { engines.close() }
    return Store(name: "main", isGlobal: false, engine: try engines.open("main", isGlobal: false))
  }
}

/// Looks again until something is so that nothing signals, such as what another session of the server does.
func waitUntil(_ isSo: () throws -> Bool) rethrows {
  while try !isSo() { usleep(5000) }
}

/// The error that `body` throws, as its code.
func code(_ body: () throws -> Void) -> PostgresError.Code? { failure(body)?.code }

func failure(_ body: () throws -> Void) -> PostgresError? {
  do {
    try body()
    return nil
  } catch {
    return error as? PostgresError
  }
}
