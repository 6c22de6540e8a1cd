import Database
import FoundationEssentials
import Glibc
import JSON
import SmartStore
import Support

/// A folder of its own for one test; gone, with everything in it, when the test lets go of it.
package final class TemporaryFolder: Sendable {
  /// Absolute, without a slash at its end.
  package let path: String

  package init() throws {
    var template = Array((FileManager.default.temporaryDirectory.path + "/tureen-test-XXXXXX").utf8CString)
    guard mkdtemp(&template) != nil else { throw StoreError(.cannotOpenStore, String(cString: strerror(errno))) }
    path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  deinit { try? FileSystem.removeTree(path) }
}

/// A store in a folder of its own. One thread at a time opens and closes it.
package final class TemporaryStore {
  package let folder: TemporaryFolder
  package private(set) var store: Store

  /// The database file.
  package var path: String { store.path }

  package init() throws {
    folder = try TemporaryFolder()
    store = try Store(name: "test", isGlobal: false, path: folder.path + "/store.sqlite")
  }

  /// A store with one soup.
  package convenience init(soup: String, _ specs: [IndexSpec]) throws {
    try self.init()
    try store.registerSoup(soup, indexSpecs: specs)
  }

  deinit { store.close() }

  /// Closes the store and opens the same file again.
  package func reopen() throws {
    store.close()
    store = try Store(name: "test", isGlobal: false, path: path)
  }

  /// A second store on the same file, as another process would have it. The caller closes it.
  package func another() throws -> Store { try Store(name: "test", isGlobal: false, path: path) }
}

extension Store {
  /// Upserts JSON text and gives back the entries as stored.
  @discardableResult
  package func upsert(_ entries: String, into soup: String, by path: String = SoupField.entryId) throws -> [JSONValue] {
    try JSONValue(parsing: upsert(Array(entries.utf8), into: soup, externalIdPath: path)).arrayValue ?? []
  }

  /// The rows of smart SQL as JSON text.
  package func rows(_ smartSql: String, _ arguments: [JSONValue] = [], pageSize: Int = 1000) throws -> String {
    String(decoding: try query(.smart(smartSql, arguments: arguments, pageSize: pageSize)), as: UTF8.self)
  }
}

extension Store {
  /// Runs SQL on a connection of its own, as `sqlite3` on the file would.
  package func executeBehindItsBack(_ sql: String) throws {
    let connection = try Connection(store: path, mode: .readWrite)
    defer { connection.close() }
    try connection.execute(sql)
  }
}
