import Database
import Glibc
import Support

/// Stores the response cache of one connection in a SQLite database.
///
/// Not thread-safe: ``ResponseCache`` calls it on its own queue. Every function can throw a
/// `DatabaseError`.
///
/// SQLite fits because several processes share the file: it locks, survives a kill, looks up and
/// evicts by index, and its page cache serves as the in-memory part.
final class CacheDatabase {
  struct Row {
    let variant: String
    let response: CachedResponse
    let lastUsed: Double
  }

  /// The database file; nil keeps everything in memory.
  let path: String?
  private let limits: ConnectionSettings.CacheLimits
  private let connection: Connection
  /// Mixed into every digest, so that the file does not reveal which secrets were used.
  let salt: String

  private static let schemaVersion: Int64 = 1
  private static let sideFiles = ["", "-wal", "-shm"]

  /// Whether a damaged file was replaced by a new one.
  let wasRebuilt: Bool

  /// Opens or creates the cache.
  ///
  /// - Parameter checksIntegrity: Check the whole file first, because a part of it was found to be
  ///   damaged.
  /// - Throws: `DatabaseError`; `FileError` if the folder cannot be created.
  init(path: String?, limits: ConnectionSettings.CacheLimits, checksIntegrity: Bool = false) throws {
    self.path = path
    self.limits = limits
    guard let path else {
      connection = try Connection(path: ":memory:", mode: .readWriteCreate)
      salt = try CacheDatabase.prepare(connection, limits)
      wasRebuilt = false
      return
    }
    // Hold a lock: another process may be about to replace a damaged file, and SQLite finds side
    // files by name.
    let lock = try CacheDatabase.lock(path)
    defer { lock.release() }
    let opened: (connection: Connection, salt: String), rebuilt: Bool
    do {
      opened = try CacheDatabase.open(path, limits, checksIntegrity: checksIntegrity)
      rebuilt = false
    } catch let error as DatabaseError where error.isCorrupt {
      for suffix in CacheDatabase.sideFiles { unlink(path + suffix) }
      opened = try CacheDatabase.open(path, limits, checksIntegrity: false)
      rebuilt = true
    }
    (connection, salt, wasRebuilt) = (opened.connection, opened.salt, rebuilt)
  }

  func close() { connection.close() }

  private static func lock(_ path: String) throws -> FileSystem.Lock {
    if let slash = path.lastIndex(of: "/") { try FileSystem.makeDirectory(String(path[..<slash])) }
    return try FileSystem.lock(path + ".lock")
  }

  private static func open(
    _ path: String, _ limits: ConnectionSettings.CacheLimits, checksIntegrity: Bool
  ) throws -> (connection: Connection, salt: String) {
    // SQLite would create a file that other users can read. Its side files inherit the mode of this
    // one.
    let descriptor = Glibc.open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    if descriptor >= 0 { Glibc.close(descriptor) }
    let connection = try Connection(path: path, mode: .readWrite)
    do {
      connection.setBusyTimeout(milliseconds: Tuning.cacheBusyTimeoutMs)
      try connection.execute("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
      if checksIntegrity, try connection.firstValue("PRAGMA quick_check(1)") != .text("ok") {
        throw DatabaseError(code: CacheDatabase.corrupt, message: "the file is damaged")
      }
      return (connection, try prepare(connection, limits))
    } catch {
      connection.close()
      throw error
    }
  }

  /// SQLITE_CORRUPT. Only Sources/Database may import SQLite's constants.
  private static let corrupt: Int32 = 11

  /// Sizes the page cache and creates the tables.
  ///
  /// - Returns: The file's salt.
  private static func prepare(_ connection: Connection, _ limits: ConnectionSettings.CacheLimits) throws -> String {
    let kilobytes = max(64, Int(saturating: limits.memoryMB * 1024))
    try connection.execute("PRAGMA cache_size = -\(kilobytes); PRAGMA secure_delete = OFF")
    return try connection.transaction(.immediate) {
      if try version(of: connection) != schemaVersion {
        try connection.execute(
          """
          DROP TABLE IF EXISTS http_cache;
          DROP TABLE IF EXISTS http_cache_salt;
          CREATE TABLE http_cache (key TEXT NOT NULL, variant TEXT NOT NULL, url TEXT NOT NULL, status INTEGER NOT NULL,
            headers_json TEXT NOT NULL, body BLOB NOT NULL, request_time REAL NOT NULL, response_time REAL NOT NULL,
            last_used REAL NOT NULL, size INTEGER NOT NULL, UNIQUE (key, variant));
          CREATE INDEX http_cache_age ON http_cache (last_used, size);
          CREATE INDEX http_cache_url ON http_cache (url);
          CREATE TABLE http_cache_salt (salt TEXT NOT NULL);
          PRAGMA user_version = \(schemaVersion);
          """)
        try connection.run("INSERT INTO http_cache_salt VALUES (?)", [.text(newSalt())])
      }
      guard case .text(let salt)? = try connection.firstValue("SELECT salt FROM http_cache_salt") else { return "" }
      return salt
    }
  }

  private static func version(of connection: Connection) throws -> Int64 {
    guard case .integer(let version)? = try connection.firstValue("PRAGMA user_version") else { return 0 }
    return version
  }

  private static func newSalt() -> String { Base64.text((0..<16).map { _ in UInt8.random(in: .min ... .max) }) }

  // MARK: Rows

  /// Returns all variants stored under a key, newest first. Skips unreadable rows, which then count
  /// as misses.
  func rows(_ key: String) throws -> [Row] {
    let statement = try connection.statement(
      """
      SELECT variant, status, headers_json, body, request_time, response_time, last_used FROM http_cache
      WHERE key = ? ORDER BY response_time DESC
      """)
    try statement.bind([.text(key)])
    defer { statement.reset() }
    var rows: [Row] = []
    while try statement.step() {
      guard let headers = CachedHeaders.read(statement.string(2)), case .blob(let body) = statement.value(3) else { continue }
      let response = CachedResponse(
        status: Int(statement.int64(1)), headers: headers, body: body, requestTime: statement.double(4),
        responseTime: statement.double(5))
      rows.append(Row(variant: statement.string(0), response: response, lastUsed: statement.double(6)))
    }
    return rows
  }

  /// Stores or replaces a response, then evicts the least recently used ones until the rest fits.
  func put(_ response: CachedResponse, key: String, variant: String, url: String, now: Double) throws {
    let headers = CachedHeaders.text(response.headers)
    let size = response.body.count + headers.utf8.count + url.utf8.count + variant.utf8.count + key.utf8.count + rowOverhead
    guard size <= limit else { return try remove(key: key, variant: variant) }
    try connection.transaction(.immediate) {
      try connection.run(
        "INSERT OR REPLACE INTO http_cache VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
          .text(key), .text(variant), .text(url), .integer(Int64(response.status)), .text(headers), .blob(response.body),
          .real(response.requestTime), .real(response.responseTime), .real(now), .integer(Int64(size)),
        ])
      try evict()
    }
  }

