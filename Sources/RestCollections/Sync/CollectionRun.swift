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
  private var visited = Set<String>()
  /// The next page is the first one of a walk that begins again.
  private var startsAgain = false
  /// A stored token was sent with the first request, which may have expired.
  private var usesToken: Bool

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
    reader = PageReader(target)
    tracker = WatermarkTracker(target, start: memory.known.watermark, isIncremental: plan.isIncremental)
    let settings = connection.settings, origins = settings.allowOrigins.map(\.origin)
    if let cursor {
      walk = PageWalk(target, base: settings.baseURL, allowedOrigins: origins, maxPages: .max, resuming: cursor.walk)
      tracker.resume(cursor.tracker)
    } else {
      do throws(URITemplate.Problem) {
        walk = try PageWalk(target, base: settings.baseURL, allowedOrigins: origins, maxPages: .max, scope: plan.scope)
      } catch {
        throw SyncError(error)
      }
    }
    timer = WalkTimer(startedMs: cursor?.startedMs ?? nowMs, elapsedMs: cursor?.elapsedMs ?? 0)
    validators = [:]
    if target.incremental.mode.validates(isFirstPage: true), !isOtherAccount, context.mode != .refresh {
      let kept = try await context.store.read { [id = context.syncId] in try $0.syncPages(of: id) }
      validators = kept.compactMapValues { (try? JSONValue(parsing: $0)).flatMap { PageValidator($0, target) } }
    }
    if case .token = plan.scope { usesToken = cursor == nil } else { usesToken = false }
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
      let known = target.incremental.mode.validates(isFirstPage: isFirst) ? validators[name] : nil
      let response: ConnectionResponse
      do {
        response = try await client.page(request, known?.conditions ?? [])
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

  /// - Returns: An empty page where the failure is the end of the list; nil when the walk goes on with another request.
  private func afterFailure(_ error: RestError, _ request: PageRequest) async throws -> SyncDownPage? {
    guard error.code == .httpStatus, let status = error.status else { throw error }
    let answer = PageAnswer(url: request.url, status: status, headers: error.headers), isEmpty = error.body?.isEmpty ?? true
    if usesToken, let full = RunPlan.afterExpiry(target, answer, bodyIsEmpty: isEmpty) {
      try restartWithoutToken(full)
      return nil
    }
    switch walk.failed(answer, bodyIsEmpty: isEmpty) {
    case .restart:
      startsAgain = true
      return nil
    case .end(let end):
      var page = SyncDownPage(parts: [nil], totalSize: Int(clamping: walk.totalSize))
      page.notes = ended(end, PageNotes())
      return page
    default: throw error
    }
  }

  /// The server has forgotten the token: everything is read, and marks of the time between are gone.
  private func restartWithoutToken(_ full: RunPlan) throws {
    plan = full
    usesToken = false
    startsAgain = true
    memory.known.token = nil
    do throws(URITemplate.Problem) {
      walk = try PageWalk(
        target, base: walk.first.base, allowedOrigins: walk.urls.allowedOrigins, maxPages: .max, scope: full.scope)
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
    if target.incremental.mode.validates(isFirstPage: wasFirst) {
      notes.kept = PageValidator(found, next: step.next).map { (name, $0.json(target)) }
      if target.incremental.mode != .etag { notes.pages = [name] }
    }
    notes = follow(step, notes, &page)
    page.totalSize = Int(clamping: walk.totalSize)
    page.notes = notes
    return page
  }

  private func shape(_ found: CollectionPage, _ response: ConnectionResponse) async throws -> ShapedRecords {
    let shaper = ItemShaper(target: target, context: context)
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
    if target.incremental.mode == .etag { notes.pages = visited }
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

/// How long a walk has taken, over all runs that had a part in it.
struct WalkTimer: Sendable {
  /// By the wall clock, ms since 1970 UTC.
  let startedMs: Int64
  private let before: Int64
  private let began = ContinuousClock.now

  init(startedMs: Int64, elapsedMs: Int64) {
    self.startedMs = startedMs
    before = elapsedMs
  }

  /// On a clock that does not jump.
  var elapsedMs: Int64 { before + began.duration(to: .now).milliseconds }
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
    return min(60, asked ?? Double(1 << (count - 1)))
  }
}
