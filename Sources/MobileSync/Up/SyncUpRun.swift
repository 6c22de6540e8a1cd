import JSON
import RestClient
import SmartStore

/// One run of a sync up: dirty entries in batches, each batch written back in one transaction.
///
/// The entries are chosen at the start, by id; what becomes dirty later waits for the next run.
struct SyncUpRun {
  let record: RunRecord
  private(set) var target: any SyncUpTarget
  let plan: DirtyBatch.Plan
  /// Records that are done with, whatever became of them.
  private var counter = ProgressCounter(total: 0)
  var compared = ComparedEntries()

  var environment: RunEnvironment { record.environment }
  var state: SyncState { record.state }

  init(_ record: RunRecord) throws {
    self.record = record
    target = try record.environment.targets.up(record.state.target)
    plan = target.settings.plan(fieldlist: record.state.options.fieldlist)
  }

  /// How creates are found again.
  private var place: SentCreate.Place {
    SentCreate.Place(
      fields: target.fields, waitMs: target.settings.lostCreateWaitMs ?? environment.configuration.lostCreateWaitMs)
  }

  func context(_ mergeMode: MergeMode? = nil, keys: [Int64: JSONObject] = [:]) -> UploadContext {
    UploadContext(
      client: environment.client, service: environment.service, control: environment.control,
      configuration: environment.configuration, mergeMode: mergeMode ?? state.options.mergeMode, datesSeen: compared.dates,
      changesSeen: compared.changes, createKeys: keys,
      place: UploadContext.Place(store: environment.store, soup: state.soupName, syncId: state.id))
  }

  /// Runs to the end; the state DONE is then saved and not yet reported.
  /// - Throws: Whatever ended the run before. What was uploaded by then is written back.
  mutating func perform() async throws {
    target = try await target.prepared(in: context())
    var lost = LostCreates(soupName: state.soupName, older: LostCreates.Older(place: place, plan: plan))
    lost.finder = (target, context())
    let inDoubt = try await lost.resolve(record)
    let soup = state.soupName
    let ids = try await inOrder(try await environment.store.read { try $0.dirtyEntryIds(in: soup) })
    counter = ProgressCounter(total: ids.count)
    try await record.save(.pulled) { _, state in state.totalSize = ids.count }
    record.report()
    let verdicts = Dictionary(uniqueKeysWithValues: inDoubt.map { ($0, UploadVerdict.inDoubt) })
    try await upload(UploadChunk.chunks(of: ids, verdicts, size: target.settings.maxBatchSize))
    let now = environment.configuration.now()
    try await record.save(.pulled) { _, state in
      state.progress = 100
      state.enter(.done, now: now)
    }
  }

  /// Creates first and deletes last, where the target wants it so; otherwise as the entries were made.
  private func inOrder(_ ids: [Int64]) async throws -> [Int64] {
    guard target.sendsCreatesFirst else { return ids }
    var lists: (creates: [Int64], updates: [Int64], deletes: [Int64]) = ([], [], [])
    let soup = state.soupName, plan = plan, size = 500
    for start in stride(from: 0, to: ids.count, by: size) {
      let part = Array(ids[start..<min(ids.count, start + size)])
      let batch = try await environment.store.read { try DirtyBatch($0.entries(part, in: soup), plan: plan) }
      for i in 0..<batch.count {
        switch batch.action(i) {
        case .create, .upsert: lists.creates.append(batch.entryIds[i])
        case .delete, .removeLocally: lists.deletes.append(batch.entryIds[i])
        case .update, .nothing: lists.updates.append(batch.entryIds[i])
        }
      }
    }
    return lists.creates + lists.updates + lists.deletes
  }

  private mutating func upload(_ chunks: [UploadChunk]) async throws {
    var prepared = chunks.first.map(prepare)
    for (i, chunk) in chunks.enumerated() {
      guard let read = try await prepared?.value else { return }
      try environment.control.check()
      let (batch, chunk) = try await compare(read, chunk, ahead: chunks[(i + 1)...])
      // The next batch is read while this one is on its way.
      prepared = i + 1 < chunks.count ? prepare(chunks[i + 1]) : nil
      do {
        try await send(batch, of: chunk)
      } catch {
        prepared?.cancel()
        _ = await prepared?.result
        throw error
      }
      report(chunk)
    }
  }

