import JSON
import MobileSync
import RestClient
import SmartStore

/// Reads the list of a collection from its beginning, for a comparison with the soup: with the requests of a first run, and
/// without any of its progress, details and conditional requests.
actor CollectionInventory {
  private let target: RestTarget
  private let client: CollectionClient
  private let context: FetchContext
  private let reader: PageReader
  private var walk: PageWalk
  private let computes: Bool

  /// - Parameter level: With ``VerifyLevel/content``, members that a function of a script computes are computed.
  /// - Throws: ``SyncError`` `.notSupported` if a function computes members from details, which only a run fetches.
  init(_ target: RestTarget, _ connection: RestConnection, _ level: VerifyLevel, _ context: FetchContext) throws {
    computes = level == .content && target.transform != nil
    guard !computes || target.detail == nil else {
      throw SyncError(
        .notSupported,
        "rest target: 'transform' computes members from 'detail', which only a run fetches; compare with the level 'ids'")
    }
    self.target = target
    self.context = context
    // As in a search for ghosts, a cache must not answer.
    client = CollectionClient(target, connection, context, cache: .reload)
    reader = PageReader(target, storing: context.plan, now: context.configuration.now)
    let settings = connection.settings
    do throws(URITemplate.Problem) {
      walk = try PageWalk(
        target, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin), scope: target.incremental.wholeList)
    } catch {
      throw SyncError(error)
    }
  }

  /// Returns the current page; nil if the list has ended before it.
  /// - Throws: ``SyncError`` `.unexpectedAnswer` if records may be missing.
  func page() async throws -> SyncDownPage? {
    var pauses = PendingPauses()
    while true {
      let response: ConnectionResponse
      do {
        response = try await client.page(walk.request, expecting: walk.pageNumber > 1 ? target.paging.endStatuses : [])
      } catch let error as RestError {
        let answer = PageAnswer(url: walk.request.url, status: error.status ?? 0, headers: error.headers)
        guard error.code == .httpStatus, let step = walk.failed(answer, bodyIsEmpty: error.body?.isEmpty ?? true) else {
          throw error
        }
        guard try goesOn(step) else { return nil }
        continue
      }
      let page = try reader.read(response, number: walk.pageNumber)
      guard !page.hasNamelessItems else { throw incomplete("page \(page.number) has an item without a usable id") }
      let step = walk.accept(page)
      if case .again = step {
        try await client.connection.wait(seconds: pauses.next(response, target, nowMs: context.configuration.now()))
        continue
      }
      var made = SyncDownPage(parts: [try await records(of: page, response)], totalSize: -1)
      if try goesOn(step) { made.next = { try await self.page() } }
      return made
    }
  }

  private func records(of page: CollectionPage, _ response: ConnectionResponse) async throws -> ScannedPage? {
    let shaper = ItemShaper(target: target, context: context, client: client, marks: DetailMarks([:]))
    return try await shaper.listed(page, response, computes: computes)
  }

  /// Returns whether another page follows.
  private func goesOn(_ step: PageWalk.Step) throws -> Bool {
    switch step {
    case .next, .again, .restart: return true
    case .pause: throw SyncError(.unexpectedAnswer, "rest target: the list has more than \(PageWalk.defaultMaxPages) pages")
    case .fail(let error): throw SyncError(error)
    case .end(let end):
      guard end.completeness != .incomplete else { throw incomplete("records moved between the pages each time it was read") }
      return false
    }
  }

  private func incomplete(_ why: String) -> SyncError {
    SyncError(
      .unexpectedAnswer, "rest target: the list does not show all records, so it cannot be compared: \(why)", isRetryable: true)
  }
}

extension RestSyncDownTarget {
  var whyNotComparable: String? {
    guard target.ghosts.mode != .fullList else { return nil }
    return
      "only a list of all records can be compared; if the URL gives one, set \"ghosts\": {\"mode\": \"fullList\"} in the target"
  }

  var sendsWholeRecords: Bool { !target.isPartial && target.detail == nil }

  var bringsEverything: Bool {
    switch target.incremental.mode {
    case .full, .hash, .etag: true
    case .param, .sorted, .token: false
    }
  }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    guard ids == nil else { return nil }
    return try await CollectionInventory(target, connection(), level, context).page()
  }

  /// The whole list was just read, so the records are asked for one by one where that is possible.
  func whereabouts(of lacking: [[LackingRecord]], in context: FetchContext) async throws -> [[Whereabouts]] {
    guard let records = lacking.first, !records.isEmpty else { return lacking.map { _ in [] } }
    return [try await ghosts(context).whereabouts(of: records.map(\.id))]
  }
}
