import JSON
import MobileSync
import RestClient
import SmartStore

/// One run of a sync down through the pages of a collection, one page after the other.
///
/// What each page leads to is decided when it has come, and stored with it: a run that is killed goes on behind the last page
/// that was stored.
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
  private var validators: [String: PageValidator]
  /// Items of the fullest page of this run that led on.
  private var largestPage = 0
  private var visited = Set<String>()
  /// The run goes on where an earlier one ended.
  private let isResumed: Bool
  /// What is kept of earlier runs' pages belongs to another account or another target, and goes with the first page.
  private var forgetsPages: Bool
  /// Of the first page, in modes that end a run when it has not changed: kept once everything behind it is stored, too.
  private var ofFirstPage: (page: String, value: JSONObject)?
  /// The next page is the first one of a walk that begins again.
  private var startsAgain = false
  /// A stored token was sent with the first request, which may have expired.
  private var usesToken: Bool
  /// Ids that this run has met, where it removes the others.
  private var seen = Set<String>()

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
    reader = PageReader(target, storing: context.plan)
    tracker = WatermarkTracker(target, start: memory.known.watermark, isIncremental: plan.isIncremental)
    let settings = connection.settings, origins = settings.allowOrigins.map(\.origin)
    if let cursor {
      var state = cursor.walk
      // A cursor that dies starts the walk again once a run.
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
    forgetsPages = isOtherAccount
    isResumed = cursor != nil
    if target.validatesPages, !isOtherAccount, context.mode != .refresh {
      let kept = try await context.store.read { [id = context.syncId] in try $0.syncPages(of: id) }
      validators = kept.compactMapValues { (try? JSONValue(parsing: $0)).flatMap { PageValidator($0, target) } }
    }
    if case .token = plan.scope { usesToken = cursor == nil } else { usesToken = false }
    if plan.removesUnseen { memory.known.owesRemoval = true }
    self.plan = plan
    self.memory = memory
  }

  // MARK: Pages

  /// The page that the walk stands at; nil when there is none after all.
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
        guard let known else { throw response.response.invalidBody("304 answers a request that had no conditions") }
        return unchanged(known, name)
      }
      let page = try reader.read(response, number: walk.pageNumber)
      if page.isPending {
        try await client.connection.wait(seconds: pauses.next(response, target))
        continue
      }
      return try await deliver(page, response, name)
    }
  }

  private var isFirst: Bool { walk.state.position == .first }

  /// Refusals that say that the list or the token has ended.
  private var endings: [Int] {
    usesToken ? target.incremental.expiredStatuses : isFirst ? [] : target.paging.endStatuses
  }

  /// Whether the page that the walk stands at is asked for with what is kept of it. That the newest changes are known says
  /// nothing to a run that is to read everything.
  private var validates: Bool {
    guard target.validatesPages, target.incremental.mode.validates(isFirstPage: isFirst) else { return false }
    return target.incremental.mode != .sorted || plan.isIncremental
  }

  /// Whether the list may go on behind a page that was its last and says the same as ever: a server that makes tags of bodies
  /// does not tell then that the `Link` beside it is new.
  private func mayHaveGrown(_ last: PageValidator) -> Bool {
    guard last.next == nil, target.paging.leadsOnByHeader, target.incremental.mode != .sorted else { return false }
    let others = validators.values.filter { $0.next != nil }.map(\.items) + [largestPage].filter { $0 > 0 }
    return target.mayBeFull(items: last.items, others: others)
  }

  /// - Returns: An empty page where the failure is the end of the list; nil when the walk goes on with another request.
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
      // A page that has not changed would lead to the same dead place again.
      validators = [:]
      return nil
    // The server gives no more of this list, and the rest is asked for by date.
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

  /// The server has forgotten the token: everything is read, and marks of the time between are gone.
  /// - Parameter start: Where the server says that the new list begins.
  private func restartWithoutToken(_ full: RunPlan, from start: String?) throws {
    plan = full
    seen = []
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
    notes.left = found.itemCount - (shaped.records?.count ?? 0)
    if let token = try token(of: found) { memory.known.token = token }
    var page = SyncDownPage(parts: [shaped.records], totalSize: 0)
    let wasFirst = isFirst
    let step = tracker.hasReachedWatermark(found) ? .end(walk.endAtWatermark()) : walk.accept(found)
    if step.next != nil { largestPage = max(largestPage, found.itemCount) }
    if plan.removesUnseen {
      seen.formUnion(found.ids)
      if case .restart = step { seen = [] }
      if case .end(let end) = step { try await removeUnseen(end, &notes) }
    }
    if target.validatesPages, target.incremental.mode.validates(isFirstPage: wasFirst) {
      let kept = keeps(step, notes) ? PageValidator(found, next: step.next).map { (page: name, value: $0.json(target)) } : nil
      if target.incremental.mode == .etag { notes.kept = kept } else { ofFirstPage = kept }
    }
    if forgetsPages {
      forgetsPages = false
      notes.pages = notes.kept.map { [$0.page] } ?? []
    }
    notes = follow(step, notes, &page)
    page.totalSize = Int(clamping: walk.totalSize)
    page.notes = notes
    return page
  }

  /// Whether a later run may ask for the page with conditions. Not where nothing led on from it: a 304 would say that the list
  /// ends there. Not while items of it could not be used: what was wrong with them may be mended here, in the function that
  /// computes their members.
  private func keeps(_ step: PageWalk.Step, _ notes: PageNotes) -> Bool {
    if case .fail = step { return false }
    return notes.flagged.isEmpty
  }

  /// What a full run did not meet, in place of marks that the server keeps no longer, goes by the rules for ghosts.
  private func removeUnseen(_ end: PageWalk.End, _ notes: inout PageNotes) async throws {
    guard plan.removesUnseen, end.certainty != .short else { return }
    let local = try await context.cleanIds(), gone = local.filter { !seen.contains($0) }
    memory.known.owesRemoval = false
    if let refusal = target.ghosts.refusal(gone: gone.count, of: local.count, isForced: context.isForced) {
      notes.warnings.append(refusal.message)
    } else {
      notes.unwanted += gone
    }
  }

  private func shape(_ found: CollectionPage, _ response: ConnectionResponse) async throws -> ShapedRecords {
    let shaper = ItemShaper(target: target, context: context, client: client)
    return try await shaper.records(of: found, response)
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

  // MARK: What follows

  private func follow(_ step: PageWalk.Step, _ given: PageNotes, _ page: inout SyncDownPage) -> PageNotes {
    var notes = given
    notes.startsAgain = startsAgain
    startsAgain = false
    if let warning = walk.warning { notes.warnings.append(warning) }
    switch step {
    case .end(let end): return ended(end, notes)
    case .fail(let error):
      // Where the pages lead in a circle there is nothing to go on from.
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
    // What was not seen can only be told by a run that has seen everything itself.
    guard !plan.removesUnseen else { return nil }
    return CollectionCursor.json(
      walk.state.json(target, nowMs: context.configuration.now()), tracker.json, timer, isIncremental: plan.isIncremental)
  }

  private func ended(_ end: PageWalk.End, _ given: PageNotes) -> PageNotes {
    var notes = given
    let isShort = end.certainty == .short
    memory.cursor = nil
    memory.known.watermark = tracker.atEnd(shifts: walk.shifts, isShort: isShort, elapsedMs: timer.elapsedMs)
    memory.known.lacksDates = tracker.lacksDates
    memory.known.lastRunMs = timer.startedMs
    if !plan.isIncremental, end.certainty == .sure { memory.known.lastFullWalkMs = timer.startedMs }
    if target.incremental.mode == .etag {
      // A run that went on behind others has not seen their pages.
      if !isResumed { notes.pages = visited }
    } else if let kept = ofFirstPage, !isShort {
      notes.kept = kept
      notes.pages = [kept.page]
    }
    notes.isIncomplete = isShort
    if isShort { notes.warnings.append(CollectionRun.shortWarning) }
    notes.memory = memory.json
    notes.watermark = memory.known.watermark
    return notes
  }

  private static let shortWarning =
    "records moved between the pages while the list was read, and some may be missing; the next run asks for the same again"
}

extension PageWalk.Step {
  /// The URL of the page behind; nil when there is none.
  fileprivate var next: String? {
    switch self {
    case .next(let request), .pause(let request): request.url
    default: nil
    }
  }
}

/// How long a walk has taken, from its first page on, over all runs that had a part in it.
struct WalkTimer: Sendable {
  /// By the wall clock, ms since 1970 UTC.
  let startedMs: Int64
  private let before: Int64
  private let uptime: @Sendable () -> Int64
  private let began: Int64

  /// - Parameter uptime: ms on a clock that does not jump.
  init(startedMs: Int64, uptime: @escaping @Sendable () -> Int64) {
    self.init(startedMs: startedMs, before: 0, uptime: uptime)
  }

  /// Goes on with the walk of an earlier run. What changed while it rested counts like what changed while it ran; the clock that
  /// does not jump may be another one by now, so only the wall clock knows how long that was.
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

/// Waits for a server that is still computing its list.
struct PendingPauses {
  private var count = 0
  private static let most = 8

  /// Seconds to wait before the next try.
  /// - Throws: ``SyncError`` `.unexpectedAnswer` once it has been long enough.
  mutating func next(_ response: ConnectionResponse, _ target: RestTarget) throws -> Double {
    guard count < PendingPauses.most else {
      throw SyncError(target.pageError(.wrongShape, 1, "the server is still computing the list (202), after \(count) pauses"))
    }
    count += 1
    let asked = response.header("Retry-After").flatMap { Double($0) }
    return min(60, max(0, asked ?? Double(1 << (count - 1))))
  }
}