  func prepare(_ chunk: UploadChunk) -> Task<DirtyBatch, any Error> {
    let store = environment.store, soup = state.soupName, plan = plan, told = environment.configuration.onBatchRead
    return Task {
      let batch = try await store.read { try DirtyBatch($0.entries(chunk.toSend, in: soup), plan: plan) }
      told(batch.entryIds)
      return batch
    }
  }

  /// One update for each record, as if they had been sent one by one; the end reports the last of all.
  private mutating func report(_ chunk: UploadChunk) {
    for _ in 0..<chunk.count {
      counter.advance(1)
      if counter.isReported { record.report(status: .running, progress: counter.percent) }
    }
  }
}

/// Why an entry is not sent.
enum UploadVerdict: Sendable, Equatable {
  case conflicting
  case inDoubt
  /// Another run is sending it.
  case held
  case refused(UploadResult)
  /// The server has all of it already.
  case settled
}

/// Entries whose uploads are sent and written back together, and those between them that are not sent.
struct UploadChunk: Sendable {
  private(set) var toSend: [Int64] = []
  private(set) var held: [(id: Int64, verdict: UploadVerdict)] = []

  var count: Int { toSend.count + held.count }

  init(held: [(id: Int64, verdict: UploadVerdict)] = []) { self.held = held }

  mutating func add(_ id: Int64, _ verdict: UploadVerdict?) {
    if let verdict { held.append((id, verdict)) } else { toSend.append(id) }
  }

  static func chunks(of ids: [Int64], _ verdicts: [Int64: UploadVerdict], size: Int) -> [UploadChunk] {
    var chunks: [UploadChunk] = [], current = UploadChunk()
    for id in ids {
      current.add(id, verdicts[id])
      if current.toSend.count == size {
        chunks.append(current)
        current = UploadChunk()
      }
    }
    return current.count > 0 ? chunks + [current] : chunks
  }
}

// MARK: - One batch

extension SyncUpRun {
  /// Sends a batch and writes every answer back, also when a later request of the batch fails.
  private mutating func send(_ batch: DirtyBatch, of chunk: UploadChunk) async throws {
    let keys = try await createKeys(batch), claimed = try await take(batch, keys)
    var upload = BatchUpload(batch: claimed.batch, target: target, in: context(keys: keys))
    upload.hold(chunk.held + claimed.held.map { ($0, .held) })
    var failure = await upload.send()
    if failure == nil { failure = await upload.findGone() }
    let written = try await writeBack(upload)
    if let failure { throw failure }
    try await lookAfter(upload, written.versions)
    let again = written.toCreate + (try await reconcileLate(upload, mayTryAgain: true))
    if !again.isEmpty { try await sendAgain(again) }
  }

  /// Records that the server changed, or deleted, between the look at them and their upload.
  /// - Returns: Entries to send once more, the server's changes in them. They count when they are sent.
  private mutating func reconcileLate(_ upload: BatchUpload, mayTryAgain: Bool) async throws -> [Int64] {
    let late = upload.lateConflicts
    guard !late.isEmpty else { return [] }
    let gone = Dictionary(uniqueKeysWithValues: upload.gone.map { ($0, ServerVersion.deleted) })
    let outcomes = try await record.reconcile(try await encounters(late, gone, upload.batch))
    let ids = late.map { upload.batch.entryIds[$0] }
    let settled = ids.filter { outcomes[$0] == .settled }
    let free = ids.filter { outcomes[$0].map { !$0.isConflict && $0 != .settled } ?? false }
    guard !settled.isEmpty || !free.isEmpty else { return [] }
    try await record.save(.pulled) { _, state in
      state.counts.conflicting -= settled.count + free.count
      state.counts.skipped -= settled.count + (mayTryAgain ? free.count : 0)
      state.counts.succeeded += settled.count
    }
    return mayTryAgain ? free : []
  }

