import JSON
import RestClient
import SmartStore

/// One run of a sync up: dirty entries in batches, each written back in one transaction.
///
/// The entries are selected at the start, by id; those that become dirty later wait for the next
/// run.
struct SyncUpRun {
  let record: RunRecord
  private(set) var target: any SyncUpTarget
  /// The sync's own soup, or an additional one.
  let soup: String
  let plan: DirtyBatch.Plan
  /// The number of the soup whose entries are sent. If it is registered again, its entries are
  /// others.
  private(set) var soupNumber: Int64 = 0
  /// Fields that refer to records of the soup by their local ids.
  private(set) var references: [SoupReference] = []
  /// Creates that were sent incompletely.
  var followUps: [Int64] = []
  /// Records that are done, with any outcome.
  var counter = ProgressCounter(total: 0)
  var compared = ComparedEntries()

  var environment: RunEnvironment { record.environment }
  var state: SyncState { record.state }

  init(_ record: RunRecord) throws {
    self.record = record
    target = try record.environment.targets.up(record.state.target)
    soup = record.state.soupName
    plan = target.settings.plan(fieldlist: record.state.options.fieldlist)
  }

  init(_ companion: UploadCompanion, of run: SyncUpRun) {
    record = run.record
    target = companion.target
    soup = companion.soup
    plan = target.settings.plan(fieldlist: run.record.state.options.fieldlist)
  }

  /// How long entries may wait for the id of a record that they refer to: 90 days, in ms.
  private static let assignedIdsKept: Int64 = 90 * 86_400_000

  /// How creates are looked up on the server.
  var lookup: SentCreate.Lookup {
    SentCreate.Lookup(
      fields: target.fields, waitMs: target.settings.lostCreateWaitMs ?? environment.configuration.lostCreateWaitMs)
  }

  func context(_ mergeMode: MergeMode? = nil, keys: [Int64: JSONObject] = [:]) -> UploadContext {
    UploadContext(
      client: environment.client, service: environment.service, control: environment.control,
      configuration: environment.configuration, mergeMode: mergeMode ?? state.options.mergeMode, intent: environment.intent,
      datesSeen: compared.dates,
      changesSeen: compared.changes, createKeys: keys,
      origin: UploadContext.Origin(store: environment.store, soup: soup, syncId: state.id))
  }

  /// Runs to the end. The state DONE is then saved but not yet reported.
  /// - Throws: The error that ended the run. Uploads until then are written back.
  mutating func perform() async throws {
    try await sendAll(isFirst: true)
    for companion in target.companions {
      var run = SyncUpRun(companion, of: self)
      try await run.sendAll(isFirst: false)
    }
    try record.checkResolver()
    let now = environment.configuration.now(), warnings = environment.refusedFields.warnings, limit = environment.limit
    try await record.save(.pulled) { _, state in
      limit?.note(in: &state)
      state.progress = 100
      state.warnings += warnings
      state.enter(.done, now: now)
    }
  }

  /// Sends every dirty entry of the soup.
  private mutating func sendAll(isFirst: Bool) async throws {
    try await prepareTarget()
    if target.fields.id == environment.service.defaultFields.id {
      try await record.writeServerIds(in: soup, at: target.fields.id, own: target.fields)
    }
    let before = record.state.counts.succeeded, inDoubt = try await lostCreates.resolve(record)
    let found = record.state.counts.succeeded - before
    let order = order, phases = try await phases(order)
    let total = phases.reduce(0) { $0 + $1.ids.count }
    counter = ProgressCounter(total: total)
    let claim = record.claim, soup = soup
    try await record.save(.pulled) { transaction, state in
      try transaction.forgetAssignedIds(before: claim.now - Self.assignedIdsKept)
      try transaction.forgetEndedUpdates(in: soup) { try claim.isLive($0, in: transaction) }
      state.totalSize = (isFirst ? 0 : state.totalSize) + total + found
    }
    if isFirst { record.report() }
    let verdicts = Dictionary(uniqueKeysWithValues: inDoubt.map { ($0, UploadVerdict.inDoubt) })
    try await upload(order.chunks(phases, verdicts))
    let rest = followUps, size = target.settings.maxBatchSize
    for start in stride(from: 0, to: rest.count, by: size) {
      try environment.control.check()
      try await sendAgain(Array(rest[start..<min(start + size, rest.count)]))
    }
  }

