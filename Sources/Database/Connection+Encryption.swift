import Support

#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// The kind of a file, judged by its first bytes.
package enum FileKind: Sendable, Equatable {
  /// The file has no bytes yet: the first writer decides what it becomes.
  case empty
  /// An SQLite database, possibly damaged.
  case plain
  /// The bytes look random, which in practice means an encrypted database.
  case encrypted
  /// Not a database.
  case unknown

  /// - Parameters:
  ///   - start: The first bytes of the file, at most ``looked`` of them.
  ///   - size: The size of the file in bytes.
  package init(start: [UInt8], size: Int64) {
    if size == 0 {
      self = .empty
    } else if start.starts(with: FileKind.magic) {
      self = .plain
    } else {
      self = start.count >= FileKind.looked && FileKind.looksRandom(start) ? .encrypted : .unknown
    }
  }

  /// The number of bytes examined: the smallest page size of an encrypted store.
  static let looked = 4096
  private static let magic = Array("SQLite format 3\0".utf8)

  /// In 4096 random bytes each value occurs 16 times, give or take 4. It is rare that one value is
  /// missing, and practically impossible that 16 are missing or that one occurs 64 times. In text
  /// and in pages with free space both are common.
  private static func looksRandom(_ bytes: [UInt8]) -> Bool {
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    return counts.count { $0 > 0 } > 240 && counts.allSatisfy { $0 < 64 }
  }
}

extension Connection {
  /// Whether this build links SQLCipher instead of SQLite.
  package static var canEncrypt: Bool {
    #if Encryption
      true
    #else
      false
    #endif
  }

  /// Returns the kind of the file, judged by its first bytes. Reads nothing else, takes no lock,
  /// and touches neither the file nor its side files.
  package func fileKind() throws(DatabaseError) -> FileKind {
    var start = [UInt8](repeating: 0, count: FileKind.looked), size: sqlite3_int64 = 0
    let code = csqlite_file_start(handle, &start, Int32(start.count), &size)
    guard code == SQLITE_OK else { throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code))) }
    return FileKind(start: Array(start.prefix(Int(clamping: size))), size: size)
  }

  /// Leaves the write-ahead log as it is when this connection is closed, also if it is the last one.
  package func keepLogOnClose() { _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1) }

  /// Returns whether the key is wrong, that is, the first page does not decrypt.
  /// - Throws: ``DatabaseError`` for any other failure.
  package func isWrongKey() throws(DatabaseError) -> Bool {
    // Closing must not checkpoint the write-ahead log: an attempt with a wrong key changes nothing.
    _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    do {
      _ = try firstValue("SELECT count(*) FROM sqlite_master")
    } catch  where error.isCorrupt {
      return true
    }
    _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    return false
  }

  /// Returns the URI for a connection that reads only the database file itself.
  static func immutableAddress(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var address = Array("file:".utf8)
    for c in path.utf8 {
      switch c {
      case let c where c.isASCIILetter || c.isASCIIDigit || "/-._".utf8.contains(c): address.append(c)
      default: address += [UInt8(ascii: "%"), digits[Int(c >> 4)], digits[Int(c & 15)]]
      }
    }
    return String(decoding: address, as: UTF8.self) + "?immutable=1"
  }

  /// Passes the key to SQLCipher. Must happen before the first read.
  func unlock(_ key: UnsafeRawBufferPointer) throws(DatabaseError) {
    #if Encryption
      guard case .text? = try firstValue("PRAGMA cipher_version") else {
        throw DatabaseError(
          code: SQLITE_MISUSE, message: "the program loaded a plain SQLite before SQLCipher, and its functions win")
      }
      let code = sqlite3_key(handle, key.baseAddress, Int32(clamping: key.count))
      guard code == SQLITE_OK else { throw error(sql: nil) }
      // SQLCipher would log to standard error what we report as an error. This cannot be set
      // earlier: the first key of a process enables the log.
      try execute("PRAGMA cipher_log_level = NONE")
      // Temporary files would be unencrypted, so sorting stays in memory.
      try execute("PRAGMA temp_store = MEMORY")
    #else
      throw DatabaseError(code: SQLITE_MISUSE, message: "this build cannot encrypt")
    #endif
  }

  /// Writes the whole database into a new file, encrypted with another key or unencrypted.
  ///
  /// The file at `path` must exist and be empty. It has no journal: it is valid only after this
  /// returns. Needs SQLCipher. Must not be called within a transaction.
  package func export(to path: String, key: UnsafeRawBufferPointer?, pageSize: Int) throws {
    let attach = try prepare("ATTACH DATABASE ? AS fresh KEY ?")
    attach.bind(1, path)
    if let key { attach.bind(2, blob: key) } else { attach.bind(2, "") }
    try attach.run()
    attach.clearBindings()
    defer { try? execute("DETACH DATABASE fresh") }
    if key == nil { try execute("PRAGMA fresh.page_size = \(pageSize)") }
    try execute("PRAGMA fresh.journal_mode = OFF")
    try transaction(.immediate) {
      _ = try firstValue("SELECT sqlcipher_export('fresh')")
      if case .integer(let version)? = try firstValue("PRAGMA main.user_version") {
        try execute("PRAGMA fresh.user_version = \(version)")
      }
    }
    guard case .text("ok")? = try firstValue("PRAGMA fresh.integrity_check(1)") else {
      throw DatabaseError(code: SQLITE_CORRUPT, message: "the copy at \(path) failed its integrity check")
    }
  }
}
