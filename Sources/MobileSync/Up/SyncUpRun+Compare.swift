import JSON
import RestClient
import SmartStore

/// What a run knows about the entries that it compared with the server last.
struct ComparedEntries: Sendable {
  var ids: Set<Int64> = []
  var verdicts: [Int64: UploadVerdict] = [:]
  /// Claimed, or written to.
  var touched: Set<Int64> = []
  /// See ``UploadContext/datesSeen``.
  var dates: IdMap<Int64> = [:]
  /// See ``UploadContext/changesSeen``.
  var changes: [Int64: LocalChanges] = [:]
  /// The server's records, if their fields could be read.
  var seen: [Int64: JSONObject] = [:]
}

extension SyncUpRun {
  /// Compares a batch with the server right before it is sent. If the server itself checks updates
  /// again, several batches are compared ahead at once.
  /// - Returns: The part that may be sent, and the part that is held back.
  mutating func compare(
    _ batch: DirtyBatch, _ chunk: UploadChunk, ahead: ArraySlice<UploadChunk>
  ) async throws -> (DirtyBatch, UploadChunk) {
    guard state.options.mergeMode != .overwrite else { return (batch, chunk) }
    let before = environment.intent.recorder?.begin(.look, records: 0)
    defer { if let before { environment.intent.recorder?.resume(before) } }
    if chunk.toSend.allSatisfy(compared.ids.contains) {
      try await examine(unconditional(batch))
    } else {
      var ids = chunk.toSend
      for next in ahead {
        if ids.count >= target.traits.comparedAhead { break }
        ids += next.toSend
      }
      compared = ComparedEntries(ids: Set(ids))
      try await examine(ids)
    }
    guard chunk.toSend.contains(where: compared.touched.contains) else { return (batch, chunk) }
    var rest = UploadChunk(held: chunk.held)
    for id in chunk.toSend { rest.add(id, compared.verdicts[id]) }
    return (try await prepare(rest).value, rest)
  }

  /// Returns the entries of a batch that are sent without a condition.
  private func unconditional(_ batch: DirtyBatch) -> [Int64] {
    guard target.traits.comparesFields else { return [] }
    let context = context()
    return (0..<batch.count).filter { i in
      let action = batch.action(i)
      return compared.verdicts[batch.entryIds[i]] == nil
        && (action == .delete || action == .update && context.date(of: i, in: batch) == nil)
    }.map { batch.entryIds[$0] }
  }

  private mutating func examine(_ ids: [Int64]) async throws {
    guard !ids.isEmpty else { return }
    let soup = soup, plan = plan
    let batch = try await environment.store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
    let findings = try await check.examine(batch)
    compared.dates.merge(findings.dates) { _, new in new }
    compared.changes.merge(findings.local) { _, new in new }
    compared.seen.merge(findings.seen) { _, new in new }
    for (i, result) in findings.refused { hold(batch.entryIds[i], .refused(result)) }
    try await reconcile(findings.changed, batch)
  }

  private var check: UploadCheck {
    UploadCheck(
      target: target, context: context(), store: environment.store, soup: soup, refused: environment.refusedFields)
  }

  private mutating func hold(_ id: Int64, _ verdict: UploadVerdict?) {
    compared.touched.insert(id)
    compared.verdicts[id] = verdict
  }

  /// Reconciles entries that the server changed; those without a conflict may be sent.
  private mutating func reconcile(_ changed: [Int: ServerVersion?], _ batch: DirtyBatch) async throws {
    guard !changed.isEmpty else { return }
    let outcomes = try await record.reconcile(
      try await conflictCandidates(changed.keys.sorted(), changed.compactMapValues { $0 }, batch))
    for i in changed.keys {
      let id = batch.entryIds[i]
      switch outcomes[id] {
      case .conflict: hold(id, .conflicting)
      case .settled: hold(id, .settled)
      case .merged, .untouched, nil: hold(id, nil)
      }
    }
  }

  private func wholeRecords(_ indices: [Int], of batch: DirtyBatch) async throws -> [Int: JSONObject] {
    guard !indices.isEmpty else { return [:] }
    do {
      return try await target.wholeRecords(indices, of: batch, in: context())
    } catch  where error.isPlanned {
      return [:]
    }
  }

  /// Returns conflict candidates with the server's versions.
  /// - Parameter known: Versions that are already known.
  mutating func conflictCandidates(
    _ indices: [Int], _ known: [Int: ServerVersion], _ batch: DirtyBatch
  ) async throws -> [ConflictCandidate] {
    let soup = soup, check = check
    let versions = try await check.versions(indices.filter { known[$0] == nil }, batch).merging(known) { _, known in known }
    for i in indices {
      if let id = batch.serverId(i), let date = versions[i].flatMap(check.date) { compared.dates[id] = date }
    }
    let read = indices.filter { versions[$0]?.record != nil }
    let whole = try await wholeRecords(read, of: batch)
    return indices.map {
      ConflictCandidate(
        soup: soup, soupNumber: soupNumber, fields: target.fields, entryId: batch.entryIds[$0], server: versions[$0] ?? .unknown,
        whole: whole[$0],
        isNewerOnServer: true)
    }
  }
}
