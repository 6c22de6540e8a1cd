import JSON
import MobileSync
import RestClient

/// Downloads parents with their children: one query, two soups. The counts are those of the parents.
///
/// A re-sync fetches changed parents with their changed children. It misses a changed child whose parent did not change.
///
/// - Note: Source: Mobile SDK, `ParentChildrenSyncDownTarget`. Here the pages of nested children are followed, too.
struct ParentChildrenSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let info: ParentChildrenInfo
  private let parentFieldlist: [String]
  private let childrenFieldlist: [String]
  private let filter: String

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "parent_children target")
    info = try ParentChildrenInfo(json)
    parentFieldlist = try reader.fieldlist("parentFieldlist").including(
      info.parent.fields.id, info.parent.fields.modificationDate)
    childrenFieldlist = try reader.fieldlist("childrenFieldlist").including(
      info.children.fields.id, info.children.fields.modificationDate)
    filter = try reader.optionalString("parentSoqlFilter") ?? ""
    self.json = info.written(to: json)
  }

  var fields: TargetFields { info.parent.fields }
  var isSortedByModification: Bool { true }
  var isIncremental: Bool { true }

  func mappings(_ soupName: String) -> [SoupMapping] {
    [
      SoupMapping(soup: info.parent.soup, fields: info.parent.fields),
      SoupMapping(soup: info.children.soup, fields: info.children.fields, parentIdField: info.parentIdField),
    ]
  }

  // MARK: Queries

  /// - Parameter since: ms since 1970; 0 and below selects all records.
  func query(since: Int64) -> String { query(since: since, parentFieldlist, childrenFieldlist) }

  private func query(since: Int64, _ parentFieldlist: [String], _ childrenFieldlist: [String]) -> String {
    func isNewer(_ side: RelatedType) -> String? {
      since > 0 ? "\(side.fields.modificationDate) > \(TimeStamp.text(since))" : nil
    }
    let nested =
      "select \(childrenFieldlist.joined(separator: ", ")) from \(info.childrenName)"
      + (isNewer(info.children).map { " where " + $0 } ?? "")
    var query = SOQLQuery(
      "select \(parentFieldlist.joined(separator: ", ")), (\(nested)) from \(info.parent.type)"
        + (filter.isEmpty ? "" : " where \(filter)") + " order by \(info.parent.fields.modificationDate)")
    if let newer = isNewer(info.parent) { query = query.addingWhere(newer) }
    return query.text
  }

  /// Returns a query for the ids of the parents, or of the parents and their children.
  func ghostQuery(withChildren: Bool) -> String {
    let nested = withChildren ? ", (select \(info.children.fields.id) from \(info.childrenName))" : ""
    return "select \(info.parent.fields.id)\(nested) from \(info.parent.type)" + (filter.isEmpty ? "" : " where \(filter)")
  }

  // MARK: Fetching

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    try await page(context.client.requests.query(soql: query(since: since)), in: context)
  }

  private func page(
    _ request: RestRequest, in context: FetchContext, trail: QueryTrail = QueryTrail()
  ) async throws -> SyncDownPage {
    let answer = try await context.send(request)
    let families = try ParentChildrenPage(answer.response, info: info)
    guard let total = families.totalSize else {
      throw answer.response.invalidBody("the answer to a query has no 'totalSize'")
    }
    var children = families.children
    for more in families.unfinished {
      try await children.append(contentsOf: rest(of: more, in: context))
    }
    let parents = try context.plan.scan(array: ParentChildrenPage.array(families.parents), of: answer.response)
    let childPage = try context.plans[1].scan(array: ParentChildrenPage.array(children.map(\.text)), of: answer.response)
    var page = SyncDownPage(
      parts: [parents, childPage], parents: children.map(\.parent), totalSize: Int(clamping: total),
      serverTime: answer.serverTime)
    if let url = families.next {
      var trail = trail
      try trail.follow(url, records: families.parents.count, total: total)
      page.next = { [trail] in try await self.page(context.client.requests.queryMore(url), in: context, trail: trail) }
    }
    return page
  }

  /// Fetches the children of one parent that did not fit on its page.
  private func rest(of more: ParentChildrenPage.More, in context: FetchContext) async throws -> [ParentChildrenPage.Child] {
    var children: [ParentChildrenPage.Child] = [], url: String? = more.url, trail = QueryTrail()
    while let next = url {
      let answer = try await context.send(context.client.requests.queryMore(next))
      let page = try ParentChildrenPage.children(
        answer.response, of: more.parentId, parent: more.parent, info: info)
      children += page.children
      url = page.said.next
      if let url { try trail.follow(url, records: page.children.count, total: page.said.size) }
    }
    return children
  }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    func names(_ list: [String], _ fields: TargetFields) -> [String] {
      level == .content ? list : [fields.id, fields.modificationDate]
    }
    let query = query(
      since: TimeStamp.never, names(parentFieldlist, info.parent.fields), names(childrenFieldlist, info.children.fields))
    guard let ids else { return try await page(context.client.requests.query(soql: query), in: context) }
    let soql = SOQLQuery(query).addingWhere(QueryPages.condition(fields.id, ids)).text
    guard QueryPages.fits(soql) else { return nil }
    return try await page(context.client.requests.query(soql: soql), in: context)
  }

  // MARK: Ghosts

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    let parents = try await QueryPages.ids(of: ghostQuery(withChildren: false), path: fields.id, in: context)
    guard !localIds[1].isEmpty else { return [parents, []] }
    return [parents, try await startingAgainOnce { try await childIds(in: context) }]
  }

  private func childIds(in context: FetchContext) async throws -> IdSet {
    var ids = IdSet(), trail = QueryTrail()
    var request: RestRequest? = context.client.requests.query(soql: ghostQuery(withChildren: true))
    while let next = request {
      let answer = try await context.send(next)
      let page = try ParentChildrenPage(answer.response, info: info)
      ids.formUnion(page.children.map(\.id))
      for more in page.unfinished { ids.formUnion(try await rest(of: more, in: context).map(\.id)) }
      if let url = page.next { try trail.follow(url, records: page.parents.count, total: page.totalSize) }
      request = page.next.map { context.client.requests.queryMore($0) }
    }
    return ids
  }
}
