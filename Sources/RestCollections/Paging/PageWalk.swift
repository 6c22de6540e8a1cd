import JSON

/// Walks through the pages of a list: accepts each page and returns the next request. A pure value:
/// it uses no network and no clock.
struct PageWalk: Sendable {
  let target: RestTarget
  let first: FirstRequest
  let urls: NextURL
  private(set) var state: WalkState
  /// A warning for the log, such as a damaged `Link` header.
  private(set) var warning: String?
  private let maxPages: Int
  private var pagesOfThisRun = 0

  /// What follows a page. The page must be stored first in every case.
  enum Step: Sendable, Equatable {
    case next(PageRequest)
    /// The run has reached its page limit. The cursor is stored, and a later run continues with
    /// this request.
    case pause(PageRequest)
    /// The server is still computing the list: repeat the request after a pause.
    case again(PageRequest)
    /// Start over from the first page, because a cursor expired or rows were missing. Received
    /// records are kept.
    case restart(PageRequest)
    case end(End)
    case fail(RestPageError)
  }

  /// The result of a finished walk.
  struct End: Sendable, Equatable {
    let completeness: Completeness
    /// The number of distinct ids received; nil if they were not counted.
    let differentIds: Int?
  }

  /// Whether a finished walk has seen every row.
  enum Completeness: String, Sendable {
    case complete
    /// Rows are missing: neither ghosts nor the watermark may be derived from the walk.
    case incomplete
    /// Rows shift between pages, and nothing shows whether any were missed.
    case unverified
  }

  /// The default page limit of a run: an endless list must not fill the disk.
  static let defaultMaxPages = 10_000
  /// How often an incomplete walk is repeated.
  static let repetitions = 2

  /// - Parameters:
  ///   - base: The connection's base URL.
  ///   - allowedOrigins: See ``NextURL``.
  ///   - scope: What the run requests.
  /// - Throws: `URITemplate.Problem` for a missing value.
  init(
    _ target: RestTarget, base: String, allowedOrigins: [String] = [], maxPages: Int = defaultMaxPages,
    scope: FirstRequest.Scope
  ) throws(URITemplate.Problem) {
    self.target = target
    self.maxPages = maxPages
    first = FirstRequest(target: target, base: base)
    urls = NextURL(target: target, base: base, allowedOrigins: allowedOrigins)
    state = WalkState(first: try first.request(scope))
    _ = state.loops.follow(request.url)
  }

  /// Continues from a stored cursor.
  init(
    _ target: RestTarget, base: String, allowedOrigins: [String] = [], maxPages: Int = defaultMaxPages,
    resuming state: WalkState
  ) {
    self.target = target
    self.maxPages = maxPages
    first = FirstRequest(target: target, base: base)
    urls = NextURL(target: target, base: base, allowedOrigins: allowedOrigins)
    self.state = state
  }

  /// The request for the current page.
  var request: PageRequest { target.paging.request(state.position, first: state.first) }

  /// The number of the current page, from 1.
  var pageNumber: Int { state.pages + 1 }

  /// Returns what to do after a page.
  mutating func accept(_ page: CollectionPage) -> Step {
    if page.isPending { return .again(request) }
    pagesOfThisRun += 1
    return pausing(follow(page))
  }

  /// Returns what to do after a 304: the page is unchanged since the last run, so its next page is
  /// known.
  mutating func acceptUnchanged(_ known: PageValidator) -> Step {
    pagesOfThisRun += 1
    state.noteUnchanged(items: known.items)
    guard let next = known.next, let position = target.paging.position(ofURL: next, base: first.base) else {
      return finishSegment()
    }
    do {
      return pausing(try go(to: position, after: state.pages))
    } catch {
      return .fail(error)
    }
  }

  private func pausing(_ step: Step) -> Step {
    guard case .next(let request) = step, pagesOfThisRun >= maxPages else { return step }
    return .pause(request)
  }

  private mutating func follow(_ page: CollectionPage) -> Step {
    if state.pages == 0 { state.estimate = estimatedTotal(page) }
    let isFirst = state.position == .first, newIds = state.note(page, countingIds: countsIds)
    if target.paging.overlap > 0, !isFirst, !page.ids.isEmpty, newIds == page.ids.count { state.lacksOverlap = true }
    do {
      if let error = repeatedPage(page) { return .fail(error) }
      guard !isEnd(page, newIds: newIds) else { return finishSegment() }
      guard let next = try following(page) else {
        try checkEnd(page)
        return finishSegment()
      }
      if let cap = target.paging.maxItems, state.segmentItems >= cap { return nextSegment(cap) }
      return try go(to: next, after: page.number)
    } catch {
      return .fail(error)
    }
  }

  private var countsIds: Bool {
    target.paging.style == .keyset || target.paging.overlap > 0 || target.items.totalPath != nil
  }

