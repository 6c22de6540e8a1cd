import Database
import Glibc
import Support

/// Checks that a key and a file belong together before anything is changed.
extension SQLiteEngine {
  /// Opens a store's file, for writing unless `mode` says otherwise, if the key fits it.
  /// - Throws: ``StoreError`` `.keyRequired`, `.notEncrypted`, `.wrongKey`, `.notADatabase`;
  ///   `DatabaseError`. The file and its side files are unchanged then.
  static func connect(
    path: String, key: StoreKey?, busyTimeoutMs: Int32, mode: Connection.Mode = .readWrite
  ) throws -> Connection {
    let connection = try Connection(path: path, mode: mode, storeKey: key)
    connection.setBusyTimeout(milliseconds: busyTimeoutMs)
    switch (try connection.fileKind(), key) {
    case (.empty, _): throw emptied(path)
    case (.plain, nil): return connection
    case (.plain, _?):
      throw StoreError(
        .notEncrypted,
        "\(path) is not encrypted, but a key is set; run `tureen store rekey` or remove the key. It was left unchanged")
    case (.encrypted, nil): throw StoreError(.keyRequired, keyRequired(path))
    case (.encrypted, let key?):
      guard try opens(path, key, connection) else { throw wrongKey(path) }
      return connection
    case (.unknown, _): throw DatabaseError.notADatabase
    }
  }

  private static func keyRequired(_ path: String) -> String {
    let settings = "set storeKeyFile, storeKeyVariable or storeKeyCommand (TUREEN_STORE_KEY and the like)"
    let build = StoreKey.isSupported ? "" : ", with a build that can encrypt (`swift build --traits Encryption`)"
    return "\(path) is encrypted and no key is set; \(settings)\(build). It was left unchanged"
  }

  static func wrongKey(_ path: String) -> StoreError {
    StoreError(
      .wrongKey,
      "\(path) cannot be opened with this key; use the key it was encrypted with. It was left unchanged. (If the key "
        + "is right, the first page is damaged; restore a backup.)")
  }

  /// Returns whether a key opens an encrypted file, without changing the file or its write-ahead
  /// log.
  ///
  /// If there is a log, merely opening the file changes things: SQLite rebuilds the log's index and
  /// checkpoints it on close. So the file is first read in immutable mode. Another process may be
  /// writing the first page at that moment, which a repeated attempt rules out.
  private static func opens(_ path: String, _ key: StoreKey, _ connection: Connection) throws -> Bool {
    guard FileSystem.exists(path + "-wal") else { return try !connection.isWrongKey() }
    for look in 1...Tuning.looksAtWrongKey {
      let immutable = try Connection(path: path, mode: .immutable, storeKey: key)
      defer { immutable.close() }
      if try !immutable.isWrongKey() { return true }
      if look < Tuning.looksAtWrongKey { usleep(10_000) }
    }
    return false
  }
}

extension DatabaseError {
  /// SQLite's error for a file that is not a database.
  static let notADatabase = DatabaseError(code: 26, message: "file is not a database")
}
