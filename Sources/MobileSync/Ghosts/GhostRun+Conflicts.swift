import JSON
import RestClient
import SmartStore

extension GhostRun {
  /// Records conflicts for entries with local changes whose record the server has deleted, for a
  /// sync that merges. The entries stay.
  func noteDeletions(_ position: Int) async throws {
    let mapping = mappings[position], soup = mapping.soup
    let plan = DirtyBatch.Plan(fields: mapping.fields, externalIdField: nil, create: nil, update: nil)
    let (dirty, number) = try await store.read { (try $0.dirtyEntryIds(in: soup), try $0.soupNumber(of: soup)) }
    for start in stride(from: 0, to: dirty.count, by: Self.lookedUpAtOnce) {
      try control.check()
      let ids = dirty[start..<min(start + Self.lookedUpAtOnce, dirty.count)]
      let batch = try await store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
      let gone = try await gone(among: own(of: batch), of: batch, position, isForced: true)
      guard !gone.isEmpty else { continue }
      let candidates = gone.map {
        ConflictCandidate(
          soup: soup, soupNumber: number, fields: mapping.fields, entryId: batch.entryIds[$0], server: .deleted)
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
  /// - Parameters:
  ///   - position: That of the soup among the mappings.
  ///   - isForced: Nothing is removed, so the target's limit does not apply.
  func gone(among own: [Int], of batch: DirtyBatch, _ position: Int, isForced: Bool) async throws -> [Int] {
    guard !own.isEmpty else { return [] }
    var gone: [Int] = [], context = try await context(of: state, mappings)
    context.isForced = context.isForced || isForced
    let asking = context, target = target
    for type in IdSet(own.map(batch.type)).sorted() {
      let asked = own.filter { batch.type($0) == type }, ids = asked.map { batch.serverId($0) ?? "" }
      do {
        let found = try await control.value(
          of: Task { try await target.existence(of: ids, type: type, mapping: position, in: asking) })
        gone += zip(asked, found).filter { $0.1 == .gone }.map(\.0)
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
