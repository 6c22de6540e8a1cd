import JSON
import RestClient
import SmartStore

/// One run of a sync down: the next page is fetched while this one is written, one transaction a page.
struct SyncDownRun {
  private var record: RunRecord
  private let target: any SyncDownTarget
  private var progress: SyncDownProgress
  private var counter = ProgressCounter(total: 0)
  private var familiar: FamiliarRecords

  private var environment: RunEnvironment { record.environment }
  private var state: SyncState { record.state }

  /// - Parameter previousRunEnded: Whether the run before reached its end.
  init(_ record: RunRecord, previousRunEnded: Bool) throws {
    self.record = record
    target = try TargetRegistry.down(record.state.target)
    progress = SyncDownProgress(
      maxTimeStamp: record.state.maxTimeStamp, covered: record.state.coveredTimeStamp,
      previousRunEnded: previousRunEnded, isSortedByModification: target.isSortedByModification)
    familiar = FamiliarRecords(
      store: record.environment.store, soup: record.state.soupName, syncId: record.state.id, fields: target.fields,
      isFirstRun: progress.since < 0)
  }

  /// Runs to the end.
  /// - Returns: The record with the state DONE, already saved and not yet reported.
  /// - Throws: Whatever ended the run before. Pages stored by then stay stored.
  mutating func perform(into record: inout RunRecord) async throws {
    defer { record = self.record }
    let context = try await fetchContext()
    guard var page = try await environment.control.value(of: fetch(after: nil, context)) else {
      try await finishEmpty()
      return
    }
    progress.started(
      serverTime: page.serverTime, allowance: environment.configuration.commitAllowanceMs,
      latestModification: SyncDownRun.latestModification(of: page))
    try await familiar.prepare()
    var known = try await familiar.find(in: page.records, progress)
    try await announce(total: page.totalSize - known.count)
    while true {
      try environment.control.check()
      let next = page.continuation == nil ? nil : fetch(after: page, context)
      try await store(page, known: known, isLast: next == nil, orCancel: next)
      guard let next else { return }
      if counter.isReported { self.record.report() }
      guard let following = try await environment.control.value(of: next) else {
        try await finishEmpty()
        return
      }
      page = following
      known = try await familiar.find(in: page.records, progress)
      counter.leaveOut(known.count)
    }
  }

  // MARK: Fetching

  private func fetchContext() async throws -> FetchContext {
    let soup = state.soupName, fields = target.fields
    let plan = try await environment.store.read { snapshot in
      try snapshot.pagePlan(
        soup: soup, idPath: fields.id, extraPaths: [fields.modificationDate], ownedKeys: LocalField.all)
    }
    return FetchContext(client: environment.client, plan: plan, control: environment.control)
  }

  private func fetch(after last: SyncDownPage?, _ context: FetchContext) -> Task<SyncDownPage?, any Error> {
    let target = target, since = progress.since
    return Task { try await target.nextPage(since: since, after: last, in: context) }
  }

  /// The newest modification date on a page; -1 without any. Records without a readable date are passed over.
  private static func latestModification(of page: SyncDownPage) -> Int64 {
    var latest = TimeStamp.never
    for i in 0..<page.records.count {
      latest = max(latest, FamiliarRecords.stamp(i, of: page.records) ?? TimeStamp.never)
    }
    return latest
  }

  // MARK: Storing

  private mutating func announce(total: Int) async throws {
    counter = ProgressCounter(total: total)
    let total = counter.total
    try await record.save(.pulled) { _, state in state.totalSize = total }
    record.report()
  }

  /// Writes a page, the state and what goes with the end of a run in one transaction.
  private mutating func store(
    _ page: SyncDownPage, known: FamiliarRecords.Found, isLast: Bool, orCancel next: Task<SyncDownPage?, any Error>?
  ) async throws {
    progress.stored(latestModification: SyncDownRun.latestModification(of: page), isLastPage: isLast)
    counter.advance(page.records.count - known.count)
    let step = PageStep(
      page: page.records, known: known, idPath: target.fields.id, progress: progress, counter: counter, isLast: isLast,
      now: environment.configuration.now())
    do {
      try await record.save(.pulled) { transaction, state in try step.apply(&state, in: transaction) }
    } catch {
      next?.cancel()
      _ = await next?.result
      throw error
    }
    if isLast, counter.isReported { record.report(status: .running, progress: counter.percent) }
  }

  /// Ends a run to which the target had nothing to say, or nothing more.
  private mutating func finishEmpty() async throws {
    progress.stored(latestModification: TimeStamp.never, isLastPage: true)
    let progress = progress, total = counter.total, now = environment.configuration.now()
    try await record.save(.pulled) { transaction, state in
      try transaction.finishLoading(soup: state.soupName)
      state.totalSize = max(state.totalSize, total)
      state.finish(progress, now: now)
    }
  }
}

/// What one page does to the store, decided beforehand.
private struct PageStep: Sendable {
  let page: ScannedPage
  let known: FamiliarRecords.Found
  let idPath: String
  let progress: SyncDownProgress
  let counter: ProgressCounter
  let isLast: Bool
  let now: Int64

  func apply(_ state: inout SyncState, in transaction: StoreTransaction) throws {
    // Whether an entry is dirty is looked at here, in the transaction that would overwrite it.
    let outcome = try transaction.storeRecords(
      page, in: state.soupName, matchedBy: idPath, overlay: LocalField.overlay(syncId: state.id),
      removing: [LocalField.lastError], keepDirty: state.options.mergeMode == .leaveIfChanged, owner: state.id,
      expectedTotal: counter.total, skipping: known.unchanged)
    state.counts.fetched += page.count - known.count
    state.counts.stored += max(0, outcome.stored - known.echoes.count)
    state.counts.skipped += outcome.keptDirty
    state.counts.conflicting += outcome.keptDirty
    state.totalSize = counter.total
    state.progress = counter.percent
    state.maxTimeStamp = progress.maxTimeStamp
    state.coveredTimeStamp = progress.covered
    guard isLast else { return }
    try transaction.finishLoading(soup: state.soupName)
    try transaction.forgetStaleEchoes(in: state.soupName)
    state.finish(progress, now: now)
  }
}

extension SyncState {
  fileprivate mutating func finish(_ progress: SyncDownProgress, now: Int64) {
    maxTimeStamp = progress.maxTimeStamp
    coveredTimeStamp = progress.covered
    self.progress = 100
    enter(.done, now: now)
  }
}