  /// Finds out what the target needs to know before it sends.
  mutating func prepareTarget() async throws {
    let soup = soup, registry = environment.targets
    soupNumber = try await environment.store.read { try $0.soupNumber(of: soup) }
    target = try await target.prepared(in: context())
    if target.traits.isNamedByOthers { references = try await environment.store.read { try registry.references(to: soup, $0) } }
  }

  /// The search for creates of the soup whose answers were lost.
  var lostCreates: LostCreates {
    var lost = LostCreates(soupName: soup, older: LostCreates.Older(lookup: lookup, plan: plan))
    lost.finder = (target, context())
    lost.isCounted = true
    return lost
  }

  var order: UploadOrder {
    UploadOrder(target: target, store: environment.store, soup: soup, plan: plan, mergeMode: state.options.mergeMode)
  }

  /// Returns the dirty entries in the order in which they are sent.
  func phases(_ order: UploadOrder) async throws -> [UploadOrder.Phase] {
    let soup = soup
    let ids = try await environment.store.read { try $0.dirtyEntryIds(in: soup) }
    return try await order.phases(environment.limit.map { limit in ids.filter { limit.allows($0, in: soup) } } ?? ids)
  }

  mutating func upload(_ chunks: [UploadChunk]) async throws {
    var prepared = chunks.first.map(prepare)
    for (i, chunk) in chunks.enumerated() {
      guard let read = try await prepared?.value else { return }
      try environment.control.check()
      let (batch, chunk) = try await compare(read, chunk, ahead: chunks[(i + 1)...])
      // Read the next batch while this one is being sent.
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
    let store = environment.store, soup = soup, plan = plan, told = environment.configuration.onBatchRead
    let recorder = environment.intent.recorder, limit = environment.limit
    return Task {
      var batch = try await store.read { try DirtyBatch($0.entries(chunk.toSend, in: soup), plan: plan) }
      if let recorder { batch = try batch.merged(recorder, in: soup) }
      if let limit { batch = try batch.limited(limit, in: soup) }
      told(batch.entryIds)
      return batch
    }
  }

  /// Reports one update for each record, as if they had been sent one by one; the end of the run
  /// reports the last one.
  private mutating func report(_ chunk: UploadChunk) {
    for _ in 0..<chunk.count {
      counter.advance(1)
      if counter.isReported { record.report(status: .running, progress: counter.percent) }
    }
  }
}

// MARK: - One batch

extension SyncUpRun {
  /// Sends a batch and writes every answer back, even if a later request of the batch fails.
  private mutating func send(_ batch: DirtyBatch, of chunk: UploadChunk) async throws {
    if let recorder = environment.intent.recorder { return try await plan(batch, of: chunk, recorder) }
    let keys = try await createKeys(batch), claimed = try await claimBatch(batch, keys)
    let updates = try await updateFacts(claimed.batch)
    var upload = BatchUpload(batch: claimed.batch, target: target, in: context(keys: keys), updates)
    upload.hold(chunk.held + claimed.held.map { ($0, .held) })
    var failure = await upload.send()
    if failure == nil { failure = await upload.findGone() }
    let written = try await writeBack(upload, claimed)
    if let failure { throw failure }
    try await verifyUpdates(upload, written.versions)
    let again = written.toCreate + (try await reconcileLate(upload, mayTryAgain: true))
    if !again.isEmpty { try await sendAgain(again) }
  }

