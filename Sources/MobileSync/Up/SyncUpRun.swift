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
  private(set) var counter = ProgressCounter(total: 0)
  var compared = ComparedEntries()

  var environment: RunEnvironment { record.environment }
  var state: SyncState { record.state }

  init(_ record: RunRecord) throws {
    self.record = record
    target = try record.environment.targets.up(record.state.target)
    soup = record.state.soupName
    plan = target.settings.plan(fieldlist: record.state.options.fieldlist)
  }

  private init(_ companion: UploadCompanion, of run: SyncUpRun) {
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
      configuration: environment.configuration, mergeMode: mergeMode ?? state.options.mergeMode, datesSeen: compared.dates,
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
    let now = environment.configuration.now(), warnings = environment.refusedFields.warnings
    try await record.save(.pulled) { _, state in
      state.progress = 100
      state.warnings += warnings
      state.enter(.done, now: now)
    }
  }

  /// Sends every dirty entry of the soup.
  private mutating func sendAll(isFirst: Bool) async throws {
    let soup = soup, registry = environment.targets
    soupNumber = try await environment.store.read { try $0.soupNumber(of: soup) }
    target = try await target.prepared(in: context())
    if target.fields.id == environment.service.defaultFields.id {
      try await record.writeServerIds(in: soup, at: target.fields.id, own: target.fields)
    }
    var lost = LostCreates(soupName: soup, older: LostCreates.Older(lookup: lookup, plan: plan))
    lost.finder = (target, context())
    lost.isCounted = true
    let before = record.state.counts.succeeded, inDoubt = try await lost.resolve(record)
    let found = record.state.counts.succeeded - before
    if target.traits.isNamedByOthers { references = try await environment.store.read { try registry.references(to: soup, $0) } }
    let phases = try await phases(try await environment.store.read { try $0.dirtyEntryIds(in: soup) })
    let total = phases.reduce(0) { $0 + $1.ids.count }
    counter = ProgressCounter(total: total)
    let claim = record.claim
    try await record.save(.pulled) { transaction, state in
      try transaction.forgetAssignedIds(before: claim.now - Self.assignedIdsKept)
      try transaction.forgetEndedUpdates(in: soup) { try claim.isLive($0, in: transaction) }
      state.totalSize = (isFirst ? 0 : state.totalSize) + total + found
    }
    if isFirst { record.report() }
    let verdicts = Dictionary(uniqueKeysWithValues: inDoubt.map { ($0, UploadVerdict.inDoubt) })
    try await upload(phases.flatMap { UploadChunk.chunks(of: $0.ids, verdicts, size: batchSize($0)) })
    let rest = followUps, size = target.settings.maxBatchSize
    for start in stride(from: 0, to: rest.count, by: size) {
      try environment.control.check()
      try await sendAgain(Array(rest[start..<min(start + size, rest.count)]))
    }
  }

  /// Entries that may be sent in one batch.
  private struct Phase {
    var ids: [Int64] = []
    var hasCreates = false
  }

  /// Returns creates first and deletes last, if the target requires it; otherwise all entries in
  /// the order of their ids.
  private func phases(_ ids: [Int64]) async throws -> [Phase] {
    guard target.traits.sendsCreatesFirst else { return [Phase(ids: ids, hasCreates: true)] }
    var creates = Phase(hasCreates: true), updates = Phase(), deletes = Phase(), last = Phase(), order = CreateOrder()
    let soup = soup, plan = plan, size = 500
    for start in stride(from: 0, to: ids.count, by: size) {
      let part = Array(ids[start..<min(ids.count, start + size)])
      let batch = try await environment.store.read { try DirtyBatch($0.entries(part, in: soup), plan: plan) }
      ordered(batch, &order)
      for i in 0..<batch.count {
        switch batch.action(i) {
        case .create, .upsert: creates.ids.append(batch.entryIds[i])
        case .delete, .removeLocally: deletes.ids.append(batch.entryIds[i])
        case .update where target.goesLast(i, of: batch): last.ids.append(batch.entryIds[i])
        case .update, .nothing: updates.ids.append(batch.entryIds[i])
        }
      }
    }
    creates.ids = order.sorted(creates.ids)
    return [creates, updates, deletes, last]
  }

  /// Adds the creates of a batch and their references within the soup.
  private func ordered(_ batch: DirtyBatch, _ order: inout CreateOrder) {
    let own = target.references.filter { $0.soup == soup }.map(\.path)
    guard !own.isEmpty else { return }
    for i in 0..<batch.count where batch.action(i) == .create {
      let entry = batch.entry(i)
      order.add(
        batch.entryIds[i], localId: batch.recordId(i),
        names: own.compactMap { Projection.value(entry, $0)?.stringValue })
    }
  }

  private func batchSize(_ phase: Phase) -> Int {
    if target.keepsOrder(in: soup) { return 1 }
    let isCompared = target.traits.comparesFields && state.options.mergeMode != .overwrite
    return phase.hasCreates || isCompared
      ? target.settings.maxBatchSize : target.traits.largestBatch ?? target.settings.maxBatchSize
  }

  private mutating func upload(_ chunks: [UploadChunk]) async throws {
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
    return Task {
      let batch = try await store.read { try DirtyBatch($0.entries(chunk.toSend, in: soup), plan: plan) }
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

/// Why an entry is not sent.
enum UploadVerdict: Sendable, Equatable {
  case conflicting
  case inDoubt
  /// Another run is sending it.
  case held
  case refused(UploadResult)
  /// The server already has all of its changes.
  case settled
}

/// Entries whose uploads are sent and written back together, and those in between that are not
/// sent.
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
  /// Sends a batch and writes every answer back, even if a later request of the batch fails.
  private mutating func send(_ batch: DirtyBatch, of chunk: UploadChunk) async throws {
    let keys = try await createKeys(batch), claimed = try await claimBatch(batch, keys)
    let unsent = try await unsentChanges(claimed.batch)
    var upload = BatchUpload(batch: claimed.batch, target: target, in: context(keys: keys), unsent: unsent)
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
    let unsent = try await unsentChanges(claimed.batch)
    var upload = BatchUpload(
      batch: claimed.batch, target: target, in: context(.leaveIfChanged, keys: keys), unsent: unsent)
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

  /// Returns the changes that the updates of a batch do not send, by position.
  private func unsentChanges(_ batch: DirtyBatch) async throws -> [Int: UnsentChanges] {
    let updates = (0..<batch.count).filter { batch.action($0) == .update && batch.serverId($0) != nil }
    let sendable = target.sendable(batch.plan), soup = soup
    guard !updates.isEmpty, batch.plan.update != nil else { return [:] }
    let bases = try await environment.store.read { try $0.baseObjects(of: updates.map { batch.entryIds[$0] }, in: soup) }
    return updates.reduce(into: [:]) { found, i in
      found[i] = UnsentChanges(batch.entry(i), base: bases[batch.entryIds[i]], sendable, batch.plan.fields)
    }
  }

  /// Returns the keys of the creates of a batch; repeated creates keep their earlier key.
  private func createKeys(_ batch: DirtyBatch) async throws -> [Int64: JSONObject] {
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
