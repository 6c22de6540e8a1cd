import JSON
import RestClient
import SmartStore

/// One run of a sync up: dirty entries in batches, each batch written back in one transaction.
///
/// The entries are chosen at the start, by id; what becomes dirty later waits for the next run.
struct SyncUpRun {
  var record: RunRecord
  private(set) var target: any SyncUpTarget
  let plan: DirtyBatch.Plan
  /// Records that are done with, whatever became of them.
  private var counter = ProgressCounter(total: 0)
  var compared = ComparedEntries()

  var environment: RunEnvironment { record.environment }
  var state: SyncState { record.state }

  init(_ record: RunRecord) throws {
    self.record = record
    target = try TargetRegistry.up(record.state.target)
    plan = target.settings.plan(fieldlist: record.state.options.fieldlist)
  }

  func context(_ mergeMode: MergeMode? = nil) -> UploadContext {
    UploadContext(
      client: environment.client, control: environment.control, configuration: environment.configuration,
      mergeMode: mergeMode ?? state.options.mergeMode, datesSeen: compared.dates,
      changesSeen: compared.changes)
  }

  /// Runs to the end; the state DONE is then saved and not yet reported.
  /// - Throws: Whatever ended the run before. What was uploaded by then is written back.
  mutating func perform(into record: inout RunRecord) async throws {
    defer { record = self.record }
    target = try await target.prepared(in: context())
    let lost = LostCreates(fields: target.fields, plan: plan, soupName: state.soupName)
    let inDoubt = try await lost.resolve(&self.record)
    let soup = state.soupName
    let ids = try await environment.store.read { try $0.dirtyEntryIds(in: soup) }
    counter = ProgressCounter(total: ids.count)
    try await self.record.save(.pulled) { _, state in state.totalSize = ids.count }
    self.record.report()
    let verdicts = Dictionary(uniqueKeysWithValues: inDoubt.map { ($0, UploadVerdict.inDoubt) })
    try await upload(UploadChunk.chunks(of: ids, verdicts, size: target.settings.maxBatchSize))
    let now = environment.configuration.now()
    try await self.record.save(.pulled) { _, state in
      state.progress = 100
      state.enter(.done, now: now)
    }
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
    var upload = BatchUpload(batch: batch, target: target, in: context())
    upload.hold(chunk.held)
    try await journal(upload)
    var failure = await upload.send()
    if failure == nil { failure = await upload.findGone() }
    let recreate = try await writeBack(upload)
    if let failure { throw failure }
    let again = recreate + (try await reconcileLate(upload, mayTryAgain: true))
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
    var upload = BatchUpload(batch: batch, target: target, in: context(.leaveIfChanged))
    try await journal(upload)
    let failure = await upload.send()
    _ = try await writeBack(upload)
    if let failure { throw failure }
    _ = try await reconcileLate(upload, mayTryAgain: false)
  }

  /// Writes creates down before they are sent: should the answer be lost, the next run knows what to look for. Upserts
  /// find what they made, updates and deletes can be sent twice.
  private mutating func journal(_ upload: BatchUpload) async throws {
    let now = environment.configuration.now(), syncId = state.id
    let records = upload.creates.map {
      UploadRecord(entryId: $0.entryId, version: $0.version, syncId: syncId, operation: .create, sentAt: now)
    }
    guard target.looksForLostCreates, !records.isEmpty else { return }
    try await record.save(.synced) { transaction, state in try transaction.journal(records, in: state.soupName) }
  }

  /// One transaction for all answers of a batch.
  /// - Returns: Entries to create anew.
  private mutating func writeBack(_ upload: BatchUpload) async throws -> [Int64] {
    let answers = upload.answers, unsettled = upload.unsettled, idField = target.fields.id, batch = upload.batch
    let percent = ProgressCounter.percent(counter.done + answers.count, of: counter.total)
    let settled = upload.creates.map(\.entryId).filter { !unsettled.contains($0) }
    let maker = target.looksForLostCreates ? state.id : nil
    let updated = Set(answers.filter { $0.sent.action == .update }.map(\.sent.entryId))
    try await record.save(.synced) { transaction, state in
      for answer in answers {
        try transaction.writeBack(
          answer.sent, answer.outcome, answer.result, in: state.soupName, idField: idField, madeBy: maker, updated: updated
        ) { batch.sentFields(answer.sent) }
        state.counts.count(answer.outcome)
      }
      try transaction.settle(settled, in: state.soupName)
      try transaction.expectEchoes(
        answers.filter { $0.outcome == .succeeded }.map(\.sent.entryId), in: state.soupName)
      state.progress = max(state.progress, percent)
    }
    return answers.filter { $0.outcome == .recreate }.map(\.sent.entryId)
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
