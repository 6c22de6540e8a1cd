import JSON
import MobileSync
import RestClient
import SmartStore

/// Runs a sync down of a class, one page at a time; each page begins after the last row of the one
/// before.
///
/// The position of that row is stored with the page, so that a killed run continues there.
actor ParseDownRun {
  private let target: ParseSyncDownTarget
  private let exchange: ParseExchange
  private let context: FetchContext
  private let editor: PageEditor
  private let walk: KeysetWalk
  private var memory: DownMemory
  private let start: KeysetWalk.Position?
  /// The total from the first response; nil without a count.
  private var total: Int?
  private var received = 0
  private var warnings: [String] = []
  /// The positions that the pages ended at.
  private var trail = PageTrail()

  /// - Parameter since: Reads only objects modified later, in ms since 1970 UTC; -1 for everything.
  init(_ target: ParseSyncDownTarget, _ exchange: ParseExchange, _ context: FetchContext, since: Int64) async throws {
    var memory = try DownMemory(context.mode == .refresh ? [:] : context.memory, target: target.json)
    let account = try await exchange.connection.accountMark(salt: memory.salt)
    // Another user may see other objects, which can have old time stamps.
    let isOther = memory.account != nil && memory.account != account
    memory.account = account
    let isContinued = context.mode == .more || !memory.isRecent
    start = isOther || !isContinued ? nil : memory.cursor
    let from = isOther || since < 0 ? nil : since - target.rules.overlapMs
    // After a cursor, the walk needs no lower bound.
    walk = KeysetWalk(
      target.query, by: .modification, since: start == nil ? from : nil, pageSize: target.rules.pageSize)
    self.target = target
    self.exchange = exchange
    self.context = context
    self.memory = memory
    editor = try await PageEditor(target, exchange, context, since: since)
    let settings = exchange.connection.settings
    if target.target.className == "_User", !settings.hasParseMasterKey, try await !exchange.connection.hasUserSession() {
      warnings.append(
        "users are private: without a session, the server omits those that only the users themselves may read; "
          + "give connection '\(settings.name)' a 'sessionToken'")
    }
  }

  func firstPage() async throws -> SyncDownPage {
    var query = walk.page(after: start)
    query.counts = !memory.mayNotCount
    do {
      return try await page(query)
    } catch let error as RestError where query.counts && ServerRefusal(error)?.code == ServerCode.operationForbidden.rawValue {
      // Counting may need a permission of its own.
      query.counts = false
      let found = try await page(query)
      memory.mayNotCount = true
      return found
    }
  }

  /// Whether the session ended and the first request was sent for another account.
  func wasRenewed() async throws -> Bool {
    try await exchange.connection.accountMark(salt: memory.salt) != memory.account
  }

  private func nextPage(after position: KeysetWalk.Position) async throws -> SyncDownPage {
    try await page(walk.page(after: position))
  }

  private func page(_ query: ParseQuery) async throws -> SyncDownPage {
    let clock = ContinuousClock(), sent = clock.now
    let response = try await exchange.query(query)
    let waited = sent.duration(to: clock.now)
    let serverTime = response.header("Date").flatMap { TimeStamp.milliseconds(httpDate: $0) }.map { $0 - waited.milliseconds }
    context.firstAnswer.note(serverTime)
    var edited = try await editor.edited(response)
    if let count = edited.announced { total = count }
    received += edited.count
    let end = try end(edited, query)
    memory.cursor = end == nil ? edited.last : nil
    memory.isRecent = memory.cursor.map { isRecent($0, serverTime) } ?? false
    edited.notes.memory = memory.json
    edited.notes.warnings = warnings
    warnings = []
    edited.notes.isPastTheEnd = edited.count == 0 && received > 0
    var page = SyncDownPage(
      parts: edited.parts, totalSize: total.map { max($0, received) } ?? -1, serverTime: serverTime)
    page.notes = edited.notes
    if end == nil, let last = edited.last {
      try follow(last)
      page.next = { try await self.nextPage(after: last) }
    }
    return page
  }

  /// - Throws: ``SyncError`` `.unexpectedAnswer` if the server ignores where a page begins.
  private func follow(_ last: KeysetWalk.Position) throws {
    do {
      try trail.follow("\(last.updatedAt ?? "") \(last.objectId)")
    } catch {
      throw SyncError(
        .unexpectedAnswer,
        "the server keeps sending the rows of class \(target.target.className) before '\(last.objectId)', so the list would "
          + "never end; this is an error of the server")
    }
  }

  private enum End { case empty, counted }

  /// Only an empty page ends the list, because a server may silently lower the limit, unless all
  /// counted rows have arrived. Rows added meanwhile have newer time stamps and come with the next
  /// run.
  private func end(_ page: EditedPage, _ query: ParseQuery) throws -> End? {
    if page.count == 0 { return .empty }
    if let total, received >= total, page.count < target.rules.pageSize { return .counted }
    guard page.last != nil else {
      throw SyncError(
        .unexpectedAnswer,
        "a row of class \(query.className) has no 'updatedAt' or no 'objectId', so the walk cannot continue after it")
    }
    return nil
  }

  private func isRecent(_ position: KeysetWalk.Position, _ serverTime: Int64?) -> Bool {
    guard let serverTime, let stamp = position.updatedAt.flatMap({ TimeStamp.milliseconds($0) }) else { return true }
    return stamp > serverTime - target.rules.overlapMs
  }
}
