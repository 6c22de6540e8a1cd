import JSON
import MobileSync
import RestClient
import SmartStore

/// Runs a sync down through the pages of a collection, one page at a time.
///
/// The step after each page is decided on arrival and stored with the page, so that a killed run
/// continues after the last stored page.
actor CollectionRun {
  private let target: RestTarget
  private let client: CollectionClient
  private let context: FetchContext
  private let reader: PageReader
  private var memory: CollectionMemory
  private var plan: RunPlan
  private var walk: PageWalk
  private var tracker: WatermarkTracker
  private var timer: WalkTimer
  private var validators: IdMap<PageValidator>
  private var marks: DetailMarks
  /// The item count of the fullest page in this run that had a next page.
  private var largestPage = 0
  private var visited = IdSet()
  /// Whether the run continues an earlier one.
  private let isResumed: Bool
  /// Whether stored pages belong to another account or target and are deleted with the first page.
  private var discardsPages: Bool
  /// The validator of the first page, in modes where an unchanged first page ends a run. It is
  /// stored only when all later pages are stored.
  private var firstPageValidator: (page: String, value: JSONObject)?
  /// Whether the next page starts a repeated walk.
  private var startsAgain = false
  /// Whether the first request sends a stored token, which may have expired.
  private var usesToken: Bool
  /// Ids seen by this run, if it removes all others.
  private var seen = IdSet()
  /// Whether this run has seen an item whose id is unknown.
  private var hasSeenNamelessItems = false

  /// - Throws: ``SyncError`` `.invalidTarget`, `RestError`, `StoreError`.
  init(_ target: RestTarget, _ connection: RestConnection, _ context: FetchContext) async throws {
    let nowMs = context.configuration.now()
    var memory = CollectionMemory(context.memory, target)
    let account = try await connection.accountMark(salt: memory.salt), isOtherAccount = memory.account != account
    memory.account = account
    let cursor = memory.cursor.flatMap { CollectionCursor($0, target, nowMs: nowMs, ofAnyAge: context.mode == .more) }
    let plan =
      cursor.map { RunPlan(scope: $0.isIncremental ? .since(memory.known.watermark ?? 0) : .all) }
      ?? RunPlan(target, memory.known, nowMs: nowMs)
    self.target = target
    self.context = context
    client = CollectionClient(target, connection, context, cache: context.mode == .refresh ? .reload : nil)
    reader = PageReader(target, storing: context.plan, now: context.configuration.now)
    tracker = WatermarkTracker(target, start: memory.known.watermark, isIncremental: plan.isIncremental)
    let settings = connection.settings, origins = settings.allowOrigins.map(\.origin)
    if let cursor {
      var state = cursor.walk
      // Each run restarts the walk at most once when a cursor expires.
      state.hasRestarted = false
      walk = PageWalk(target, base: settings.baseURL, allowedOrigins: origins, maxPages: .max, resuming: state)
      tracker.resume(cursor.tracker)
    } else {
      do throws(URITemplate.Problem) {
        walk = try PageWalk(target, base: settings.baseURL, allowedOrigins: origins, maxPages: .max, scope: plan.scope)
      } catch {
        throw SyncError(error)
      }
    }
    let uptime = context.configuration.uptime
    timer =
      cursor.map { WalkTimer(resuming: $0, nowMs: nowMs, uptime: uptime) } ?? WalkTimer(startedMs: nowMs, uptime: uptime)
    validators = [:]
    marks = DetailMarks([:])
    discardsPages = isOtherAccount
    isResumed = cursor != nil
    if target.validatesPages || target.detail != nil, !isOtherAccount, context.mode != .refresh {
      let kept = try await context.store.read { [id = context.syncId] in try $0.syncPages(of: id) }
      marks = DetailMarks(kept)
      if target.validatesPages {
        validators = kept.compactMapValues { (try? JSONValue(parsing: $0)).flatMap { PageValidator($0, target) } }
      }
    }
    if case .token = plan.scope { usesToken = cursor == nil } else { usesToken = false }
    if plan.removesUnseen { memory.known.owesRemoval = true }
    self.plan = plan
    self.memory = memory
  }

  // MARK: Pages

  /// Returns the current page; nil if it turns out not to exist.
  ///
  /// - Throws: `RestError`, ``SyncError``, `CancellationError`.
  func page() async throws -> SyncDownPage? {
    var pauses = PendingPauses()
    while true {
      let request = walk.request, name = PageValidator.name(request.url, target)
      let known = validates ? validators[name].flatMap { mayHaveGrown($0) ? nil : $0 } : nil
      let response: ConnectionResponse
      do {
        response = try await client.page(request, known?.conditions ?? [], expecting: endings)
      } catch let error as RestError {
        if let page = try await afterFailure(error, request) { return page }
        continue
      }
      usesToken = false
      if response.status == 304 {
        guard let known else { throw response.response.invalidBody("304 was sent for an unconditional request") }
        return unchanged(known, name)
      }
      let page = try reader.read(response, number: walk.pageNumber)
      if page.isPending {
        try await client.connection.wait(seconds: pauses.next(response, target, nowMs: context.configuration.now()))
        continue
      }
      return try await deliver(page, response, name)
    }
  }

  private var isFirst: Bool { walk.state.position == .first }

  /// Error statuses that mean the end of the list, or an expired token.
  private var endings: [Int] {
    usesToken ? target.incremental.expiredStatuses : isFirst ? [] : target.paging.endStatuses
  }

  /// Whether the request for the current page is conditional. A run that must read everything
  /// cannot conclude anything from unchanged newest items.
  private var validates: Bool {
    guard target.validatesPages, target.incremental.mode.validates(isFirstPage: isFirst) else { return false }
    return target.incremental.mode != .sorted || plan.isIncremental
  }

  /// Whether a list may have grown although its last page is unchanged: a server that computes
  /// entity tags from bodies does not notice a new `Link` header.
  private func mayHaveGrown(_ last: PageValidator) -> Bool {
    guard last.next == nil, target.paging.leadsOnByHeader, target.incremental.mode != .sorted else { return false }
    let others = validators.values.filter { $0.next != nil }.map(\.items) + [largestPage].filter { $0 > 0 }
    return target.mayBeFull(items: last.items, others: others)
  }

  /// - Returns: An empty page if the failure is the end of the list; nil if the walk continues with
  ///   another request.
  private func afterFailure(_ error: RestError, _ request: PageRequest) async throws -> SyncDownPage? {
    guard error.code == .httpStatus, let status = error.status else { throw error }
    let answer = PageAnswer(url: request.url, status: status, headers: error.headers), isEmpty = error.body?.isEmpty ?? true
    if usesToken, let full = RunPlan.afterExpiry(target, answer, bodyIsEmpty: isEmpty) {
      try restartWithoutToken(full, from: target.incremental.tokenParam == nil ? RunPlan.newStart(answer) : nil)
      return nil
    }
    switch walk.failed(answer, bodyIsEmpty: isEmpty) {
    case .restart:
      startsAgain = true
      // An unchanged page would lead to the same expired cursor again.
      validators = [:]
      return nil
    // The server returns no more of this list; the rest is requested by date.
    case .next: return nil
    case .fail(let problem): throw SyncError(problem)
    case .end(let end):
      var page = SyncDownPage(parts: [nil], totalSize: Int(clamping: walk.totalSize))
      var notes = PageNotes()
      try await removeUnseen(end, &notes)
      notes = ended(end, notes)
      notes.isPastTheEnd = true
      page.notes = notes
      return page
    default: throw error
    }
  }

  /// Starts over after the server rejected the token: all items are read, and unseen rows are
  /// removed since their tombstones are lost.
  ///
  /// - Parameter start: The URL of the new list, if the server gave one.
  private func restartWithoutToken(_ full: RunPlan, from start: String?) throws {
    plan = full
    forgetSeen()
    memory.known.owesRemoval = true
    usesToken = false
    startsAgain = true
    memory.known.token = nil
    do throws(URITemplate.Problem) {
      walk = try PageWalk(
        target, base: walk.first.base, allowedOrigins: walk.urls.allowedOrigins, maxPages: .max,
        scope: start.map { .token($0) } ?? full.scope)
    } catch {
      throw SyncError(error)
    }
    tracker = WatermarkTracker(target, start: memory.known.watermark, isIncremental: false)
  }

  private func unchanged(_ known: PageValidator, _ name: String) -> SyncDownPage {
    visited.insert(name)
    var page = SyncDownPage(parts: [nil], totalSize: Int(clamping: walk.totalSize)), notes = PageNotes()
    notes.isUnchanged = true
    if known.endsRun(target.incremental.mode) {
      notes = ended(walk.endAtWatermark(), notes)
    } else {
      notes = follow(walk.acceptUnchanged(known), notes, &page)
    }
    page.notes = notes
    return page
  }

  private func deliver(_ found: CollectionPage, _ response: ConnectionResponse, _ name: String) async throws -> SyncDownPage {
    visited.insert(name)
    let shaped = try await shape(found, response)
    tracker.note(found)
    var notes = PageNotes()
    notes.deleted = found.removed
    notes.unwanted = found.excluded + shaped.dropped
    notes.flagged = found.flagged.map { sentence($0, found.number) } + shaped.flagged
    notes.marks = shaped.marks.map { ($0.name, $0.value) }
    notes.left = found.itemCount - (shaped.records?.count ?? 0)
    if let token = try token(of: found) { memory.known.token = token }
    var page = SyncDownPage(parts: [shaped.records], totalSize: 0)
    let wasFirst = isFirst
    let step = tracker.hasReachedWatermark(found) ? .end(walk.endAtWatermark()) : walk.accept(found)
    if step.next != nil { largestPage = max(largestPage, found.itemCount) }
    if plan.removesUnseen {
      seen.formUnion(found.ids)
      hasSeenNamelessItems = hasSeenNamelessItems || found.hasNamelessItems
      if case .restart = step { forgetSeen() }
      if case .end(let end) = step { try await removeUnseen(end, &notes) }
    }
    if target.validatesPages, target.incremental.mode.validates(isFirstPage: wasFirst) {
      let kept = keeps(step, notes) ? PageValidator(found, next: step.next).map { (page: name, value: $0.json(target)) } : nil
      if target.incremental.mode == .etag { notes.kept = kept } else { firstPageValidator = kept }
    }
    if discardsPages {
      discardsPages = false
      notes.pages = notes.kept.map { [$0.page] } ?? []
    }
    notes = follow(step, notes, &page)
    page.totalSize = Int(clamping: walk.totalSize)
    page.notes = notes
    return page
  }

  /// Whether a later run may request the page conditionally. Not if the walk failed after it,
  /// because a 304 would then mean the end of the list. Not if items were invalid, because the
  /// local function that transforms them may be fixed in the meantime.
  private func keeps(_ step: PageWalk.Step, _ notes: PageNotes) -> Bool {
    if case .fail = step { return false }
    return notes.flagged.isEmpty
  }

  /// Removes rows that a full run has not seen, by the rules for ghosts, because the server no
  /// longer has their tombstones.
  private func removeUnseen(_ end: PageWalk.End, _ notes: inout PageNotes) async throws {
    guard plan.removesUnseen, end.completeness != .incomplete else { return }
    guard !hasSeenNamelessItems else {
      notes.warnings.append(CollectionRun.namelessWarning)
      return
    }
    let local = try await context.cleanIds(), gone = local.filter { !seen.contains($0) }
    memory.known.owesRemoval = false
    if let refusal = target.ghosts.refusal(gone: gone.count, of: local.count, isForced: context.isForced) {
      notes.warnings.append(refusal.message)
    } else {
      notes.unwanted += gone
    }
  }

  private func forgetSeen() {
    seen = []
    hasSeenNamelessItems = false
  }

  private static let namelessWarning =
    "rows that the server no longer sends were not removed, because an item of the list has no usable id; "
    + "the next run tries again"

  private func shape(_ found: CollectionPage, _ response: ConnectionResponse) async throws -> ShapedRecords {
    let shaper = ItemShaper(target: target, context: context, client: client, marks: marks)
    let shaped = try await shaper.records(of: found, response)
    marks.insert(shaped.marks)
    return shaped
  }

  private func sentence(_ item: CollectionPage.FlaggedItem, _ page: Int) -> String {
    let id = item.id.map { " (\($0))" } ?? ""
    return "page \(page), item \(item.position + 1)\(id): \(item.reason)"
  }

  private func token(of page: CollectionPage) throws -> String? {
    do throws(RestPageError) {
      return try walk.token(of: page)
    } catch {
      throw SyncError(error)
    }
  }

  // MARK: The next step

  private func follow(_ step: PageWalk.Step, _ given: PageNotes, _ page: inout SyncDownPage) -> PageNotes {
    var notes = given
    notes.startsAgain = startsAgain
    startsAgain = false
    if let warning = walk.warning { notes.warnings.append(warning) }
    switch step {
    case .end(let end): return ended(end, notes)
    case .fail(let error):
      // If the pages form a loop, there is no position to continue from.
      memory.cursor = nil
      notes.failsNext = true
      page.next = { throw SyncError(error) }
    case .restart:
      startsAgain = true
      page.next = { try await self.page() }
      memory.cursor = cursor
    case .next, .pause, .again:
      page.next = { try await self.page() }
      memory.cursor = cursor
      memory.known.watermark = tracker.afterPage(shifts: walk.shifts)
    }
    notes.memory = memory.json
    notes.watermark = memory.known.watermark
    return notes
  }

  private var cursor: JSONObject? {
    // Unseen rows can only be determined by an uninterrupted run.
    guard !plan.removesUnseen else { return nil }
    return CollectionCursor.json(
      walk.state.json(target, nowMs: context.configuration.now()), tracker.json, timer, isIncremental: plan.isIncremental)
  }

  private func ended(_ end: PageWalk.End, _ given: PageNotes) -> PageNotes {
    var notes = given
    let isIncomplete = end.completeness == .incomplete
    memory.cursor = nil
    memory.known.watermark = tracker.atEnd(shifts: walk.shifts, isIncomplete: isIncomplete, elapsedMs: timer.elapsedMs)
    memory.known.lacksDates = tracker.lacksDates
    memory.known.lastRunMs = timer.startedMs
    if !plan.isIncremental, end.completeness == .complete { memory.known.lastFullWalkMs = timer.startedMs }
    if target.incremental.mode == .etag {
      // A resumed run has not visited the pages before its cursor.
      if !isResumed { notes.pages = visited }
    } else if let kept = firstPageValidator, !isIncomplete {
      notes.kept = kept
      notes.pages = [kept.page]
    }
    notes.isIncomplete = isIncomplete
    if isIncomplete { notes.warnings.append(CollectionRun.incompleteWarning) }
    notes.memory = memory.json
    notes.watermark = memory.known.watermark
    return notes
  }

  private static let incompleteWarning =
    "records moved between the pages while the list was read, and some may be missing; the next run requests them again"
}

