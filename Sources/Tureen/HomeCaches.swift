import RestClient
import RestCollections
import Support

/// Lists and clears the response caches of a home's connections.
public struct HomeCaches: Sendable {
  public struct Entry: Sendable, Equatable {
    public let connection: String
    /// The URL without the values of secret parameters.
    public let url: String
    public let status: Int
    public let bytes: Int
    /// Seconds since 1970.
    public let storedAt: Double
    public let lastUsed: Double
  }

  private let home: String

  public init(home: String) { self.home = home }

  /// Returns the names of the connections that have a cache, in lower case and sorted.
  public func connections() throws -> [String] {
    try FileSystem.entries(of: home + "/cache").filter { $0.hasSuffix(".sqlite") }.map { String($0.dropLast(7)) }.sorted()
  }

  /// Returns the stored responses, the most recently used first.
  /// - Parameter connection: A connection; nil for all.
  public func entries(of connection: String?) throws -> [Entry] {
    try chosen(connection).flatMap { name in
      try cache(name).entries().map { entry in
        Entry(
          connection: name, url: entry.url, status: entry.status, bytes: entry.size, storedAt: entry.storedAt,
          lastUsed: entry.lastUsed)
      }
    }
  }

  /// Removes all stored responses and the files that syncs downloaded for their rows. Running programs continue with an empty
  /// cache; syncs download the files again.
  public func clear(_ connection: String?) throws -> (answers: Int, files: Int) {
    let assets = AssetFolder(home: home), withFiles = try assets.connections()
    let hasFiles = connection.map { withFiles.contains($0.lowercased()) } ?? true
    let hasAnswers = try connection.map { try connections().contains($0.lowercased()) } ?? true
    let answers = try (hasAnswers || !hasFiles ? chosen(connection) : []).reduce(0) { count, name in
      let cache = cache(name), found = try cache.entries().count
      try cache.removeAll()
      return count + found
    }
    return (answers, hasFiles ? try assets.clear(connection) : 0)
  }

  private func chosen(_ connection: String?) throws -> [String] {
    let known = try connections()
    guard let connection else { return known }
    guard known.contains(connection.lowercased()) else {
      throw HostError(
        .invalidConfiguration,
        known.isEmpty
          ? "no connection has a cache under \(home)"
          : "connection '\(connection)' has no cache under \(home); "
            + "those that have one: \(known.joined(separator: ", "))")
    }
    return [connection.lowercased()]
  }

  private func cache(_ name: String) -> ResponseCache {
    // The limits have no effect, because nothing is stored here.
    ResponseCache(path: ResponseCache.path(home: home, connection: name), limits: .init())
  }
}
