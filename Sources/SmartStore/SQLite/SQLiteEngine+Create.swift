import Database
import Support

/// Creates the file of a new store atomically: a store's file is never empty or incomplete, even if
/// processes are killed or several create it at the same time.
extension SQLiteEngine {
  /// Creates the file if it is missing. It is built under a temporary name and then renamed; if
  /// several processes do this at once, the first one wins.
  /// - Throws: ``StoreError`` `.notADatabase` if only the write-ahead log of a store exists,
  ///   `.cannotOpenStore`; `DatabaseError`.
  /// - Parameter source: Creates an unfinished copy of this source; nil for a store.
  static func createIfMissing(path: String, key: StoreKey?, copyOf source: String?) throws {
    // Check the log first: another process may be creating both.
    let hasLog = FileSystem.exists(path + "-wal")
    guard !FileSystem.exists(path) else { return }
    guard !hasLog else {
      throw StoreError(
        .notADatabase,
        "\(path) is missing, but its write-ahead log exists; restore both from a backup, or set recover = \"moveAside\" to have "
          + "the log kept next to a new, empty store")
    }
    try StoreError.wrappingFileErrors { try build(path, key, source) }
  }

  private static func build(_ path: String, _ key: StoreKey?, _ source: String?) throws {
    try UnfinishedFile.removeAbandoned(of: path)
    let unfinished = try UnfinishedFile(of: path)
    defer { unfinished.remove() }
    let connection = try Connection(path: unfinished.path, mode: .readWrite, storeKey: key)
    do {
      defer { connection.close() }
      try Schema.configureWriter(connection)
      try Schema.migrate(connection, path: path)
      if let source { try Schema.beginCopy(connection, of: source) }
    }
    try unfinished.publish()
  }

  static func emptied(_ path: String) -> StoreError {
    StoreError(
      .notADatabase,
      "\(path) is empty, so the store's contents were lost; restore a backup, or set recover = \"moveAside\" to have "
        + "it kept next to a new, empty store")
  }
}
