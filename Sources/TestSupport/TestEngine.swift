import Glibc
import PostgresStore
import SmartStore
import Synchronization

/// The engine of the stores that tests open: SQLite, or PostgreSQL with `TUREEN_TEST_STORE=postgres` in the environment.
///
/// On PostgreSQL a path or a folder names stores without being one: the same path is the same store, in a schema of its
/// own on the server that all tests of this process share. ``TemporaryFolder`` removes the stores below it.
package enum TestEngine {
  package static let isPostgres =
    getenv(["TUREEN", "TEST", "STORE"].joined(separator: "_")).map { String(cString: $0) } == "postgres"
  /// Whether tests may look into SQLite's files.
  package static var isSQLite: Bool { !isPostgres }

  // MARK: Stores

  /// Opens the store of a path, and creates it if it is missing.
  /// - Parameters:
  ///   - path: An absolute path of a file.
  ///   - bulkLoadMinimum: The announced number of records from which a first load builds its indexes afterwards; nil for the
  ///     usual one.
  package static func store(at path: String, bulkLoadMinimum: Int? = nil) throws -> Store {
    guard isPostgres else {
      return try Store(
        name: "test", isGlobal: false, path: path, key: TestKey.key, busyTimeoutMs: nil, bulkLoadMinimum: bulkLoadMinimum)
    }
    return Store(name: "test", isGlobal: false, engine: try postgres(path, bulkLoadMinimum: bulkLoadMinimum))
  }

  /// Opens the store of a path on PostgreSQL, also while other tests have SQLite.
  package static func postgres(_ path: String, bulkLoadMinimum: Int? = nil) throws -> any StoreEngine {
    let store = try session.get().run { link in
      let connection = try link.connection()
      try shared.open(connection)
      return try shared.openStore(connection, org: "test", user: path, name: "test")
    }
    opened.withLock { $0.stores[path] = store }
    return PostgresEngine(
      name: "test", store, shared, PostgresConnector(try address(shared.name)), bulkLoadMinimum: bulkLoadMinimum)
  }

  /// Opens the stores of one user below a folder, and the global ones.
  package static func engines(in folder: String, user: String = "user") throws -> any StoreEngines {
    guard isPostgres else {
      return SQLiteEngines(
        userDirectory: "\(folder)/\(user)", globalDirectory: globalDirectory(folder), recovery: .refuse, key: { TestKey.key })
    }
    return PostgresEngines(PostgresConnector(try address(schema(of: folder))), org: "test", user: user)
  }

  package static func registry(in folder: String, user: String = "user") throws -> StoreRegistry {
    StoreRegistry(engines: try engines(in: folder, user: user), cursorIds: CursorIds())
  }

  /// Where `tureen` keeps the global stores of a home.
  private static func globalDirectory(_ folder: String) -> String { folder + "/global/stores" }

  /// The variables with which another process finds the stores of a folder that is its home.
  package static func environment(home: String) throws -> [String: String] {
    guard isPostgres else { return [:] }
    let address = try address(schema(of: home)), host = address.hosts[0]
    let options = "sslmode=disable&schema=\(address.schema)"
    let text = "postgres://\(address.user ?? "")@\(host.name):\(host.port)/\(address.database ?? "")?\(options)"
    return [["TUREEN", "STORE"].joined(separator: "_"): text]
  }

  // MARK: The server

  /// Lists the stores of paths.
  private static let shared = PostgresSchema("engine_tests")
  /// Creates and removes stores.
  private static let session = Result {
    PostgresSession(PostgresConnector(try address(PostgresAddress.defaultSchema)), label: "tureen.tests.postgres")
  }

  private struct Opened {
    var stores: [String: PostgresSchema.Store] = [:]
    /// The control schemas of folders.
    var schemas: [String: String] = [:]
    var count = 0
  }

  private static let opened = Mutex(Opened())

  private static func address(_ schema: String) throws -> PostgresAddress {
    try PostgresCluster.running().address(schema: schema)
  }

  private static func schema(of folder: String) -> String {
    opened.withLock { opened in
      if let known = opened.schemas[folder] { return known }
      opened.count += 1
      let name = "folder\(opened.count)_tests"
      opened.schemas[folder] = name
      return name
    }
  }

  /// Removes the stores below a folder from the server.
  static func removeStores(below folder: String) {
    let (stores, schema) = opened.withLock { opened in
      let paths = opened.stores.keys.filter { $0 == folder || $0.hasPrefix(folder + "/") }
      return (paths.compactMap { opened.stores.removeValue(forKey: $0) }, opened.schemas.removeValue(forKey: folder))
    }
    guard !stores.isEmpty || schema != nil else { return }
    // What cannot be removed, such as a store in use, goes with the server.
    try? session.get().run { link in
      let connection = try link.connection()
      for store in stores { try shared.removeStore(connection, store) }
      guard let schema = schema.map({ PostgresSchema($0) }) else { return }
      for store in try schema.stores(connection) { try schema.removeStore(connection, store) }
      try connection.execute("DROP SCHEMA \(schema.sql) CASCADE")
    }
  }
}
