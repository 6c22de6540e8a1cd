import JSON
import RestClient
import SmartStore

extension GhostRun {
  /// Removes entries that were created here and whose records the server deleted before any sync
  /// down brought them. No sync down would notice, so the server is asked for each record by its
  /// id, each time until a sync down brings it.
  /// - Returns: The number of removed entries; children are not counted.
  func removeOrphans() async throws -> Int {
    var removed = 0
    for (position, mapping) in mappings.enumerated() {
      let soup = mapping.soup, plan = DirtyBatch.Plan(fields: mapping.fields, externalIdField: nil, create: nil, update: nil)
      let (ids, number) = try await store.read { (try $0.ownedByMakers(in: soup), try $0.soupNumber(of: soup)) }
      for start in stride(from: 0, to: ids.count, by: Self.lookedUpAtOnce) {
        try control.check()
        let slice = ids[start..<min(start + Self.lookedUpAtOnce, ids.count)]
        let batch = try await store.read { try DirtyBatch($0.entries(slice, in: soup), plan: plan) }
        let own = (0..<batch.count).filter { batch.serverId($0) != nil }
        let gone = try await self.gone(among: own, of: batch, position, isForced: false)
        let count = try await remove(
          gone.map {
            RemovedEntry(
              id: batch.entryIds[$0], version: batch.versions[$0], recordId: batch.serverId($0), because: .deletedThere)
          }, from: soup, number)
        if mapping.isCounted { removed += count }
      }
    }
    return removed
  }

  /// Removes entries that were not written since they were read.
  private func remove(_ entries: [RemovedEntry], from soup: String, _ number: Int64) async throws -> Int {
    guard !entries.isEmpty else { return 0 }
    return try await write(.pulled) { transaction in
      guard try transaction.soupNumber(of: soup) == number else { return 0 }
      let versions = try transaction.versions(of: entries.map(\.id), in: soup)
      let still = entries.filter { versions[$0.id] == $0.version }
      try transaction.remove(still, from: soup)
      return still.count
    }
  }
}
