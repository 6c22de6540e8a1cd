import Support

#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// What a file's first bytes say it is.
package enum FileKind: Sendable, Equatable {
  /// Nothing in it yet: it becomes what the first who writes to it makes of it.
  case empty
  /// An SQLite database, maybe a damaged one.
  case plain
  /// Bytes as if drawn by lot. An encrypted database looks so, and hardly anything else that gets where a database belongs.
  case encrypted
  /// Neither: no database.
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

  /// Bytes looked at: the smallest page that an encrypted store has.
  static let looked = 4096
  private static let magic = Array("SQLite format 3\0".utf8)

  /// In 4096 random bytes every value comes 16 times, give or take 4. That one of them stays away is rare, that 16 do, or that
  /// one comes 64 times, does not happen. In text and in pages with free space it does.
  private static func looksRandom(_ bytes: [UInt8]) -> Bool {
    var counts = [Int](repeating: 0, count: 256)
    for byte in bytes { counts[Int(byte)] += 1 }
    return counts.count { $0 > 0 } > 240 && counts.allSatisfy { $0 < 64 }
  }
}

extension Connection {
  /// Whether this build has SQLCipher in place of SQLite.
  package static var canEncrypt: Bool {
    #if Encryption
      true
    #else
      false
    #endif
  }

  /// What the file is, by its first bytes. Reads nothing else, takes no lock and leaves the file and those beside it alone.
  package func fileKind() throws(DatabaseError) -> FileKind {
    var start = [UInt8](repeating: 0, count: FileKind.looked), size: sqlite3_int64 = 0
    let code = csqlite_file_start(handle, &start, Int32(start.count), &size)
    guard code == SQLITE_OK else { throw DatabaseError(code: code, message: String(cString: sqlite3_errstr(code))) }
    return FileKind(start: Array(start.prefix(Int(clamping: size))), size: size)
  }

  /// Whether the key opens nothing: the first page does not decrypt. Any other trouble is thrown.
  package func isWrongKey() throws(DatabaseError) -> Bool {
    // Ending must not fold a write-ahead log back: a wrong key changes nothing.
    _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    do {
      _ = try firstValue("SELECT count(*) FROM sqlite_master")
    } catch  where error.isCorrupt {
      return true
    }
    _ = csqlite_db_config_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0)
    return false
  }

  /// The file's address for a connection that looks at nothing but the file.
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

  /// Gives SQLCipher the key, before anything is read.
  func unlock(_ key: UnsafeRawBufferPointer) throws(DatabaseError) {
    #if Encryption
      guard case .text? = try firstValue("PRAGMA cipher_version") else {
        throw DatabaseError(
          code: SQLITE_MISUSE, message: "a plain SQLite that this program loaded before took the place of SQLCipher")
      }
      let code = sqlite3_key(handle, key.baseAddress, Int32(clamping: key.count))
      guard code == SQLITE_OK else { throw error(sql: nil) }
      // It would write to standard error of what is an error here. Not before: the first key of a process turns its log on.
      try execute("PRAGMA cipher_log_level = NONE")
      // What is sorted must not get into files: those would be plain.
      try execute("PRAGMA temp_store = MEMORY")
    #else
      throw DatabaseError(code: SQLITE_MISUSE, message: "this build cannot encrypt")
    #endif
  }

  /// Writes everything in this database into a new one under `path`, which is there and empty, with another key or none.
  ///
  /// The new file has no journal: it is worth something only when this returns. Needs SQLCipher. Not within a transaction.
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
      throw DatabaseError(code: SQLITE_CORRUPT, message: "what was written to \(path) is not what was read")
    }
  }
}
