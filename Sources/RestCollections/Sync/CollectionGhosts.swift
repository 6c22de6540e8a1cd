import JSON
import MobileSync
import RestClient

/// Finds the records of a collection that the server no longer has.
struct CollectionGhosts: Sendable {
  let target: RestTarget
  let connection: RestConnection
  /// The connection that reads single records.
  let records: RestConnection
  let context: FetchContext

  /// How many candidates one search checks individually; the others wait for the next search.
  private static let readAtOnce = 100

  /// Returns the ids to keep.
  ///
  /// - Parameter localIds: The ids of entries without local changes.
  /// - Throws: ``SyncError`` `.tooManyGhosts`; `RestError` for a refused request, which says
  ///   nothing about any record.
  func remote(among localIds: [String]) async throws -> IdSet {
    switch target.ghosts.mode {
    case .none: return IdSet(localIds)
    case .perId: return try checked(localIds, IdSet(try await existing(localIds)))
    case .fullList: return try await byWalks(localIds)
    }
  }

  /// Returns whether the server has some records that no sync down has brought. The list may leave
  /// out some that exist, so what it lacks is read by id, if the target can do that.
  ///
  /// - Throws: ``SyncError`` `.tooManyGhosts`, and `.unexpectedAnswer` if the list does not show it; `RestError` for a refused
  ///   request.
  func existence(of ids: [String]) async throws -> [RecordExistence] {
    var unknown = IdSet(), present = IdSet()
    switch target.ghosts.mode {
    case .none: return ids.map { _ in .unknown }
    case .perId: present = IdSet(try await existing(ids))
    case .fullList:
      let first = try await walk()
      present = first.ids
      let candidates = ids.filter { !present.contains($0) }
      if target.up?.read != nil {
        present.formUnion(try await existing(Array(candidates.prefix(CollectionGhosts.readAtOnce))))
        unknown = IdSet(candidates.dropFirst(CollectionGhosts.readAtOnce))
      } else if !candidates.isEmpty, confirmation(first) == .walks {
        present.formUnion(try await walk().ids)
      }
    }
    _ = try checked(ids, present.union(unknown))
    return ids.map { unknown.contains($0) ? .unknown : present.contains($0) ? .present : .gone }
  }

  /// Returns what became of records that a list of all records lacks. One that can still be read has only left the list, such
  /// as a closed issue: it stays.
  ///
  /// - Throws: ``SyncError`` `.unexpectedAnswer` if the list does not show it; `RestError` for a refused request.
  func whereabouts(of ids: [String]) async throws -> [Whereabouts] {
    guard target.up?.read == nil else {
      let asked = Array(ids.prefix(CollectionGhosts.readAtOnce)), present = IdSet(try await existing(asked))
      return ids.enumerated().map { i, id in i >= asked.count ? .unknown : present.contains(id) ? .sent : .deleted }
    }
    let again = try await walk().ids
    return ids.map { again.contains($0) ? .sent : .unknown }
  }

  // MARK: Reading the whole list

  private func byWalks(_ localIds: [String]) async throws -> IdSet {
    let first = try await walk()
    let candidates = localIds.filter { !first.ids.contains($0) }
    guard !candidates.isEmpty else { return first.ids }
    _ = try checked(localIds, first.ids)
    var alive = first.ids
    switch confirmation(first) {
    case .none: break
    case .read:
      let asked = candidates.prefix(CollectionGhosts.readAtOnce)
      alive.formUnion(try await existing(Array(asked)))
      alive.formUnion(candidates.dropFirst(asked.count))
    case .walks:
      alive.formUnion(try await walk().ids)
    }
    return alive
  }

  private func confirmation(_ walk: Walked) -> GhostRules.Confirmation {
    // A record that can still be read may have left the list, such as a closed issue.
    target.ghosts.confirmation ?? (walk.shifts ? .walks : .none)
  }

  private struct Walked {
    var ids = IdSet()
    var shifts = false
  }

