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

  // MARK: Reading the whole list

  private func byWalks(_ localIds: [String]) async throws -> IdSet {
    let first = try await walk()
    guard first.completeness != .incomplete else { return IdSet(localIds) }
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
      let second = try await walk()
      guard second.completeness != .incomplete else { return IdSet(localIds) }
      alive.formUnion(second.ids)
    }
    return alive
  }

  private func confirmation(_ walk: Walked) -> GhostRules.Confirmation {
    if let chosen = target.ghosts.confirmation { return chosen }
    guard walk.shifts else { return .none }
    return target.up?.read == nil ? .walks : .read
  }

  private struct Walked {
    var ids = IdSet()
    var completeness = PageWalk.Completeness.unverified
    var shifts = false
  }

  /// Reads the list as in a first run.
  private func walk() async throws -> Walked {
    let client = CollectionClient(target, connection, context), reader = PageReader(target), settings = connection.settings
    var walk = try PageWalk(
      target, base: settings.baseURL, allowedOrigins: settings.allowOrigins.map(\.origin), scope: .all)
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
        walked.completeness = end.completeness
        walked.shifts = walk.shifts
        return walked
      }
    }
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
    // Invalid items exist on the server as well.
    walked.ids.formUnion(page.ids)
    walked.ids.subtract(page.removed)
    walked.ids.subtract(page.excluded)
    let step = walk.accept(page)
    if case .again = step { try await connection.wait(seconds: pauses.next(response, target)) }
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
