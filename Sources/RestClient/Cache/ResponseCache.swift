import Database
import Dispatch
import Logging
import Support

/// Caches the responses of one connection, on disk or in memory.
///
/// It never fails a request: if the file is unusable, it logs one warning and requests go on
/// without a cache. Threads: any; disk access happens on its own queue.
package final class ResponseCache: @unchecked Sendable {  // `database` and `hasWarned` are only touched on `queue`
  /// A stored response and the variant of request headers that it matched.
  struct Found: Sendable {
    let response: CachedResponse
    let variant: String
  }

  /// Identifies a request in the cache. `account` says on whose behalf it is sent; it may contain a
  /// secret and is only hashed.
  struct Key: Sendable {
    let url: String
    let account: String
  }

  private let queue = DispatchQueue(label: "tureen.rest.cache")
  private let path: String?
  private let limits: ConnectionSettings.CacheLimits
  private let logger: Logger
  private let now: @Sendable () -> Double
  private var database: CacheDatabase?
  private var hasWarned = false
  private var isClosed = false

  /// - Parameter path: The database file. If it is nil, or the limits allow no disk space,
  ///   responses stay in memory.
  package init(
    path: String?, limits: ConnectionSettings.CacheLimits, logger: Logger = Logger.tureen("rest"),
    now: @escaping @Sendable () -> Double = { SystemClock.secondsSince1970() }
  ) {
    self.path = limits.diskMB > 0 ? path : nil
    self.limits = limits
    self.logger = logger
    self.now = now
  }

  /// Returns the path of a connection's cache in a home folder.
  package static func path(home: String, connection: String) -> String { "\(home)/cache/\(connection.lowercased()).sqlite" }

  // MARK: For requests

  func find(_ key: Key, request: Headers) async -> Found? {
    await perform { database in
      let digest = { try Digest.sha256Hex(database.salt + $0) }, text = try self.text(key, database)
      for row in try database.rows(text)
      where try CacheVariant.matches(row.variant, request: request.fields, digest: digest) {
        try? database.touch(key: text, variant: row.variant, lastUsed: row.lastUsed, now: self.now())
        return Found(response: row.response, variant: row.variant)
      }
      return nil
    } ?? nil
  }

  func put(_ response: CachedResponse, _ key: Key, request: Headers) async {
    await perform { database in
      let variant = try CacheVariant(vary: response.values("Vary"), request: request.fields) {
        try Digest.sha256Hex(database.salt + $0)
      }
      try database.put(
        response, key: self.text(key, database), variant: variant.text, url: Self.shown(key.url), now: self.now())
    }
  }

  func remove(_ found: Found, _ key: Key) async {
    await perform { try $0.remove(key: self.text(key, $0), variant: found.variant) }
  }

  /// Drops the responses stored for URLs, for every account, because the resources have changed.
  ///
  /// - Parameter withQueries: Also drop the same paths with any query.
  func invalidate(_ urls: [String], withQueries: Bool = false) async {
    await perform { database in
      for url in urls { try database.remove(url: Self.shown(url), withQueries: withQueries) }
    }
  }

  /// Waits for pending operations and closes the file. Later calls find nothing.
  func close() async {
    await withCheckedContinuation { continuation in
      queue.async {
        self.database?.close()
        self.database = nil
        self.isClosed = true
        continuation.resume()
      }
    }
  }

  // MARK: For the command line. Both calls block.

  package func entries() throws -> [CacheEntrySummary] { try queue.sync { try opened().summaries() } }

  package func removeAll() throws { try queue.sync { try opened().removeAll() } }

  // MARK: The file

  private func text(_ key: Key, _ database: CacheDatabase) throws -> String {
    try Digest.sha256Hex([database.salt, key.account, Self.withoutFragment(key.url)].joined(separator: "\n"))
  }

  /// Returns the URL as stored in the file. Its secrets only appear hashed, as part of the key.
  private static func shown(_ url: String) -> String { Redaction.url(withoutFragment(url)) }

  private static func withoutFragment(_ url: String) -> String { String(url.prefix { $0 != "#" }) }

  /// Runs `body` on the queue. Returns nil if the cache is unusable.
  @discardableResult
  private func perform<Result: Sendable>(
    _ body: @escaping @Sendable (CacheDatabase) throws -> Result
  ) async -> Result? {
    await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: self.result(of: body)) }
    }
  }

  private func result<Result>(of body: (CacheDatabase) throws -> Result) -> Result? {
    guard !isClosed else { return nil }
    do {
      return try body(try opened())
    } catch let error as DatabaseError where error.isCorrupt {
      database?.close()
      database = try? CacheDatabase(path: path, limits: limits, checksIntegrity: true)
      warnOnce("was damaged and has been recreated")
    } catch let error as DatabaseError where error.isBusy {
      logger.debug("the response cache is busy")
    } catch {
      warnOnce("is not usable, so responses are not stored: \(error)")
    }
    return nil
  }

  private func opened() throws -> CacheDatabase {
    if let database { return database }
    let made = try CacheDatabase(path: path, limits: limits)
    if made.wasRebuilt { warnOnce("was damaged and has been recreated") }
    database = made
    return made
  }

  private func warnOnce(_ what: String) {
    guard !hasWarned else { return }
    hasWarned = true
    logger.warning("the response cache \(path ?? "in memory") \(what)")
  }
}

/// Sendable wrapper for header fields.
struct Headers: Sendable {
  let fields: [(name: String, value: String)]
}
