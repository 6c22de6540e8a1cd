import JSON
import SmartStore

extension RunRecord {
  /// Decides what becomes of entries that the server may have changed, as ``reconcile(_:)`` does, and writes nothing. Merged
  /// entries are kept in the recorder, since the run would send them as merged.
  func decide(_ candidates: [ConflictCandidate], _ recorder: PlanRecorder) async throws -> [Int64: Reconciliation] {
    guard !candidates.isEmpty else { return [:] }
    let rules = Reconciler(
      syncId: state.id, mergeMode: state.options.mergeMode, policy: state.options.resolve, isDown: false,
      now: environment.configuration.now())
    let decided = try await environment.store.read { snapshot in
      var stored = try StoredCandidates(candidates, in: snapshot)
      return try candidates.map { candidate -> (JSONObject, ReconcileDecision)? in
        let known = try stored.next(candidate, in: snapshot)
        guard let local = try known.entry?.object(), local.hasFlag(LocalField.local) else { return nil }
        return (local, ReconcileDecision(candidate, local, known, rules))
      }
    }
    var outcomes: [Int64: Reconciliation] = [:]
    for (candidate, found) in zip(candidates, decided) where outcomes[candidate.entryId] == nil {
      guard let (local, decision) = found else { continue }
      switch decision {
      case .untouched: outcomes[candidate.entryId] = .untouched
      case .conflict: outcomes[candidate.entryId] = .conflict(isNew: false)
      case .settled(let merge, let base):
        keep(RecordMerge.cleaned(merge.merged), candidate, local, base, recorder)
        outcomes[candidate.entryId] = .settled
      case .merged(let merge, let base):
        keep(merge.merged, candidate, local, base, recorder)
        outcomes[candidate.entryId] = .merged
      }
    }
    return outcomes
  }

  /// Keeps an entry as the run would have it after the comparison.
  private func keep(
    _ merged: JSONObject, _ candidate: ConflictCandidate, _ local: JSONObject, _ base: JSONObject?, _ recorder: PlanRecorder
  ) {
    environment.limit?.noteWritten(candidate.entryId, in: candidate.soup)
    let entry = merged.replacing(with: candidate.extras(of: merged, base))
    let server = candidate.extras(of: local, base).replacing(with: candidate.server.record ?? [:])
    recorder.keep(
      PlanRecorder.MergedEntry(entry: entry, base: RecordMerge.base(base, after: server)), of: candidate.entryId,
      in: candidate.soup)
  }
}
extension DirtyBatch {
  /// Returns the batch with the entries that a plan has merged the server's changes into.
  func merged(_ recorder: PlanRecorder, in soup: String) throws -> DirtyBatch {
    let changed = entryIds.map { recorder.merged($0, in: soup) }
    guard changed.contains(where: { $0 != nil }) else { return self }
    var entries = EntryBatch(text: [UInt8(ascii: "[")])
    for (i, entry) in changed.enumerated() {
      if i > 0 { entries.text.append(UInt8(ascii: ",")) }
      entries.text += entry.map { JSONValue.object($0.entry).serialized() } ?? text(i)
      entries.ids.append(entryIds[i])
      // A merge writes the row.
      entries.versions.append(versions[i] + (entry == nil ? 0 : 1))
    }
    entries.text.append(UInt8(ascii: "]"))
    return try DirtyBatch(entries, plan: plan)
  }
}
