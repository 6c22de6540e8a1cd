import JSON
import RestClient
import SmartStore

/// One run of a sync down. The next page is fetched while this one is written; each page is one
/// transaction.
struct SyncDownRun {
  private let record: RunRecord
  private let target: any SyncDownTarget
  private let mappings: [SoupMapping]
  private var progress: SyncDownProgress
  private var counter = ProgressCounter(total: 0)
  /// One for each mapping.
  private var filters: [UnchangedRecordFilter]
  /// The newest stamp of children. Pages are in the order of the parents, so it counts only at the
  /// end.
  private var newestChild = TimeStamp.never
  private var since: Int64
  /// The progress at the start of the run.
  private let beginning: SyncDownProgress
  private var warnings: [String] = []
  /// The number of pages read so far.
  private var pages = 0
  /// The upload sequence when the first page was requested. Later pages may be as old: a server may
  /// read a whole query at once.
  private var uploadSequence = Int64.max
  /// Whether creates in these soups are without an answer: the sync down may bring the records that
  /// they created.
  private let mayIncludeLostCreates: Bool

  private var environment: RunEnvironment { record.environment }
  private var state: SyncState { record.state }

  /// - Parameters:
  ///   - previousRunEnded: Whether the previous run reached its end.
  ///   - mayIncludeLostCreates: Whether creates in the target's soups are without an answer.
  init(_ record: RunRecord, previousRunEnded: Bool, mayIncludeLostCreates: Bool) throws {
    self.record = record
    self.mayIncludeLostCreates = mayIncludeLostCreates
    let target = try record.environment.targets.down(record.state.target), state = record.state
    self.target = target
    mappings = target.mappings(state.soupName)
    beginning = SyncDownProgress(
      maxTimeStamp: state.maxTimeStamp, covered: state.coveredTimeStamp, previousRunEnded: previousRunEnded,
      isSortedByModification: target.isSortedByModification)
    progress = beginning
    since = TimeStamp.never
    filters = []
    ask(from: beginning)
  }

  private mutating func ask(from start: SyncDownProgress) {
    progress = start
    since = target.isIncremental ? progress.since : TimeStamp.never
    let store = environment.store, syncId = state.id, tracksOwnProgress = target.tracksOwnProgress
    let isFirstRun = tracksOwnProgress ? record.mode == .resume && state.memory.isEmpty : since < 0
    filters = mappings.map {
      UnchangedRecordFilter(
        store: store, soup: $0.soup, syncId: syncId, fields: $0.fields, isFirstRun: isFirstRun, comparesTexts: tracksOwnProgress)
    }
  }

  /// Runs to the end. The state DONE is then saved but not yet reported.
  /// - Throws: The error that ended the run. Stored pages stay stored.
  mutating func perform() async throws {
    var context = try await FetchContext(environment, mappings: mappings)
    context.take(state)
    context.mode = record.mode
    warn()
    if record.mode == .nothing { return try await finishEmpty() }
    try await offerRemainingConflicts()
    do {
      try await fetchAll(in: context)
    } catch let error as RestError where environment.service.fault(of: error) == .expiredCursor {
      try await restart(error)
      context.mode = .resume
      try await fetchAll(in: context)
    }
  }

  private mutating func fetchAll(in context: FetchContext) async throws {
    let target = target, since = since
    uploadSequence = try await environment.store.read { try $0.uploadSequence() }
    guard var page = try await environment.control.value(of: Task { try await target.start(since: since, in: context) }) else {
      try await announce()
      try await finishEmpty()
      return
    }
    let latest = target.tracksOwnProgress ? TimeStamp.never : latestModification(of: page)
    progress.started(
      serverTime: page.serverTime.map { environment.configuration.bounded($0, newest: max(latest, state.maxTimeStamp)) },
      allowance: environment.configuration.commitAllowanceMs, latestModification: latest)
    for i in filters.indices { try await filters[i].prepare() }
    try await restart(with: page)
    var known = try await known(on: page)
    try await announce()
    while true {
      try environment.control.check()
      if page.notes?.isPastTheEnd != true { pages += 1 }
      let isPause = page.next != nil && pages >= mostPages && page.notes?.failsNext != true
      let next = isPause ? nil : page.next.map { NextPage($0) }
      do {
        let isSaved = try await store(page, known: known, end: isPause ? .paused : next == nil ? .done : nil, in: context)
        guard let next else { return }
        if isSaved, counter.isReported { record.report() }
        try await indexAhead(of: next, after: page)
        guard let following = try await environment.control.value(of: next.task) else {
          try await finishEmpty()
          return
        }
        page = following
      } catch {
        await next?.cancel()
        throw error
      }
      try await restart(with: page)
      known = try await self.known(on: page)
    }
  }

