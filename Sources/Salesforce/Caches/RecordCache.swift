import JSON
import MobileSync
import SmartStore

/// Says whether a fetch reads the cache, asks the server, or both.
public enum FetchMode: String, Sendable, CaseIterable {
  /// Reads the cache only.
  case cacheOnly = "CACHE_ONLY"
  /// Reads the cache, and asks the server if the cache has nothing.
  case cacheFirst = "CACHE_FIRST"
  /// Always asks the server and updates the cache.
  case serverFirst = "SERVER_FIRST"
}

/// Caches server responses in a soup, one entry per id. A sync down fetches and refreshes them.
struct RecordCache: Sendable {
  let manager: SyncManager
  let soup: String

  /// Registers the soup if it does not exist yet. Blocks.
  init(_ manager: SyncManager, soup: String) throws {
    self.manager = manager
    self.soup = soup
    try manager.store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .json1)])
  }

  /// - Returns: nil if the cache has no entry with this id and the mode does not allow a request.
  /// - Throws: The error that the sync down ended with.
  func fetch(_ id: String, target: JSONObject, mode: FetchMode) async throws -> JSONObject? {
    if mode != .serverFirst {
      let cached = try await cached(id)
      if cached != nil || mode == .cacheOnly { return cached }
    }
    let end = try await manager.syncDown(target: target, options: SyncOptions().json, soupName: soup)
    // The sync was created for this fetch only.
    try await SyncManager.onStartQueue { [manager] in try manager.deleteSync(.id(end.id)) }
    guard end.status == .done else { throw end.failure ?? SyncError(.stopped, "the sync was stopped") }
    return try await cached(id)
  }

  private func cached(_ id: String) async throws -> JSONObject? {
    let soup = soup
    return try await manager.store.read { snapshot in
      let ids = try snapshot.entryIds(in: soup, where: "Id", equals: .text(id))
      return try ids.first.flatMap { try snapshot.entry($0, in: soup) }?.object()
    }
  }
}
