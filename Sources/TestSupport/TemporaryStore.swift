import Database
import FoundationEssentials
import Glibc
import JSON
import PostgresStore
import SmartStore
import Support

/// A temporary folder for one test, deleted with its contents on release.
package final class TemporaryFolder: Sendable {
  /// The absolute path without a trailing slash.
  package let path: String

  package init() throws {
    var template = Array((FileManager.default.temporaryDirectory.path + "/tureen-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw StoreError(.cannotOpenStore, String(cString: strerror(errno))) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileSystem.removeTree(path) }
}

/// The engine of the stores that tests make: SQLite, or PostgreSQL with `TUREEN_TEST_STORE=postgres` in the environment.
/// Tests that look into SQLite's files fail with PostgreSQL.
package enum TestEngine {
  package static let isPostgres =
    getenv(["TUREEN", "TEST", "STORE"].joined(separator: "_")).map { String(cString: $0) } == "postgres"

  /// Opens a store for a folder: a file in it, or a schema of its own.
  /// - Parameter folder: An absolute path.
  package static func store(_ folder: String) throws -> Store {
    guard isPostgres else { return try Store(name: "test", isGlobal: false, path: folder + "/store.sqlite") }
    return Store(name: "test", isGlobal: false, engine: try postgres(folder))
  }

  /// Opens a store on the server that all tests of this process share.
  package static func postgres(_ user: String) throws -> any StoreEngine {
    let connector = PostgresConnector(try PostgresCluster.running().address(schema: "engine_tests"))
    let engines = PostgresEngines(connector, org: "test", user: user)
    defer { engines.close() }
    return try engines.open("test", isGlobal: false)
  }
}

/// A store in its own folder. Only one thread at a time may open and close it.
package final class TemporaryStore {
  package let folder: TemporaryFolder
  package private(set) var store: Store

  /// The path of the database file.
  package var path: String { store.path }

  package init() throws {
    folder = try TemporaryFolder()
    store = try TestEngine.store(folder.path)
  }

  /// Creates a store with one soup.
  package convenience init(soup: String, _ specs: [IndexSpec]) throws {
    try self.init()
    try store.registerSoup(soup, indexSpecs: specs)
  }

  deinit { store.close() }

  /// Closes the store and reopens the same file.
  package func reopen() throws {
    store.close()
    store = try TestEngine.store(folder.path)
  }

  /// Opens a second store on the same file, as another process would. The caller closes it.
  package func another() throws -> Store { try TestEngine.store(folder.path) }
}

extension Store {
  /// Upserts JSON text and returns the entries as stored.
  @discardableResult
  package func upsert(_ entries: String, into soup: String, by path: String = SoupField.entryId) throws -> [JSONValue] {
    try JSONValue(parsing: upsert(Array(entries.utf8), into: soup, externalIdPath: path)).arrayValue ?? []
  }

  /// Returns the rows of smart SQL as JSON text.
  package func rows(_ smartSql: String, _ arguments: [JSONValue] = [], pageSize: Int = 1000) throws -> String {
    String(decoding: try query(.smart(smartSql, arguments: arguments, pageSize: pageSize)), as: UTF8.self)
  }
}

extension Store {
  /// Runs SQL on a separate connection, as `sqlite3` would.
  package func executeOnSeparateConnection(_ sql: String) throws {
    let connection = try Connection(store: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
  }
}
