import Database
import Support

/// Making the file of a new store: whole or not at all, so that a store's file is never empty and never half made, even if
/// processes are killed or several make it at the same time.
extension Store {
  /// Makes the file when there is none. It is built under another name and then given its own; of several at once the first wins.
  /// - Throws: ``StoreError`` `.notADatabase` when only the write-ahead log of a store is there, `.cannotOpenStore`;
  ///   `DatabaseError`.
  static func createIfMissing(path: String, key: StoreKey?) throws {
    // The log first: another process may be making both.
    let hasLog = FileSystem.exists(path + "-wal")
    guard !FileSystem.exists(path) else { return }
    guard !hasLog else {
      throw StoreError(
        .notADatabase,
        "\(path) is gone, but its write-ahead log is there; restore a copy of both, or set recover = \"moveAside\" to have the "
          + "log kept beside a new, empty store")
    }
    try StoreError.wrappingFileErrors { try build(path, key) }
  }

  private static func build(_ path: String, _ key: StoreKey?) throws {
    try UnfinishedFile.removeAbandoned(of: path)
    let unfinished = try UnfinishedFile(of: path)
    defer { unfinished.remove() }
    let connection = try Connection(path: unfinished.path, mode: .readWrite, storeKey: key)
    do {
      defer { connection.close() }
      try Schema.configureWriter(connection)
      try Schema.migrate(connection, path: path)
    }
    try unfinished.publish()
  }

  static func emptied(_ path: String) -> StoreError {
    StoreError(
      .notADatabase,
      "\(path) is empty, which no store ever is: its contents were lost; restore a copy, or set recover = \"moveAside\" to have "
        + "it kept beside a new, empty store")
  }
}