extension PageWalk.Step {
  /// The URL of the next page; nil if there is none.
  fileprivate var next: String? {
    switch self {
    case .next(let request), .pause(let request): request.url
    default: nil
    }
  }
}

/// Measures the duration of a walk from its first page, over all runs that took part.
struct WalkTimer: Sendable {
  /// By the wall clock, in ms since 1970 UTC.
  let startedMs: Int64
  private let before: Int64
  private let uptime: @Sendable () -> Int64
  private let began: Int64

  /// - Parameter uptime: Returns ms of a monotonic clock.
  init(startedMs: Int64, uptime: @escaping @Sendable () -> Int64) {
    self.init(startedMs: startedMs, before: 0, uptime: uptime)
  }

  /// Continues the walk of an earlier run. The time in between counts as well, since the list may
  /// have changed. It is measured by the wall clock, because the monotonic clock may have been
  /// reset.
  init(resuming cursor: CollectionCursor, nowMs: Int64, uptime: @escaping @Sendable () -> Int64) {
    let before = max(cursor.elapsedMs, nowMs.subtractingSafely(cursor.startedMs))
    self.init(startedMs: cursor.startedMs, before: before, uptime: uptime)
  }

  private init(startedMs: Int64, before: Int64, uptime: @escaping @Sendable () -> Int64) {
    self.startedMs = startedMs
    self.before = before
    self.uptime = uptime
    began = uptime()
  }

  var elapsedMs: Int64 { before + max(0, uptime() - began) }
}

/// Computes pauses while a server is still computing its list.
struct PendingPauses {
  private var count = 0
  private static let most = 8

  /// Returns the seconds to wait before the next attempt.
  ///
  /// - Throws: ``SyncError`` `.unexpectedAnswer` after too many attempts.
  mutating func next(_ response: ConnectionResponse, _ target: RestTarget, nowMs: Int64) throws -> Double {
    guard count < PendingPauses.most else {
      throw SyncError(target.pageError(.wrongShape, 1, "the server is still computing the list (202), after \(count) pauses"))
    }
    count += 1
    let asked = response.header("Retry-After").flatMap { RetryAfter.seconds($0, now: Double(nowMs) / 1000) }
    return min(60, asked ?? Double(1 << (count - 1)))
  }
}
