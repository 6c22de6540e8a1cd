import Database
import Glibc
import Support

/// Whether a key and a file belong together, found out before anything is changed.
extension Store {
  /// Opens a store's file for writing, when it is what the key says it is.
  /// - Throws: ``StoreError`` `.keyRequired`, `.notEncrypted`, `.wrongKey`, `.notADatabase`; `DatabaseError`. The file and those
  ///   beside it are left as they are then.
  static func connect(path: String, key: StoreKey?, busyTimeoutMs: Int32) throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite, storeKey: key)
    connection.setBusyTimeout(milliseconds: busyTimeoutMs)
    switch (try connection.fileKind(), key) {
    case (.empty, _): throw emptied(path)
    case (.plain, nil): return connection
    case (.plain, _?):
      throw StoreError(
        .notEncrypted,
        "\(path) is not encrypted, but a key is set: encrypt it with `tureen store rekey`, or set no key; it was left as it is")
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
    return "\(path) is encrypted and there is no key: \(settings)\(build); it was left as it is"
  }

  static func wrongKey(_ path: String) -> StoreError {
    StoreError(
      .wrongKey,
      "\(path) does not open with this key: give the one it was encrypted with; it was left as it is. (With the right key its "
        + "first page is damaged: restore a copy of it.)")
  }

  /// Whether a key opens an encrypted file, without a trace on it or on the write-ahead log beside it.
  ///
  /// With a log, opening the file is enough to change things: the log's index is rebuilt, and its pages are folded back at the
  /// end. So the file is looked at alone first. Another process may be writing the first page at that moment: a second look
  /// does not meet the same.
  private static func opens(_ path: String, _ key: StoreKey, _ connection: Connection) throws -> Bool {
    guard FileSystem.exists(path + "-wal") else { return try !connection.isWrongKey() }
    for look in 1...Tuning.looksAtWrongKey {
      let alone = try Connection(path: path, mode: .immutable, storeKey: key)
      defer { alone.close() }
      if try !alone.isWrongKey() { return true }
      if look < Tuning.looksAtWrongKey { usleep(10_000) }
    }
    return false
  }
}

extension DatabaseError {
  /// As SQLite says it of a file that is none of its own.
  static let notADatabase = DatabaseError(code: 26, message: "file is not a database")
}