  /// Handles an error response: the end of the list or an expired cursor. Returns nil if it is
  /// neither.
  ///
  /// - Parameter bodyIsEmpty: Whether the response has no body.
  mutating func failed(_ answer: PageAnswer, bodyIsEmpty: Bool) -> Step? {
    guard state.position != .first else { return nil }
    if target.paging.endStatuses.contains(answer.status), answer.decides(bodyIsEmpty: bodyIsEmpty) { return finishSegment() }
    let isCursor: Bool
    switch state.position {
    case .url, .token: isCursor = target.paging.style != .keyset
    default: isCursor = false
    }
    guard isCursor, [400, 404, 410, 422].contains(answer.status), answer.isAboutTheCursor(bodyIsEmpty: bodyIsEmpty),
      !state.hasRestarted
    else { return nil }
    state.hasRestarted = true
    return restart()
  }

  /// Ends a `sorted` run that has reached the watermark: the rest of the list is known.
  func endAtWatermark() -> End { End(completeness: .unverified, differentIds: nil) }

  private func isEnd(_ page: CollectionPage, newIds: Int) -> Bool {
    let paging = target.paging
    if page.facts.hasMore == false || page.facts.isEnd == true { return true }
    if paging.endsEmpty, page.itemCount == 0 { return true }
    // The server keeps returning the tail of the list.
    return newIds == 0 && (paging.style == .keyset || paging.overlap > 0)
  }

  /// - Throws: if the page says that others follow but does not say where.
  private func checkEnd(_ page: CollectionPage) throws(RestPageError) {
    let paging = target.paging
    guard page.facts.hasMore == true || page.facts.isEnd == false, paging.styleNeedsContinuation else { return }
    let key = page.facts.hasMore == true ? "hasMorePath" : "endPath"
    throw target.pageError(.wrongShape, page.number, "'\(key)' says that the list goes on, but the page does not say where")
  }

  /// Detects a server that ignores the page parameter and keeps returning the first page.
  private mutating func repeatedPage(_ page: CollectionPage) -> RestPageError? {
    guard target.paging.style == .page || target.paging.style == .offset, !page.ids.isEmpty else { return nil }
    let hash = StableHash.of(page.ids.joined(separator: "\u{0}"))
    defer { state.lastPageHash = hash }
    guard hash == state.lastPageHash else { return nil }
    let name = target.paging.pageParam ?? target.paging.offsetParam ?? ""
    return target.pageError(
      .loop, page.number, "holds the same items as the page before; does the server know the parameter '\(name)'?")
  }

  private mutating func go(to next: WalkPosition, after page: Int) throws(RestPageError) -> Step {
    // Page numbers and offsets start again in each list beyond `maxItems`.
    let list = state.segmentSince.map { "\($0) " } ?? ""
    guard state.loops.follow(list + next.address) else {
      throw target.pageError(
        .loop, page, "the next page was requested before: the server's pages form a loop")
    }
    if case .url(let url, _) = next, target.paging.isURLBased, NextURL.differsByANumber(request.url, url) {
      state.shiftsSeen = true
    }
    state.position = next
    return .next(request)
  }

  // MARK: The next position

  private mutating func following(_ page: CollectionPage) throws(RestPageError) -> WalkPosition? {
    let paging = target.paging
    switch paging.style {
    case .none: return nil
    case .link:
      let header = LinkHeader(page.answer.values(of: "Link"))
      if header.isDamaged { warning = target.pageError(.wrongShape, page.number, "the Link header is damaged").description }
      return try header.target(of: paging.relation, responseURL: page.answer.url).map { url throws(RestPageError) in
        try position(url: url, page, "the link '\(paging.relation)'")
      }
    case .bodyUrl: return try position(url: page.facts.next, page, "'nextPath' (\(paging.nextPath?.text ?? ""))")
    case .header where paging.pageParam == nil:
      return try position(url: FactValue(header: page.answer.header(paging.nextHeader ?? "")), page, "'nextHeader'")
    case .header:
      return try cursor(FactValue(header: page.answer.header(paging.nextHeader ?? "")), page, "'nextHeader'")
    case .cursor: return try cursor(page.facts.cursor, page, "'cursorPath' (\(paging.cursorPath?.text ?? ""))")
    case .keyset: return try token(page.facts.after, page, "'afterField' (\(paging.afterField?.text ?? ""))")
    case .page: return nextPage(page)
    case .offset: return nextOffset(page)
    }
  }

  private func nextPage(_ page: CollectionPage) -> WalkPosition? {
    var number = target.paging.firstPage
    if case .page(let current) = state.position { number = current }
    if let last = page.facts.totalPages, Int64(number) >= last { return nil }
    return .page(number + 1)
  }

  private func nextOffset(_ page: CollectionPage) -> WalkPosition? {
    var offset = 0
    if case .offset(let current) = state.position { offset = current }
    let reached = offset + page.itemCount
    if let total = page.facts.total, Int64(reached) >= total { return nil }
    let next = reached - target.paging.overlap
    return next > offset ? .offset(next) : nil
  }