  private func evict() throws {
    guard case .integer(var total)? = try connection.firstValue("SELECT sum(size) FROM http_cache"), total > limit else { return }
    var victims: [Int64] = []
    let oldest = try connection.statement("SELECT rowid, size FROM http_cache ORDER BY last_used, rowid")
    while total > limit, try oldest.step() {
      victims.append(oldest.int64(0))
      total -= oldest.int64(1)
    }
    oldest.reset()
    for id in victims { try connection.run("DELETE FROM http_cache WHERE rowid = ?", [.integer(id)]) }
    try connection.execute("PRAGMA incremental_vacuum")
  }

  /// Updates the time of last use, at most once per ``Tuning/cacheTouchS``: each update is a write,
  /// and eviction does not need finer times.
  func touch(key: String, variant: String, lastUsed: Double, now: Double) throws {
    guard now - lastUsed >= Tuning.cacheTouchS else { return }
    try connection.run(
      "UPDATE http_cache SET last_used = ? WHERE key = ? AND variant = ?", [.real(now), .text(key), .text(variant)])
  }

  func remove(key: String, variant: String) throws {
    try connection.run("DELETE FROM http_cache WHERE key = ? AND variant = ?", [.text(key), .text(variant)])
  }

  /// Removes the responses stored for a URL, for every account.
  ///
  /// - Parameter withQueries: Also remove the same path with any query, such as all pages of a
  ///   list.
  func remove(url: String, withQueries: Bool) throws {
    try connection.run("DELETE FROM http_cache WHERE url = ?", [.text(url)])
    guard withQueries else { return }
    // '@' follows '?' in ASCII.
    try connection.run("DELETE FROM http_cache WHERE url >= ? AND url < ?", [.text(url + "?"), .text(url + "@")])
  }

  func removeAll() throws {
    try connection.run("DELETE FROM http_cache")
    try connection.execute("PRAGMA incremental_vacuum; PRAGMA wal_checkpoint(TRUNCATE)")
  }

  /// Lists the stored responses, most recently used first.
  func summaries() throws -> [CacheEntrySummary] {
    let statement = try connection.statement(
      "SELECT url, status, size, response_time, last_used FROM http_cache ORDER BY last_used DESC, url")
    defer { statement.reset() }
    var result: [CacheEntrySummary] = []
    while try statement.step() {
      result.append(
        CacheEntrySummary(
          url: statement.string(0), status: Int(statement.int64(1)), size: Int(statement.int64(2)),
          storedAt: statement.double(3), lastUsed: statement.double(4)))
    }
    return result
  }

  private var limit: Int64 { Int64(saturating: (path == nil ? limits.memoryMB : limits.diskMB) * 1024 * 1024) }
  /// Approximate bytes that SQLite needs for a row and its index entries.
  private let rowOverhead = 128
}

/// Describes one stored response in a listing.
package struct CacheEntrySummary: Sendable, Equatable {
  /// Values of secret parameters are removed.
  package let url: String
  package let status: Int
  /// Bytes.
  package let size: Int
  /// Seconds since 1970.
  package let storedAt: Double
  package let lastUsed: Double
}