  /// The maximum number of pages of this run.
  private var mostPages: Int { state.options.maxPages ?? target.longestRun ?? .max }

  /// Handles that the target itself has started its list again.
  private mutating func restart(with page: SyncDownPage) async throws {
    guard page.notes?.startsAgain == true else { return }
    counter.restart()
    try await record.save(.pulled) { _, state in state.counts.forgetFetched() }
  }

  /// Repeats the query after the server lost its cursor. A target sorted by modification continues
  /// from the stored records; any other brings everything again, which is counted once.
  private mutating func restart(_ error: RestError) async throws {
    environment.configuration.logger.notice(
      "restarting the query: \(error.message)", metadata: ["sync": "\(state.name ?? String(state.id))"])
    let stored = SyncDownProgress(
      maxTimeStamp: state.maxTimeStamp, covered: state.coveredTimeStamp, previousRunEnded: true,
      isSortedByModification: target.isSortedByModification)
    if target.isSortedByModification, !target.isLimited, stored.since > 0 {
      ask(from: stored)
      counter.continueWithRest()
    } else {
      ask(from: beginning)
      counter.restart()
      try await record.save(.pulled) { _, state in state.counts.forgetFetched() }
    }
  }

  /// Warns about a re-sync with a limit. Also at the first run of a named sync, which is meant to
  /// be repeated.
  private mutating func warn() {
    guard target.isLimited, since > 0 || state.name != nil else { return }
    warnings = [SyncDownRun.limitWarning]
    environment.configuration.logger.warning(
      "\(SyncDownRun.limitWarning)", metadata: ["sync": "\(state.name ?? String(state.id))"])
  }

  private static let limitWarning =
    "a re-sync of a query with LIMIT or OFFSET applies them to the records changed since the last run: the soup grows beyond the "
    + "limit, and changes beyond it are missed; select the records with a WHERE condition instead"

  /// Builds deferred indexes of a bulk load while the next page is being fetched: towards the end,
  /// about one for each remaining page. If the network is the bottleneck, the end of the sync need
  /// not wait for the indexes.
  private func indexAhead(of next: NextPage, after page: SyncDownPage) async throws {
    guard mappings.count == 1, counter.total > 0, let part = page.parts[0], part.count > 0 else { return }
    let pagesLeft = max(1, (counter.total - counter.done + part.count - 1) / part.count), soup = mappings[0].soup
    guard pagesLeft <= part.indexCount, try await environment.store.read({ try $0.isBulkLoading(soup: soup) }) else { return }
    while !next.hasEnded {
      guard try await environment.store.write(.pulled, { try $0.buildIndexAhead(soup: soup, whileMissing: pagesLeft) }) else {
        return
      }
    }
  }

  // MARK: Looking at pages

  /// Returns the unchanged records of a page, by mapping, and adjusts the counter.
  private mutating func known(on page: SyncDownPage) async throws -> [UnchangedRecordFilter.Found] {
    counter.announce(page.totalSize)
    var known: [UnchangedRecordFilter.Found] = []
    for (mapping, part) in zip(mappings.indices, page.parts) {
      let found = try await part.asyncMap { try await filters[mapping].find(in: $0, progress) } ?? UnchangedRecordFilter.Found()
      known.append(found)
      if mappings[mapping].isCounted, !target.announcesCandidates { counter.leaveOut(found.count) }
    }
    if let notes = page.notes { counter.leaveOut(notes.left) }
    return known
  }

  /// Returns the newest modification date on a page; -1 if there is none. Ignores records without a
  /// valid date.
  private mutating func latestModification(of page: SyncDownPage) -> Int64 {
    var latest = TimeStamp.never
    for (mapping, part) in zip(mappings, page.parts) {
      guard let part else { continue }
      let newest = PageStamps.newest(on: part, upTo: page.serverTime == nil ? latestStamp : .max) ?? TimeStamp.never
      // Companions belong to another list, so their stamps do not count.
      if mapping.isCounted {
        latest = max(latest, newest)
      } else if !mapping.isCompanion {
        newestChild = max(newestChild, newest)
      }
    }
    return latest
  }

  /// A later stamp is in the future, if the server does not tell its time: probably a mistake. It
  /// would hide all changes until then. This machine's clock may be a day behind.
  private var latestStamp: Int64 { environment.configuration.now() + 86_400_000 }

  // MARK: Storing

  /// Offers conflicts that a resolver skipped or failed at in an earlier run, or that a policy has decided only since: the
  /// server does not send those records again.
  private mutating func offerRemainingConflicts() async throws {
    guard state.options.resolver != nil || state.options.resolve != nil else { return }
    let soups = mappings.map(\.soup), syncId = state.id
    let left = try await environment.store.read { snapshot in
      try soups.flatMap { soup in
        try snapshot.conflicts(in: soup).filter { $0.syncId == syncId }
          .map { DetectedConflict(soup: soup, entryId: $0.entryId, isNew: false) }
      }
    }
    try await record.resolveByPolicy(left)
    guard state.options.resolver != nil else { return }
    try await record.handle(left)
  }