  /// Reconciles records that the server changed or deleted between the comparison and the upload.
  /// - Returns: Merged entries to send again. They are counted when they are sent.
  private mutating func reconcileLate(_ upload: BatchUpload, mayTryAgain: Bool) async throws -> [Int64] {
    let late = upload.lateConflicts
    guard !late.isEmpty else { return [] }
    let gone = Dictionary(uniqueKeysWithValues: upload.gone.map { ($0, ServerVersion.deleted) })
    let outcomes = try await record.reconcile(try await conflictCandidates(late, gone, upload.batch))
    let ids = late.map { upload.batch.entryIds[$0] }
    let settled = ids.filter { outcomes[$0] == .settled }
    let free = ids.filter { outcomes[$0].map { !$0.isConflict && $0 != .settled } ?? false }
    guard !settled.isEmpty || !free.isEmpty else { return [] }
    let soup = soup, isLast = !mayTryAgain
    try await record.save(.pulled) { transaction, state in
      // The entries stay dirty, and nothing else would say why.
      for id in isLast ? free : [] { try transaction.notePrecondition(of: id, in: soup) }
      state.counts.conflicting -= settled.count + free.count
      state.counts.skipped -= settled.count + (mayTryAgain ? free.count : 0)
      state.counts.succeeded += settled.count
    }
    return mayTryAgain ? free : []
  }

  /// Makes the second and last attempt: creates records that the server had deleted, and updates
  /// merged ones.
  private mutating func sendAgain(_ ids: [Int64]) async throws {
    let soup = soup, plan = plan
    let batch = try await environment.store.read { try DirtyBatch($0.entries(ids, in: soup), plan: plan) }
    let keys = try await createKeys(batch), claimed = try await claimBatch(batch, keys)
    let updates = try await updateFacts(claimed.batch)
    var upload = BatchUpload(
      batch: claimed.batch, target: target, in: context(.leaveIfChanged, keys: keys), updates)
    upload.hold(claimed.held.map { ($0, .held) })
    let failure = await upload.send()
    _ = try await writeBack(upload, claimed)
    if let failure { throw failure }
    _ = try await reconcileLate(upload, mayTryAgain: false)
  }

  /// Claims rows before they are sent, so that no other run sends them. If the answer to a create
  /// is lost, the next run knows what to look for.
  private func claimBatch(_ batch: DirtyBatch, _ keys: [Int64: JSONObject]) async throws -> ClaimedBatch {
    try await record.claimBatch(batch, in: soup, number: soupNumber, target.traits.looksForLostCreates ? lookup : nil, keys: keys)
  }

  /// Returns what the updates of a batch send and do not send.
  func updateFacts(_ batch: DirtyBatch) async throws -> UpdateFacts {
    let updates = (0..<batch.count).filter { batch.action($0) == .update && batch.serverId($0) != nil }
    let sendable = target.sendable(batch.plan), soup = soup
    guard !updates.isEmpty, batch.plan.update != nil else { return UpdateFacts() }
    let ids = updates.map { batch.entryIds[$0] }
    var bases = try await environment.store.read { try $0.baseObjects(of: ids, in: soup) }
    environment.intent.recorder?.replaceBases(in: &bases, of: ids, in: soup)
    let isTold = environment.history.run != nil
    return updates.reduce(into: UpdateFacts()) { found, i in
      let entry = batch.entry(i), base = bases[batch.entryIds[i]]
      found.unsent[i] = UnsentChanges(entry, base: base, sendable, batch.plan.fields)
      guard isTold else { return }
      found.stories[i] = SentStory(update: entry, base: base, sendable.paths?.compactMap(\.first), batch.plan.fields)
    }
  }

  /// Returns the keys of the creates of a batch; repeated creates keep their earlier key.
  func createKeys(_ batch: DirtyBatch) async throws -> [Int64: JSONObject] {
    let creates = (0..<batch.count).filter { batch.action($0) == .create }, soup = soup
    guard target.traits.keysCreates, !creates.isEmpty else { return [:] }
    let ids = creates.map { batch.entryIds[$0] }
    let uploads = try await environment.store.read { try $0.unsettledUploads(of: ids, in: soup) }
    let known = uploads.reduce(into: [Int64: JSONObject]()) { $0[$1.entryId] = SentCreate($1)?.key }
    return try await target.createKeys(creates, of: batch, known: known, in: context())
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
    case .inDoubt: inDoubt += 1
    case .recreate: break
    }
  }
}

extension ProgressCounter {
  static func percent(_ done: Int, of total: Int) -> Int { total > 0 ? min(99, done * 100 / total) : 0 }
}
