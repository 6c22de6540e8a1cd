import JSON
import RestClient
import SmartStore

extension GhostRun {
  /// Removes entries that were made here and whose records the server has deleted before any sync down brought them. No sync down
  /// misses such a record, so the server is asked for it by its id.
  /// - Returns: How many were removed; those that go with a parent are not counted.
  func removeOrphans() async throws -> Int {
    var removed = 0
    for place in places {
      let soup = place.soup, plan = DirtyBatch.Plan(fields: place.fields, externalIdField: nil, create: nil, update: nil)
      let ids = try await store.read { try $0.ownedByMakers(in: soup) }
      for start in stride(from: 0, to: ids.count, by: Self.lookedUpAtOnce) {
        try control.check()
        let slice = ids[start..<min(start + Self.lookedUpAtOnce, ids.count)]
        let batch = try await store.read { try DirtyBatch($0.entries(slice, in: soup), plan: plan) }
        let gone = try await self.gone(among: (0..<batch.count).filter { batch.serverId($0) != nil }, of: batch)
        let count = try await remove(gone.map { (batch.entryIds[$0], batch.versions[$0]) }, from: soup)
        if place.isCounted { removed += count }
      }
      if !ids.isEmpty { try await store.write(.pulled) { try $0.forgetMakers(in: soup) } }
    }
    return removed
  }

  /// Not what was written meanwhile.
  private func remove(_ entries: [(id: Int64, version: Int64)], from soup: String) async throws -> Int {
    guard !entries.isEmpty else { return 0 }
    return try await store.write(.pulled) { transaction in
      let still = try entries.filter { try transaction.entry($0.id, in: soup)?.version == $0.version }
      try transaction.remove(still.map(\.id), from: soup)
      return still.count
    }
  }
}
