import JSON
import MobileSync
import RestClient
import SmartStore

/// Downloads the records again that a soup already contains, page by page by their ids. Locally created records are skipped.
///
/// - Note: Source: Mobile SDK, `RefreshSyncDownTarget`. `coundIdsPerSoql`, the spelling of one platform, is accepted too.
///   Uses keyset pagination by id, so that entries which are added or removed in the meantime do not shift the pages.
struct RefreshSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  let soupName: String
  private let type: String
  private let fieldlist: [String]
  private let idsPerPage: Int

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "refresh target")
    fields = try TargetFields(json)
    type = try reader.string("sobjectType")
    soupName = try reader.string("soupName")
    fieldlist = try reader.fieldlist("fieldlist").including(fields.id, fields.modificationDate)
    let key = json["countIdsPerSoql"] == nil ? "coundIdsPerSoql" : "countIdsPerSoql"
    idsPerPage = try reader.count(key, limit: QueryPages.idsAtOnce)
    var stored = json
    stored["coundIdsPerSoql"] = nil
    stored["countIdsPerSoql"] = .integer(Int64(idsPerPage))
    self.json = fields.written(to: stored)
  }

  var isIncremental: Bool { true }
  var announcesCandidates: Bool { true }

  func mappings(_ soupName: String) -> [SoupMapping] { [SoupMapping(soup: self.soupName, fields: fields)] }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    try await firstPage(since: since, fieldlist, in: context)
  }

  private func firstPage(since: Int64, _ fieldlist: [String], in context: FetchContext) async throws -> SyncDownPage? {
    let soup = soupName, path = fields.id
    let total = try await context.store.read {
      try $0.serverIdCount(in: soup, path: path, localPrefix: LocalField.localIdPrefix)
    }
    return try await page(after: nil, of: total, since: since, fieldlist, in: context)
  }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    let wanted = level == .content ? fieldlist : [fields.id, fields.modificationDate]
    guard let ids else { return try await firstPage(since: TimeStamp.never, wanted, in: context) }
    return try await QueryPages.each(ids, in: context) { soql($0.map { ($0, nil) }, since: TimeStamp.never, wanted) }
  }

  /// Fetches the page of records after an id; returns nil if the soup has no further ids.
  private func page(
    after last: String?, of total: Int, since: Int64, _ fieldlist: [String], in context: FetchContext
  ) async throws -> SyncDownPage? {
    let soup = soupName, fields = fields, count = idsPerPage
    // One id more than a page holds shows whether there is another page.
    let found = try await context.store.read { snapshot in
      try snapshot.serverIds(
        in: soup, path: fields.id, stampPath: since > 0 ? fields.modificationDate : nil,
        localPrefix: LocalField.localIdPrefix, after: last, limit: count + 1)
    }
    let fitting = QueryPages.fitting(found.prefix(count).lazy.map(\.id)) { soql($0.map { ($0, nil) }, since: since, fieldlist) }
    let ids = found.prefix(fitting)
    guard let lastId = ids.last?.id else { return nil }
    let first = try await QueryPages.first(
      context.client.requests.query(soql: soql(Array(ids), since: since, fieldlist)), in: context)
    let isLast = found.count <= ids.count
    return QueryPages.chained(first, of: total) {
      isLast ? nil : try await self.page(after: lastId, of: total, since: since, fieldlist, in: context)
    }
  }

  /// - Note: Entries may have been written outside this sync, so their newest modification date is used if it is older than
  ///   `since`.
  private func soql(
    _ entries: [(id: String, stamp: String?)], since: Int64, _ fieldlist: [String]
  ) -> String {
    var soql =
      "select \(fieldlist.joined(separator: ", ")) from \(type) where "
      + QueryPages.condition(fields.id, entries.map(\.id))
    let newest = entries.compactMap { $0.stamp.flatMap { TimeStamp.milliseconds($0) } }.max() ?? TimeStamp.never
    if since > 0, newest > 0 { soql += " and \(fields.modificationDate) > \(TimeStamp.text(min(since, newest)))" }
    return soql
  }

  var deletions: (any DeletionFeed)? { fields.id == "Id" ? DeletedRecords(type: type, idField: fields.id) : nil }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    [try await QueryPages.existing(localIds[0], of: type, idField: fields.id, slice: idsPerPage, in: context)]
  }
}
