import JSON
import MobileSync
import SmartStore

/// Where a cached answer comes from.
public enum FetchMode: String, Sendable, CaseIterable {
  /// The cache alone; nothing when it has none.
  case cacheOnly = "CACHE_ONLY"
  /// The cache, and the server when it has none.
  case cacheFirst = "CACHE_FIRST"
  /// Always the server; the cache is renewed.
  case serverFirst = "SERVER_FIRST"
}

/// Answers of the server that are kept in a soup, one entry for each id, and renewed by a sync down.
struct RecordCache: Sendable {
  let manager: SyncManager
  let soup: String

  /// Registers the soup when it is missing. Blocks.
  init(_ manager: SyncManager, soup: String) throws {
    self.manager = manager
    self.soup = soup
    try manager.store.registerSoup(soup, indexSpecs: [IndexSpec(path: "Id", type: .json1)])
  }

  /// - Returns: nil when there is none and the mode asks no further.
  /// - Throws: What the sync down ended with.
  func fetch(_ id: String, target: JSONObject, mode: FetchMode) async throws -> JSONObject? {
    if mode != .serverFirst {
      let cached = try await cached(id)
      if cached != nil || mode == .cacheOnly { return cached }
    }
    let end = try await manager.syncDown(target: target, options: SyncOptions().json, soupName: soup)
    // The sync has no name and was for this once.
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
