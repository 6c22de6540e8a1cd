import Database
import Support

/// Reads names from the file of a store without opening the store, for completion in a shell.
///
/// Nothing is created, migrated or waited for. A store that cannot be read like this, such as an
/// encrypted one, has no names.
package struct StoredNames {
  private let connection: Connection

  /// - Parameter path: The file `store.sqlite`.
  /// - Returns: nil if the file does not exist or cannot be opened.
  package init?(path: String) {
    guard FileSystem.exists(path) else { return nil }
    // SQLite reads a write-ahead log only with its index, and would create a missing one.
    let hasLog = FileSystem.exists(path + "-wal") && FileSystem.exists(path + "-shm")
    guard let connection = try? Connection(path: path, mode: hasLog ? .readOnly : .immutable) else { return nil }
    self.connection = connection
  }

  /// Returns the names of all soups, sorted.
  package func soups() -> [String] { texts("SELECT soupName FROM soup_attrs ORDER BY soupName") }

  /// Returns the texts that the entries of a soup have at a path, in the order of the entries.
  package func texts(of path: String, in soup: String) -> [String] {
    guard let statement = try? connection.statement("SELECT id FROM soup_attrs WHERE soupName = ?") else { return [] }
    statement.bind(1, soup)
    defer { statement.reset() }
    guard (try? statement.step()) == true else { return [] }
    let value = Soup.extract(path)
    return texts("SELECT \(value) FROM TABLE_\(statement.int64(0)) WHERE typeof(\(value)) = 'text' ORDER BY id")
  }

  private func texts(_ sql: String) -> [String] {
    guard let statement = try? connection.statement(sql) else { return [] }
    defer { statement.reset() }
    var texts: [String] = []
    while (try? statement.step()) == true { texts.append(statement.string(0)) }
    return texts
  }
}
