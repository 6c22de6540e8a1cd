import JSON
import MobileSync
import RestClient

/// Finds the objects of a class that the server no longer has or no longer shows.
struct ParseGhosts: Sendable {
  let target: ParseSyncDownTarget
  let exchange: ParseExchange
  let context: FetchContext

  /// Returns the ids to keep, for each soup.
  ///
  /// - Parameter localIds: The ids of entries without local changes.
  /// - Throws: ``SyncError`` `.tooManyGhosts`; `RestError` for a refused request, which says
  ///   nothing about any object.
  func remote(among localIds: [[String]]) async throws -> [IdSet] {
    let owners = localIds[0].isEmpty ? [] : try await owners(localIds[0])
    let missing = try await missingOwners(localIds)
    let links = target.linkSoups.indices.map { i in
      // A link row without its owner is useless. Other changes of relations are detected through
      // their owners.
      let gone = IdSet(localIds[0]).subtracting(owners).union(missing[i])
      return IdSet(localIds[1 + i].filter { key in LinkRow.owner(ofKey: key).map { !gone.contains($0.id) } ?? true })
    }
    var included: [IdSet] = []
    for (i, soup) in target.includeSoups.enumerated() {
      let place = 1 + target.linkSoups.count + i
      guard let rule = target.rules.include.first(where: { $0.soup == soup }) else { continue }
      let remote = try await present(localIds[place], in: rule.className, .always)
      included.append(try guarded(localIds[place], remote, rule.className))
    }
    return [owners] + links + included
  }

  /// Returns whether the server has some objects, without the target's condition. Link rows exist
  /// with their owners.
  ///
  /// - Throws: ``SyncError`` `.tooManyGhosts`; `RestError`.
  func existence(of ids: [String], mapping: Int) async throws -> [RecordExistence] {
    guard let className = className(ofMapping: mapping) else { return ids.map { _ in .unknown } }
    let found = try await present(ids, in: className, .always)
    try check(gone: ids.count { !found.contains($0) }, of: ids.count, className)
    return ids.map { found.contains($0) ? .present : .gone }
  }

  /// Returns the class of a soup's objects; nil for link rows.
  private func className(ofMapping mapping: Int) -> String? {
    if mapping == 0 { return target.target.className }
    let place = mapping - 1 - target.linkSoups.count
    guard target.includeSoups.indices.contains(place) else { return nil }
    return target.rules.include.first { $0.soup == target.includeSoups[place] }?.className
  }

  private func check(gone: Int, of count: Int, _ className: String) throws {
    let ghosts = GhostGuard(largestShare: Tuning.largestGhostShare)
    guard ghosts.refuses(gone: gone, of: count, isForced: context.isForced) else { return }
    throw SyncError(
      .tooManyGhosts,
      "\(ParseTarget.label): \(gone) of \(count) rows of class '\(className)' are gone from the server or hidden, "
        + "more than half; if that is right, clean with force = true")
  }

  /// Returns the owners of link rows that were deleted locally, one set for each soup of link rows.
  private func missingOwners(_ localIds: [[String]]) async throws -> [IdSet] {
    let clean = IdSet(localIds[0]), className = target.target.className, soup = context.soup, idField = ParseTarget.fields.id
    let named = target.linkSoups.indices.map { i in
      let owners = localIds[1 + i].compactMap(LinkRow.owner).filter { $0.className == className }.map(\.id)
      return IdSet(owners).subtracting(clean)
    }
    guard named.contains(where: { !$0.isEmpty }) else { return named }
    return try await context.store.read { snapshot in
      try named.map { ids in
        let asked = Array(ids)
        let found = try asked.isEmpty ? [] : snapshot.entryIds(in: soup, where: idField, equalsEach: asked.map { .text($0) })
        return IdSet(zip(asked, found).compactMap { $1.isEmpty ? $0 : nil })
      }
    }
  }

  private func owners(_ localIds: [String]) async throws -> IdSet {
    let className = target.target.className, condition = target.query.condition, remote: IdSet
    switch target.rules.ghosts {
    case .none: return IdSet(localIds)
    case .check: remote = try await present(localIds, in: className, condition)
    case .walk:
      var query = target.query
      query.keys = ["objectId"]
      query.include = []
      remote = IdSet(try await exchange.ids(KeysetWalk(query, by: .id, pageSize: target.rules.pageSize)))
    }
    return try guarded(localIds, remote, className)
  }

  /// - Throws: ``SyncError`` `.tooManyGhosts` if more rows are gone than is plausible, unless the
  ///   removal is forced.
  private func guarded(_ localIds: [String], _ remote: IdSet, _ className: String) throws -> IdSet {
    try check(gone: localIds.count { !remote.contains($0) }, of: localIds.count, className)
    return remote
  }

  private func present(_ ids: [String], in className: String, _ condition: ParseCondition) async throws -> IdSet {
    IdSet(try await exchange.objects(ids, in: className, keys: ["objectId"], chunk: Tuning.presenceIds, condition).keys)
  }
}