  /// Returns the position after a cursor. A cursor that is the number 0 ends the list: nothing lies
  /// before the first page. The text `0` does so among numbers.
  private func cursor(_ fact: FactValue, _ page: CollectionPage, _ key: String) throws(RestPageError) -> WalkPosition? {
    switch (fact, state.position) {
    case (.number(let digits), _) where FactValue.isZero(digits): return nil
    case (.text("0"), .token(let last)) where last.text.utf8.allSatisfy(\.isASCIIDigit): return nil
    default: return try token(fact, page, key)
    }
  }

  private func token(_ fact: FactValue, _ page: CollectionPage, _ key: String) throws(RestPageError) -> WalkPosition? {
    if let value = ParameterValue(fact) { return .token(value) }
    try check(fact, page, key)
    return nil
  }

  private func position(url fact: FactValue, _ page: CollectionPage, _ key: String) throws(RestPageError) -> WalkPosition? {
    if case .text(let url) = fact, !url.isEmpty { return try position(url: url, page, key) }
    if case .number = fact { throw target.pageError(.wrongShape, page.number, "\(key) leads to a number, not to a URL") }
    try check(fact, page, key)
    return nil
  }

  /// Missing, null, false and empty values mean the end of the list.
  private func check(_ fact: FactValue, _ page: CollectionPage, _ key: String) throws(RestPageError) {
    guard fact == .other || fact == .flag(true) else { return }
    throw target.pageError(
      .wrongShape, page.number, "\(key) leads to \(fact == .other ? "an array or an object" : "true"), not to text")
  }

  private func position(url: String, _ page: CollectionPage, _ key: String) throws(RestPageError) -> WalkPosition {
    do {
      let found = try urls.prepared(url, from: page.answer.url, first: state.first.url)
      return .url(found.url, isForeign: found.isForeign)
    } catch {
      throw target.pageError(error.code, page.number, "\(key) \(error.description)")
    }
  }

  /// Returns where a later run in the mode `token` starts, to store with the page that carries it;
  /// nil if the page has none. A URL is stored in full but without the target's secrets.
  func token(of page: CollectionPage) throws(RestPageError) -> String? {
    guard let token = page.facts.token else { return nil }
    guard target.incremental.tokenParam == nil else { return token }
    do {
      return SecretParameters(target).removed(from: try urls.prepared(token, from: page.answer.url, first: state.first.url).url)
    } catch {
      throw target.pageError(
        error.code, page.number, "'tokenPath' (\(target.incremental.tokenPath?.text ?? "")) \(error.description)")
    }
  }

  // MARK: The end

  private mutating func restart() -> Step {
    state.restart()
    _ = state.loops.follow(request.url)
    return .restart(request)
  }

  /// Ends the current list. A list that ends exactly at the server's cap was cut there.
  private mutating func finishSegment() -> Step {
    if let cap = target.paging.maxItems, state.segmentItems >= cap {
      let isWhole = state.segmentTotal.map { $0 <= Int64(state.segmentItems) } ?? false
      if !isWhole { return nextSegment(cap) }
    }
    if target.paging.style == .none, let total = state.largestTotal, total > Int64(state.items) {
      return .fail(
        target.pageError(
          .cutList, state.pages,
          "the list is incomplete: \(state.items) items were received, but 'totalPath' says \(total); set 'paging'"))
    }
    let completeness = self.completeness
    if completeness == .incomplete, state.walks < PageWalk.repetitions {
      state.walks += 1
      return restart()
    }
    return .end(End(completeness: completeness, differentIds: countsIds && !state.lacksIds ? state.ids.count : nil))
  }

  /// Whether rows move between the pages of this walk, as far as known.
  var shifts: Bool {
    let paging = target.paging
    return paging.shifts ?? (paging.style == .page || paging.style == .offset || state.shiftsSeen)
  }

  private var completeness: Completeness {
    if state.lacksOverlap { return .incomplete }
    if target.paging.maxItems != nil { return .unverified }
    guard shifts else { return .complete }
    guard let total = state.largestTotal, !state.lacksIds else { return .unverified }
    return Int64(state.ids.count) >= total ? .complete : .incomplete
  }

  /// Requests the rest of the list by date, because the server returns no more of it.
  private mutating func nextSegment(_ cap: Int) -> Step {
    func stuck(_ why: String) -> Step {
      .fail(target.pageError(.resultCap, state.pages, "the server returns only \(cap) items of a list ('maxItems'), and \(why)"))
    }
    guard let since = state.lastDate else { return stuck("the last one has no date to continue from") }
    if let before = state.segmentSince, since <= before { return stuck("all of them have the same date") }
    do {
      state.beginSegment(try first.request(.since(since)), since: since)
    } catch {
      return stuck("the next request \(error.description)")
    }
    guard state.loops.follow(request.url) else { return stuck("the next request would be the same") }
    return .next(request)
  }
}
