import JSON
import MobileSync
import RestClient

/// A sync down target that reads a class of a Parse server in the order of modification.
struct ParseSyncDownTarget: SyncDownTarget {
  let target: ParseTarget
  let rules: DownRules
  let query: ParseQuery
  private let connections: RestConnections?

  /// - Throws: ``SyncError`` `.invalidTarget`, which names the key.
  init(_ json: JSONObject, _ connections: RestConnections?) throws(SyncError) {
    target = try ParseTarget(json)
    rules = try DownRules(json, target)
    query = try rules.query(target)
    try ParseExchange.check(target.connection, connections)
    self.connections = connections
  }

  var json: JSONObject { target.json }
  var fields: TargetFields { ParseTarget.fields }
  var isSortedByModification: Bool { true }
  var isIncremental: Bool { true }
  var hasGhosts: Bool { rules.ghosts != .none }

  // MARK: Soups

  /// The relations that this target keeps current.
  var refreshed: [RelationRule] { target.ownRelations.filter { $0.refresh != .never } }

  /// The soups of link rows, without duplicates.
  var linkSoups: [String] {
    refreshed.reduce(into: []) { soups, rule in
      if case .links(let soup) = rule.storage, !soups.contains(soup) { soups.append(soup) }
    }
  }

  /// The soups of included objects, without duplicates.
  var includeSoups: [String] {
    rules.include.compactMap(\.soup).reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }

  /// Returns the soups of records, of link rows and of included objects, in this order.
  func mappings(_ soupName: String) -> [SoupMapping] {
    [SoupMapping(soup: soupName, fields: fields)]
      + linkSoups.map { SoupMapping(soup: $0, fields: LinkRow.fields, isCompanion: true) }
      + includeSoups.map { soup in
        var mapping = SoupMapping(soup: soup, fields: fields, isCompanion: true)
        mapping.reportsGhosts = true
        return mapping
      }
  }

  // MARK: Fetching

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    let exchange = try ParseExchange(connections, named: target.connection, context.control)
    let run = try await ParseDownRun(self, exchange, context, since: since), page = try await run.firstPage()
    guard try await run.wasRenewed() else { return page }
    return try await ParseDownRun(self, exchange, context, since: since).firstPage()
  }

  var sendsWholeRecords: Bool { rules.columns == nil }

  /// Ids are those of the class alone.
  func comparedMappings(_ level: VerifyLevel, of mappings: [SoupMapping]) -> Int { level == .content ? mappings.count : 1 }

  /// Objects are read in the order of their ids, so that none is missed that changes meanwhile.
  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    let exchange = try ParseExchange(connections, named: target.connection, context.control)
    return try await ParseInventory(self, exchange, context, of: ids, level)?.page(after: nil)
  }

  func serverCount(in context: FetchContext) async throws -> [Int]? {
    guard rules.include.isEmpty, linkSoups.isEmpty, target.deletedField == nil else { return nil }
    let exchange = try ParseExchange(connections, named: target.connection, context.control)
    return try await ParseInventory.count(query, exchange).map { [$0] }
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    let exchange = try ParseExchange(connections, named: target.connection, context.control)
    return try await ParseGhosts(target: self, exchange: exchange, context: context).remote(among: localIds)
  }

  func existence(
    of ids: [String], type: String, mapping: Int, in context: FetchContext
  ) async throws -> [RecordExistence] {
    let exchange = try ParseExchange(connections, named: target.connection, context.control)
    return try await ParseGhosts(target: self, exchange: exchange, context: context).existence(of: ids, mapping: mapping)
  }
}
