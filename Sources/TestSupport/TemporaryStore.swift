import Database
import FoundationEssentials
import Glibc
import JSON
import SmartStore
import Support

/// A temporary folder for one test, deleted on release with its contents and the stores below it.
package final class TemporaryFolder: Sendable {
  /// The absolute path without a trailing slash.
  package let path: String

  /// - Parameter isInMemory: Whether its files are kept in memory, for tests that do not cover machine crashes.
  package init(isInMemory: Bool = false) throws {
    let memory = "/dev/shm", isPossible = isInMemory && access(memory, W_OK) == 0
    let parent = isPossible ? memory : FileManager.default.temporaryDirectory.path
    var template = Array((parent + "/tureen-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw StoreError(.cannotOpenStore, String(cString: strerror(errno))) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit {
    if TestEngine.isPostgres { TestEngine.removeStores(below: path) }
    try? FileSystem.removeTree(path)
  }
}

/// A store in its own folder. Only one thread at a time may open and close it.
package final class TemporaryStore {
  package let folder: TemporaryFolder
  package private(set) var store: Store
  private let bulkLoadMinimum: Int?

  /// The path of the database file.
  package var path: String { store.path }
  private var place: String { folder.path + "/store.sqlite" }

  /// - Parameter bulkLoadMinimum: See ``TestEngine/store(at:bulkLoadMinimum:)``.
  package init(bulkLoadMinimum: Int? = nil) throws {
    self.bulkLoadMinimum = bulkLoadMinimum
    folder = try TemporaryFolder()
    store = try TestEngine.store(at: folder.path + "/store.sqlite", bulkLoadMinimum: bulkLoadMinimum)
  }

  /// Creates a store with one soup.
  package convenience init(soup: String, _ specs: [IndexSpec], bulkLoadMinimum: Int? = nil) throws {
    try self.init(bulkLoadMinimum: bulkLoadMinimum)
    try store.registerSoup(soup, indexSpecs: specs)
  }

  deinit { store.close() }

  /// Closes the store and reopens the same database.
  package func reopen() throws {
    store.close()
    store = try TestEngine.store(at: place, bulkLoadMinimum: bulkLoadMinimum)
  }

  /// Opens a second store on the same database, as another process would. The caller closes it.
  package func another() throws -> Store { try TestEngine.store(at: place) }
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