  private mutating func announce() async throws {
    let total = counter.total, warnings = warnings
    try await record.save(.pulled) { _, state in
      state.totalSize = total
      state.warnings = warnings
    }
    record.report()
  }

  /// Writes a page and the state in one transaction; for the last page, also what the end of a run
  /// requires.
  /// - Returns: False for an unchanged page, which is recorded with a later transaction.
  private mutating func store(
    _ page: SyncDownPage, known: [UnchangedRecordFilter.Found], end: PageStep.End?, in context: FetchContext
  ) async throws -> Bool {
    let isLast = end == .done
    if !target.tracksOwnProgress {
      let latest = latestModification(of: page)
      progress.stored(latestModification: isLast ? max(latest, newestChild) : latest, isLastPage: isLast)
    }
    for (i, part) in page.parts.enumerated() where mappings[i].isCounted {
      counter.advance((part?.count ?? 0) - known[i].count)
    }
    if end != nil { counter.end(isGuess: end == .done && target.tracksOwnProgress) }
    if page.notes?.isUnchanged == true, end == nil, pages % SyncDownRun.unchangedAtOnce != 0 { return false }
    // The run ends only after the resolver has answered, lost creates have been looked up, and data
    // of the rows has been fetched.
    let decides = state.options.resolver != nil || state.options.resolve != nil
    let endsHere = !decides && !mayIncludeLostCreates && !target.hasAfterRows
    var step = PageStep(
      page: page, pages: pages, mappings: mappings, known: known, progress: progress, counter: counter, end: endsHere ? end : nil,
      tracksOwnProgress: target.tracksOwnProgress, uploadSequence: uploadSequence, owners: environment.owners,
      now: environment.configuration.now())
    step.logged = environment.history.updatesLeft
    let page = step, rows = page.page.parts.reduce(0) { $0 + ($1?.count ?? 0) }
    let made = RunStep(kind: .page, soup: mappings[0].soup, rows: rows)
    let done = try await record.save(.pulled, noting: made) { transaction, state in try page.apply(&state, in: transaction) }
    progress = done.progress
    try await record.handle(done.conflicts)
    if let end, !endsHere {
      if mayIncludeLostCreates { try await LostCreates.resolve(afterFilling: mappings.map(\.soup), record) }
      if target.hasAfterRows {
        let fetching = Task { [target] in try await target.afterRows(in: context) }
        warnings += try await environment.control.value(of: fetching)
      }
      try await finishEmpty(end)
    }
    if isLast, counter.isReported { record.report(status: .running, progress: counter.percent) }
    return true
  }

  /// The number of unchanged pages that are recorded together.
  private static let unchangedAtOnce = 100

  /// Ends a run for which the target has no page, or no further page.
  private mutating func finishEmpty(_ kind: PageStep.End = .done) async throws {
    try record.checkResolver()
    if !target.tracksOwnProgress, kind == .done { progress.stored(latestModification: newestChild, isLastPage: true) }
    counter.end(isGuess: kind == .done && target.tracksOwnProgress)
    let end = PageStep(
      page: SyncDownPage(parts: [], totalSize: 0), pages: pages, mappings: mappings, known: [], progress: progress,
      counter: counter, end: kind, tracksOwnProgress: target.tracksOwnProgress, warnings: warnings,
      uploadSequence: uploadSequence, owners: environment.owners, now: environment.configuration.now())
    _ = try await record.save(.pulled) { transaction, state in try end.apply(&state, in: transaction) }
  }
}

extension FetchContext {
  /// Takes over the sync whose records are fetched.
  mutating func take(_ state: SyncState) {
    syncId = state.id
    soup = state.soupName
    memory = state.memory
  }

  /// - Throws: `StoreError` `.noSuchSoup`.
  init(_ environment: RunEnvironment, mappings: [SoupMapping]) async throws {
    try await self.init(
      client: environment.client, store: environment.store, control: environment.control,
      configuration: environment.configuration, mappings: mappings)
  }

  init(
    client: any RestClient, store: Store, control: RunControl, configuration: SyncConfiguration, mappings: [SoupMapping]
  ) async throws {
    let plans = try await store.read { snapshot in
      try mappings.map { mapping in
        try snapshot.pagePlan(
          soup: mapping.soup, idPath: mapping.fields.id, extraPaths: [mapping.fields.modificationDate], ownedKeys: LocalField.all)
      }
    }
    self.init(client: client, store: store, plans: plans, control: control, configuration: configuration)
    fields = mappings[0].fields
  }
}

extension Optional {
  func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
