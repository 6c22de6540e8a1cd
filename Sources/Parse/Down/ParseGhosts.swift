import JSON
import MobileSync
import RestClient

/// Finds the objects of a class that the server no longer has, or no longer shows.
struct ParseGhosts: Sendable {
  let target: ParseSyncDownTarget
  let exchange: ParseExchange
  let context: FetchContext

  /// The ids that stay, by place.
  /// - Parameter localIds: Of entries without local changes.
  /// - Throws: ``SyncError`` `.tooManyGhosts`; `RestError` for a refusal, which says nothing about any object.
  func remote(among localIds: [[String]]) async throws -> [Set<String>] {
    let owners = localIds[0].isEmpty ? [] : try await owners(localIds[0])
    let links = target.linkSoups.indices.map { i in
      // A row without its owner leads nowhere. What else became of links is told by their owners.
      let gone = Set(localIds[0]).subtracting(owners)
      return Set(localIds[1 + i].filter { key in LinkRow.owner(ofKey: key).map { !gone.contains($0.id) } ?? true })
    }
    var included: [Set<String>] = []
    for (i, soup) in target.includeSoups.enumerated() {
      let place = 1 + target.linkSoups.count + i
      guard let rule = target.rules.include.first(where: { $0.soup == soup }) else { continue }
      included.append(try await present(localIds[place], in: rule.className, .always))
    }
    return [owners] + links + included
  }

  private func owners(_ localIds: [String]) async throws -> Set<String> {
    let className = target.target.className, condition = target.query.condition, remote: Set<String>
    switch target.rules.ghosts {
    case .none: return Set(localIds)
    case .check: remote = try await present(localIds, in: className, condition)
    case .walk:
      var query = target.query
      query.keys = ["objectId"]
      query.include = []
      remote = Set(try await exchange.ids(KeysetWalk(query, by: .id, pageSize: Tuning.largestPage)))
    }
    let gone = localIds.count { !remote.contains($0) }
    let ghosts = GhostGuard(largestShare: Tuning.largestGhostShare)
    guard !ghosts.refuses(gone: gone, of: localIds.count, isForced: context.isForced) else {
      throw SyncError(
        .tooManyGhosts,
        "\(ParseTarget.label): \(gone) of \(localIds.count) rows of class '\(className)' are gone from the server or hidden, "
          + "more than half; if that is right, clean with force = true")
    }
    return remote
  }

  private func present(_ ids: [String], in className: String, _ condition: Condition) async throws -> Set<String> {
    let queries = try ParseTarget.checked("className") { () throws(ParseProblem) in
      try ParseQuery.presence(of: ids, in: className, condition)
    }
    var present = Set<String>()
    for query in queries { present.formUnion(try await exchange.objects(query).compactMap { $0["objectId"]?.stringValue }) }
    return present
  }
}
