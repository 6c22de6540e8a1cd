import JSON
import RestClient
import SmartStore

extension GhostRun {
  /// Entries with local changes stay. Of a sync that merges, those whose record the server has deleted are conflicts from then
  /// on.
  func noteDeletions(_ place: RecordPlace) async throws {
    let soup = place.soup, plan = DirtyBatch.Plan(fields: place.fields, externalIdField: nil, create: nil, update: nil)
    let dirty = try await store.read { try $0.dirtyEntryIds(in: soup) }
    for start in stride(from: 0, to: dirty.count, by: Self.lookedUpAtOnce) {
      try control.check()
      let ids = dirty[start..<min(start + Self.lookedUpAtOnce, dirty.count)]
      let batch = try await store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
      let gone = try await gone(among: own(of: batch), of: batch)
      guard !gone.isEmpty else { continue }
      let met = gone.map {
        Encounter(soup: soup, fields: place.fields, entryId: batch.entryIds[$0], server: .deleted)
      }
      try await note(met)
    }
  }

  /// Positions of this sync's entries that stand for a record.
  private func own(of batch: DirtyBatch) -> [Int] {
    (0..<batch.count).filter { i in
      let flags = batch.flags(i)
      return !flags.isCreated && !flags.isDeleted && batch.serverId(i) != nil
        && batch.entry(i)[LocalField.syncId]?.integerValue == state.id
    }
  }

  /// Positions of entries whose record the server does not have any more.
  func gone(among own: [Int], of batch: DirtyBatch) async throws -> [Int] {
    var gone: [Int] = []
    for type in Set(own.map(batch.type)).sorted() {
      let asked = own.filter { batch.type($0) == type }
      do {
        let versions = try await service.versions(
          type: type, ids: asked.map { batch.serverId($0) ?? "" }, fields: [batch.plan.fields.id], through: client)
        gone += zip(asked, versions).filter { $0.1 == .deleted }.map(\.0)
      } catch let error as RestError where error.code == .httpStatus && [400, 404].contains(error.status ?? 0) {
        // A type that the server cannot be asked about: then nothing is known.
        continue
      }
    }
    return gone
  }

  private func note(_ met: [Encounter]) async throws {
    let reconciler = Reconciler(syncId: state.id, mergeMode: .merge, isDown: true, now: configuration.now())
    let news = try await store.write(.pulled) { transaction in
      try met.compactMap { one in
        let outcome = try reconciler.reconcile(one, in: transaction)
        return outcome == .conflict(isNews: true) ? try transaction.syncConflict(one.entryId, in: one.soup) : nil
      }
    }
    if !news.isEmpty { onConflicts(news) }
  }
}
