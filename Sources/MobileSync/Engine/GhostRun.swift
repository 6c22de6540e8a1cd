import JSON
import RecordScan
import RestClient
import SmartStore

/// One search for ghosts: what a sync brought, less what the server would send now.
struct GhostRun: Sendable {
  let store: Store
  let client: any RestClient
  let control: RunControl
  let state: SyncState
  let target: any SyncDownTarget

  /// An entry without local changes that the sync wrote last.
  private struct Owned: Sendable {
    let entryId: Int64
    let recordId: String
  }

  /// - Returns: How many entries were removed.
  func perform() async throws -> Int {
    let run = self
    let local = try await store.read { try run.cleanEntries($0) }
    guard !local.isEmpty else { return 0 }
    let remote = try await remoteIds(of: target, among: local.map(\.recordId))
    let ghosts = local.filter { !remote.contains($0.recordId) }
    guard !ghosts.isEmpty else { return 0 }
    let heirs = try await heirs(of: ghosts)
    let ids = Set(ghosts.map(\.entryId)), soup = state.soupName
    return try await store.write(.pulled) { transaction in
      // Looked at again: it may have been edited here, or brought by another sync, while the server was asked.
      let still = try run.cleanEntries(transaction).filter { ids.contains($0.entryId) }
      for entry in still {
        guard let heir = heirs[entry.recordId] else { continue }
        _ = try transaction.patch(entry.entryId, in: soup, setting: [LocalField.syncId: .integer(heir)])
      }
      let gone = still.filter { heirs[$0.recordId] == nil }.map(\.entryId)
      try transaction.remove(gone, from: soup)
      return gone.count
    }
  }

  private func remoteIds(of target: any SyncDownTarget, among ids: [String]) async throws -> Set<String> {
    let soup = state.soupName, fields = target.fields
    let plan = try await store.read { snapshot in
      try snapshot.pagePlan(soup: soup, idPath: fields.id, ownedKeys: LocalField.all)
    }
    let context = FetchContext(client: client, plan: plan, control: control)
    return try await control.value(of: Task { try await target.remoteIds(among: ids, in: context) })
  }

  /// Other syncs that brought the same records and would still get them: by record id. Asks the server only about syncs
  /// that share a ghost with this one.
  private func heirs(of ghosts: [Owned]) async throws -> [String: Int64] {
    let ids = Set(ghosts.map(\.recordId)), run = self
    let others = try await store.read { try run.others(sharing: ids, $0) }
    var heirs: [String: Int64] = [:]
    for (other, shared) in others {
      guard let target = try? TargetRegistry.down(other.target) else { continue }
      let remote = try await remoteIds(of: target, among: shared)
      for id in shared where remote.contains(id) { heirs[id] = other.id }
    }
    return heirs
  }

  private func others(sharing ids: Set<String>, _ snapshot: StoreSnapshot) throws -> [(SyncState, [String])] {
    let downs = try snapshot.entryIds(in: SyncsSoup.name, where: "type", equals: .text(SyncType.syncDown.rawValue))
    return try downs.filter { $0 != state.id }.compactMap { id in
      guard let other = try SyncsSoup.find(.id(id), in: snapshot), other.soupName == state.soupName else { return nil }
      let owned = try snapshot.externalIds(in: state.soupName, path: target.fields.id, ownedBy: id, dirty: false)
      let shared = owned.filter(ids.contains)
      return shared.isEmpty ? nil : (other, shared)
    }
  }

  private func cleanEntries(_ snapshot: StoreSnapshot) throws -> [Owned] {
    let soup = state.soupName
    let dirty = Set(try snapshot.dirtyEntryIds(in: soup))
    let owned = try snapshot.entryIds(in: soup, where: LocalField.syncId, equals: .integer(state.id))
    let clean = owned.filter { !dirty.contains($0) }
    var scanner = RecordScanner(plan: ScanPlan(paths: [target.fields.id]))
    var found: [Owned] = []
    for start in stride(from: 0, to: clean.count, by: GhostRun.entriesAtOnce) {
      let batch = try snapshot.entries(clean[start..<min(start + GhostRun.entriesAtOnce, clean.count)], in: soup)
      try batch.text.withUnsafeBytes { bytes in
        try scanner.scanArray(bytes)
        for (i, entryId) in batch.ids.enumerated() {
          guard let id = scanner.value(record: i, field: 0).string(in: bytes) else { continue }
          found.append(Owned(entryId: entryId, recordId: id))
        }
      }
    }
    return found
  }

  /// Entries held in memory at a time: about 1 MB.
  private static let entriesAtOnce = 2000
}
