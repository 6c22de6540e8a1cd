import JSON
import RestClient
import SmartStore

extension GhostRun {
  /// Records conflicts for entries with local changes whose record the server has deleted, for a
  /// sync that merges. The entries stay.
  func noteDeletions(_ mapping: SoupMapping) async throws {
    let soup = mapping.soup, plan = DirtyBatch.Plan(fields: mapping.fields, externalIdField: nil, create: nil, update: nil)
    let dirty = try await store.read { try $0.dirtyEntryIds(in: soup) }
    for start in stride(from: 0, to: dirty.count, by: Self.lookedUpAtOnce) {
      try control.check()
      let ids = dirty[start..<min(start + Self.lookedUpAtOnce, dirty.count)]
      let batch = try await store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
      let gone = try await gone(among: own(of: batch), of: batch)
      guard !gone.isEmpty else { continue }
      let candidates = gone.map {
        ConflictCandidate(soup: soup, fields: mapping.fields, entryId: batch.entryIds[$0], server: .deleted)
      }
      try await note(candidates)
    }
  }

  /// Returns the positions of this sync's entries that have a record on the server.
  private func own(of batch: DirtyBatch) -> [Int] {
    (0..<batch.count).filter { i in
      let flags = batch.flags(i)
      return !flags.isCreated && !flags.isDeleted && batch.serverId(i) != nil
        && batch.entry(i)[LocalField.syncId]?.integerValue == state.id
    }
  }

  /// Returns the positions of entries whose record no longer exists on the server.
  func gone(among own: [Int], of batch: DirtyBatch) async throws -> [Int] {
    var gone: [Int] = []
    for type in IdSet(own.map(batch.type)).sorted() {
      let asked = own.filter { batch.type($0) == type }
      do {
        let versions = try await service.versions(
          type: type, ids: asked.map { batch.serverId($0) ?? "" }, fields: [batch.plan.fields.id], through: client)
        gone += zip(asked, versions).filter { $0.1 == .deleted }.map(\.0)
      } catch let error as RestError where error.code == .httpStatus && [400, 404].contains(error.status ?? 0) {
        // The server cannot be asked about this type, so nothing is known.
        continue
      }
    }
    return gone
  }

  private func note(_ candidates: [ConflictCandidate]) async throws {
    let reconciler = Reconciler(syncId: state.id, mergeMode: .merge, isDown: true, now: configuration.now())
    let new = try await write(.pulled) { transaction in
      let outcomes = try reconciler.reconcile(candidates, in: transaction)
      return try zip(candidates, outcomes).compactMap { candidate, outcome in
        outcome == .conflict(isNew: true) ? try transaction.syncConflict(candidate.entryId, in: candidate.soup) : nil
      }
    }
    if !new.isEmpty { onConflicts(new) }
  }
}
