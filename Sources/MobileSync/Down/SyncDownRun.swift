import JSON
import RestClient
import SmartStore

/// One run of a sync down: the next page is fetched while this one is written, one transaction a page.
struct SyncDownRun {
  private let record: RunRecord
  private let target: any SyncDownTarget
  private let places: [RecordPlace]
  private var progress: SyncDownProgress
  private var counter = ProgressCounter(total: 0)
  /// One for each place.
  private var filters: [UnchangedRecordFilter]
  /// The newest stamp of records that go with a parent. Pages are in the parents' order, so it counts at the end only.
  private var newestChild = TimeStamp.never
  private var since: Int64
  /// Where the run began.
  private let beginning: SyncDownProgress
  private var warnings: [String] = []
  /// Read so far.
  private var pages = 0
  /// How many uploads had been written back when the first page was asked for. Later pages may be as old: a server may read all
  /// of a query at once.
  private var uploadMark = Int64.max
  /// Creates from these soups have no answer yet: what comes down may be what they made.
  private let mayMeetLostCreates: Bool

  private var environment: RunEnvironment { record.environment }
  private var state: SyncState { record.state }

  /// - Parameters:
  ///   - previousRunEnded: Whether the run before reached its end.
  ///   - mayMeetLostCreates: Whether creates from its soups have no answer yet.
  init(_ record: RunRecord, previousRunEnded: Bool, mayMeetLostCreates: Bool) throws {
    self.record = record
    self.mayMeetLostCreates = mayMeetLostCreates
    let target = try record.environment.targets.down(record.state.target), state = record.state
    self.target = target
    places = target.places(state.soupName)
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
    let store = environment.store, syncId = state.id, keepsAccount = target.keepsAccount
    let isFirstRun = keepsAccount ? record.mode == .resume && state.memory.isEmpty : since < 0
    filters = places.map {
      UnchangedRecordFilter(
        store: store, soup: $0.soup, syncId: syncId, fields: $0.fields, isFirstRun: isFirstRun, comparesTexts: keepsAccount)
    }
  }

  /// Runs to the end; the state DONE is then saved and not yet reported.
  /// - Throws: The error that ended the run early. Pages stored by then stay stored.
  mutating func perform() async throws {
    var context = try await FetchContext(environment, places: places)
    context.take(state)
    context.mode = record.mode
    warn()
    if record.mode == .nothing { return try await finishEmpty() }
    try await offerLeftConflicts()
    do {
      try await fetchAll(in: context)
    } catch let error as RestError where environment.service.fault(of: error) == .expiredCursor {
      try await startAgain(error)
      context.mode = .resume
      try await fetchAll(in: context)
    }
  }