  /// The second and last try: records that the server had deleted are created, merged ones updated.
  private mutating func sendAgain(_ ids: [Int64]) async throws {
    let soup = state.soupName, plan = plan
    let batch = try await environment.store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
    let keys = try await createKeys(batch), claimed = try await take(batch, keys)
    var upload = BatchUpload(batch: claimed.batch, target: target, in: context(.leaveIfChanged, keys: keys))
    upload.hold(claimed.held.map { ($0, .held) })
    let failure = await upload.send()
    _ = try await writeBack(upload)
    if let failure { throw failure }
    _ = try await reconcileLate(upload, mayTryAgain: false)
  }

  /// Takes rows before they are sent: no other run sends them then, and should the answer to a create be lost, the next run
  /// knows what to look for.
  private func take(_ batch: DirtyBatch, _ keys: [Int64: JSONObject]) async throws -> ClaimedBatch {
    try await record.take(batch, in: state.soupName, target.looksForLostCreates ? place : nil, keys: keys)
  }

  /// What identifies the creates of a batch; of those that are repeated as it was.
  private func createKeys(_ batch: DirtyBatch) async throws -> [Int64: JSONObject] {
    let creates = (0..<batch.count).filter { batch.action($0) == .create }, soup = state.soupName
    guard target.keysCreates, !creates.isEmpty else { return [:] }
    let ids = creates.map { batch.entryIds[$0] }
    let known = try await environment.store.read { snapshot in
      try ids.reduce(into: [Int64: JSONObject]()) { keys, id in
        keys[id] = try snapshot.unsettledUpload(of: id, in: soup).flatMap { SentCreate($0)?.key }
      }
    }
    return try await target.createKeys(creates, of: batch, known: known, in: context())
  }

  /// One transaction for all answers of a batch.
  /// - Returns: Entries to create anew, and the versions of those that were updated.
  private func writeBack(_ upload: BatchUpload) async throws -> (toCreate: [Int64], versions: [Int64: Int64]) {
    let answers = upload.answers, fields = target.fields, batch = upload.batch, claim = record.claim
    let unsettled = target.looksForLostCreates ? upload.unsettled : []
    let lost = LostAnswers(soup: state.soupName, entryIds: unsettled.sorted(), waitMs: place.waitMs)
    let percent = ProgressCounter.percent(counter.done + answers.count, of: counter.total)
    let maker = target.looksForLostCreates ? state.id : nil, looked = unconditionalUpdates(upload)
    let updated = Set(answers.filter { $0.sent.action == .update }.map(\.sent.entryId))
    let versions = try await record.save(.synced) { transaction, state in
      for answer in answers {
        try transaction.writeBack(
          answer, in: state.soupName, fields: fields, madeBy: maker, updated: updated
        ) { batch.sentFields(answer.sent) }
        state.counts.count(answer.outcome)
      }
      try claim.settle(batch.entryIds.filter { !unsettled.contains($0) }, in: state.soupName, transaction)
      // An echo takes the place of the claim.
      try transaction.expectEchoes(
        answers.filter { $0.outcome == .succeeded }.map(\.sent.entryId), in: state.soupName)
      for answer in answers where answer.outcome == .succeeded {
        if let stamp = answer.result.stamp { try transaction.noteOwnStamp(stamp, of: answer.sent.entryId, in: state.soupName) }
      }
      try lost.note(&state, now: claim.now, in: transaction)
      state.progress = max(state.progress, percent)
      return try looked.reduce(into: [Int64: Int64]()) { $0[$1] = try transaction.entry($1, in: state.soupName)?.version }
    }
    if !unsettled.isEmpty { record.logDoubts() }
    return (answers.filter { $0.outcome == .recreate }.map(\.sent.entryId), versions)
  }
}

extension SyncCounts {
  mutating func count(_ outcome: UploadOutcome) {
    switch outcome {
    case .succeeded: succeeded += 1
    case .failed: failed += 1
    case .skipped: skipped += 1
    case .conflicting:
      skipped += 1
      conflicting += 1
    case .recreate: break
    }
  }
}

extension ProgressCounter {
  static func percent(_ done: Int, of total: Int) -> Int { total > 0 ? min(99, done * 100 / total) : 0 }
}