  /// Reads the list with the requests of a first run.
  ///
  /// - Throws: ``SyncError`` `.unexpectedAnswer` if the walk does not show which rows are gone.
  private func walk() async throws -> Walked {
    let client = CollectionClient(target, connection, context), reader = PageReader(target), settings = connection.settings
    var walk = try PageWalk(
      target, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin),
      scope: target.incremental.wholeList)
    var walked = Walked(), pauses = PendingPauses()
    while true {
      let step = try await next(&walk, &walked, &pauses, client, reader)
      switch step {
      case .next, .again: continue
      case .restart: walked.ids = []
      case .pause:
        throw SyncError(.unexpectedAnswer, "rest target: the list has more than \(PageWalk.defaultMaxPages) pages")
      case .fail(let error): throw SyncError(error)
      case .end(let end):
        guard end.completeness != .incomplete else {
          throw CollectionGhosts.unknown("records moved between the pages each time the list was read")
        }
        walked.shifts = walk.shifts
        return walked
      }
    }
  }

  private static func unknown(_ why: String) -> SyncError {
    SyncError(
      .unexpectedAnswer, "rest target: \(why), so it is unknown which rows are gone; no rows were removed", isRetryable: true)
  }

  private func next(
    _ walk: inout PageWalk, _ walked: inout Walked, _ pauses: inout PendingPauses, _ client: CollectionClient,
    _ reader: PageReader
  ) async throws -> PageWalk.Step {
    let response: ConnectionResponse
    do {
      response = try await client.page(walk.request, expecting: walk.pageNumber > 1 ? target.paging.endStatuses : [])
    } catch let error as RestError {
      let answer = PageAnswer(url: walk.request.url, status: error.status ?? 0, headers: error.headers)
      guard error.code == .httpStatus, let step = walk.failed(answer, bodyIsEmpty: error.body?.isEmpty ?? true) else {
        throw error
      }
      return step
    }
    let page = try reader.read(response, number: walk.pageNumber)
    guard !page.hasNamelessItems else {
      let flagged = page.flagged.first { $0.id == nil }
      throw CollectionGhosts.unknown(
        "page \(page.number) of the list has an item without a usable id (\(flagged?.reason ?? ""))")
    }
    // Invalid items exist on the server as well.
    walked.ids.formUnion(page.ids)
    walked.ids.subtract(page.removed)
    walked.ids.subtract(page.excluded)
    let step = walk.accept(page)
    if case .again = step {
      try await connection.wait(seconds: pauses.next(response, target, nowMs: context.configuration.now()))
    }
    return step
  }

  // MARK: Reading single records

  /// Returns those records that the server still has.
  private func existing(_ ids: [String]) async throws -> [String] {
    guard let read = target.up?.read else { return ids }
    let client = CollectionClient(target, self.records, context, cache: .bypass)
    let records = try await context.records(ids)
    var existing: [String] = []
    for id in ids {
      guard let record = records[id] else { continue }
      if try await !read.isGone(id, record, target, client) { existing.append(id) }
    }
    return existing
  }

  /// - Throws: ``SyncError`` `.tooManyGhosts` if more rows are gone than the target allows, unless
  ///   the removal is forced.
  private func checked(_ localIds: [String], _ remote: IdSet) throws -> IdSet {
    let gone = localIds.count { !remote.contains($0) }
    if let refusal = target.ghosts.refusal(gone: gone, of: localIds.count, isForced: context.isForced) { throw refusal }
    return remote
  }
}

extension GhostRules {
  /// Returns ``SyncError`` `.tooManyGhosts` if more rows are gone than the target allows, unless
  /// the removal is forced.
  func refusal(gone: Int, of count: Int, isForced: Bool) -> SyncError? {
    guard GhostGuard(largestShare: maxRatio).refuses(gone: gone, of: count, isForced: isForced) else { return nil }
    return SyncError(
      .tooManyGhosts,
      "rest target: \(gone) of \(count) rows are gone from the server, more than 'maxRatio' (\(maxRatio)) "
        + "allows; if that is right, clean with force = true")
  }
}