  private mutating func fetchAll(in context: FetchContext) async throws {
    let target = target, since = since
    uploadMark = try await environment.store.read { try $0.uploadMark() }
    guard var page = try await environment.control.value(of: Task { try await target.start(since: since, in: context) }) else {
      try await announce()
      try await finishEmpty()
      return
    }
    let latest = target.keepsAccount ? TimeStamp.never : latestModification(of: page)
    progress.started(
      serverTime: page.serverTime.map { environment.configuration.bounded($0, newest: max(latest, state.maxTimeStamp)) },
      allowance: environment.configuration.commitAllowanceMs, latestModification: latest)
    for i in filters.indices { try await filters[i].prepare() }
    try await startAgain(with: page)
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
        try await indexAhead(of: next, behind: page)
        guard let following = try await environment.control.value(of: next.task) else {
          try await finishEmpty()
          return
        }
        page = following
      } catch {
        await next?.cancel()
        throw error
      }
      try await startAgain(with: page)
      known = try await self.known(on: page)
    }
  }

  /// Pages of this run.
  private var mostPages: Int { state.options.maxPages ?? target.longestRun ?? .max }

  /// The target has begun its list again by itself.
  private mutating func startAgain(with page: SyncDownPage) async throws {
    guard page.notes?.startsAgain == true else { return }
    counter.startAgain()
    try await record.save(.pulled) { _, state in state.counts.forgetFetched() }
  }

  /// The server forgot the query's place: it is asked once more. A target in the order of modification goes on from what is
  /// stored already, any other brings everything again, which then counts once.
  private mutating func startAgain(_ error: RestError) async throws {
    environment.configuration.logger.notice(
      "the query is started again: \(error.message)", metadata: ["sync": "\(state.name ?? String(state.id))"])
    let stored = SyncDownProgress(
      maxTimeStamp: state.maxTimeStamp, covered: state.coveredTimeStamp, previousRunEnded: true,
      isSortedByModification: target.isSortedByModification)
    if target.isSortedByModification, !target.isLimited, stored.since > 0 {
      ask(from: stored)
      counter.goOn()
    } else {
      ask(from: beginning)
      counter.startAgain()
      try await record.save(.pulled) { _, state in state.counts.forgetFetched() }
    }
  }

  /// Says what is known to surprise. Also when it is run for the first time, if it has a name: then it is meant to be run again.
  private mutating func warn() {
    guard target.isLimited, since > 0 || state.name != nil else { return }
    warnings = [SyncDownRun.limitWarning]
    environment.configuration.logger.warning(
      "\(SyncDownRun.limitWarning)", metadata: ["sync": "\(state.name ?? String(state.id))"])
  }

  private static let limitWarning =
    "a re-sync of a query with LIMIT or OFFSET applies them to the records changed since the last run: the soup grows beyond the "
    + "limit, and changes beyond it are missed; select the records with a WHERE condition instead"

  /// Builds indexes that a large first load put off while the next page is still on its way: towards the end, about one for each
  /// page to come. Where the network is what a sync waits for, its end need not wait for the indexes as well.
  private func indexAhead(of next: NextPage, behind page: SyncDownPage) async throws {
    guard places.count == 1, counter.total > 0, let part = page.parts[0], part.count > 0 else { return }
    let pagesLeft = max(1, (counter.total - counter.done + part.count - 1) / part.count), soup = places[0].soup
    guard pagesLeft <= part.indexCount, try await environment.store.read({ try $0.isLoading(soup: soup) }) else { return }
    while !next.hasEnded {
      guard try await environment.store.write(.pulled, { try $0.buildIndexAhead(soup: soup, whileMissing: pagesLeft) }) else {
        return
      }
    }
  }

  // MARK: Looking at pages

  /// What of a page is no news, by place; the counter takes note of it.
  private mutating func known(on page: SyncDownPage) async throws -> [UnchangedRecordFilter.Found] {
    counter.announce(page.totalSize)
    var known: [UnchangedRecordFilter.Found] = []
    for (place, part) in zip(places.indices, page.parts) {
      let found = try await part.asyncMap { try await filters[place].find(in: $0, progress) } ?? UnchangedRecordFilter.Found()
      known.append(found)
      if places[place].isCounted, !target.announcesCandidates { counter.leaveOut(found.count) }
    }
    if let notes = page.notes { counter.leaveOut(notes.left) }
    return known
  }

  /// The newest modification date on a page; -1 without any. Records without a readable date are passed over.
  private mutating func latestModification(of page: SyncDownPage) -> Int64 {
    var latest = TimeStamp.never
    for (place, part) in zip(places, page.parts) {
      guard let part else { continue }
      let newest = PageStamps.newest(on: part) ?? TimeStamp.never
      // Companions are records of another list: their stamps say nothing about this one.
      if place.isCounted { latest = max(latest, newest) } else if !place.isCompanion { newestChild = max(newestChild, newest) }
    }
    return latest
  }

  // MARK: Storing

  /// What a resolver left, or failed at, in an earlier run: the server does not send those records again.
  private mutating func offerLeftConflicts() async throws {
    guard state.options.resolver != nil else { return }
    let soups = places.map(\.soup), syncId = state.id
    let left = try await environment.store.read { snapshot in
      try soups.flatMap { soup in
        try snapshot.conflicts(in: soup).filter { $0.syncId == syncId }
          .map { MetConflict(soup: soup, entryId: $0.entryId, isNews: false) }
      }
    }
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

  /// Writes a page, the state and what goes with the end of a run in one transaction.
  /// - Returns: False for a page that did not change: the next transaction takes note of it.
  private mutating func store(
    _ page: SyncDownPage, known: [UnchangedRecordFilter.Found], end: PageStep.End?, in context: FetchContext
  ) async throws -> Bool {
    let isLast = end == .done
    if !target.keepsAccount {
      let latest = latestModification(of: page)
      progress.stored(latestModification: isLast ? max(latest, newestChild) : latest, isLastPage: isLast)
    }
    for (i, part) in page.parts.enumerated() where places[i].isCounted {
      counter.advance((part?.count ?? 0) - known[i].count)
    }
    if end != nil { counter.end(isGuess: end == .done && target.keepsAccount) }
    if page.notes?.isUnchanged == true, end == nil, pages % SyncDownRun.unchangedAtOnce != 0 { return false }
    // The end waits for what a resolver says, for a look at what may have been made here, and for what belongs to the rows.
    let endsHere = state.options.resolver == nil && !mayMeetLostCreates && !target.hasAfterRows
    let step = PageStep(
      page: page, pages: pages, places: places, known: known, progress: progress, counter: counter, end: endsHere ? end : nil,
      keepsAccount: target.keepsAccount, uploadMark: uploadMark, now: environment.configuration.now())
    let done = try await record.save(.pulled) { transaction, state in try step.apply(&state, in: transaction) }
    progress = done.progress
    try await record.handle(done.conflicts)
    if let end, !endsHere {
      if mayMeetLostCreates { try await LostCreates.settle(afterFilling: places.map(\.soup), record) }
      if target.hasAfterRows {
        let fetching = Task { [target] in try await target.afterRows(in: context) }
        warnings += try await environment.control.value(of: fetching)
      }
      try await finishEmpty(end)
    }
    if isLast, counter.isReported { record.report(status: .running, progress: counter.percent) }
    return true
  }

  /// Pages that have not changed are noted together.
  private static let unchangedAtOnce = 100

  /// Ends a run to which the target had nothing to say, or nothing more.
  private mutating func finishEmpty(_ kind: PageStep.End = .done) async throws {
    if !target.keepsAccount, kind == .done { progress.stored(latestModification: newestChild, isLastPage: true) }
    counter.end(isGuess: kind == .done && target.keepsAccount)
    let end = PageStep(
      page: SyncDownPage(parts: [], totalSize: 0), pages: pages, places: places, known: [], progress: progress,
      counter: counter, end: kind, keepsAccount: target.keepsAccount, warnings: warnings, uploadMark: uploadMark,
      now: environment.configuration.now())
    _ = try await record.save(.pulled) { transaction, state in try end.apply(&state, in: transaction) }
  }
}

extension FetchContext {
  /// - Parameter state: Of the sync whose records are fetched.
  mutating func take(_ state: SyncState) {
    syncId = state.id
    soup = state.soupName
    memory = state.memory
  }

  /// - Throws: `StoreError` `.noSuchSoup`.
  init(_ environment: RunEnvironment, places: [RecordPlace]) async throws {
    try await self.init(
      client: environment.client, store: environment.store, control: environment.control,
      configuration: environment.configuration, places: places)
  }

  init(
    client: any RestClient, store: Store, control: RunControl, configuration: SyncConfiguration, places: [RecordPlace]
  ) async throws {
    let plans = try await store.read { snapshot in
      try places.map { place in
        try snapshot.pagePlan(
          soup: place.soup, idPath: place.fields.id, extraPaths: [place.fields.modificationDate], ownedKeys: LocalField.all)
      }
    }
    self.init(client: client, store: store, plans: plans, control: control, configuration: configuration)
    fields = places[0].fields
  }
}

extension Optional {
  func asyncMap<T>(_ transform: (Wrapped) async throws -> T) async rethrows -> T? {
    guard let self else { return nil }
    return try await transform(self)
  }
}
