import JSON
import MobileSync
import RestClient

/// Downloads the records of a type that the user viewed most recently. Every run downloads all of them.
///
/// Only deleted records are ghosts, not records that are no longer among the recent ones.
///
/// - Note: Source: Mobile SDK, `MruSyncDownTarget`. The id and the date are always queried, even if `fieldlist` omits them; if
///   there are no recent items, no query is sent.
struct MruSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  private let type: String
  private let fieldlist: [String]

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let reader = TargetReader(json: json, label: "mru target")
    fields = try TargetFields(json)
    type = try reader.string("sobjectType")
    fieldlist = try reader.fieldlist("fieldlist").including(fields.id, fields.modificationDate)
    self.json = fields.written(to: json)
  }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    let ids = try await recent(in: context)
    return ids.isEmpty ? nil : try await page(of: ids[...], announced: nil, in: context)
  }

  /// Returns the ids of the records that the user viewed most recently.
  private func recent(in context: FetchContext) async throws -> [String] {
    let requests = context.client.requests
    let answer = try await context.send(requests.recentItems(type: type))
    guard let items = try answer.response.json()["recentItems"]?.arrayValue else {
      throw answer.response.invalidBody("the answer has no 'recentItems'")
    }
    return items.compactMap { $0["Id"]?.stringValue }
  }

  /// Fetches records by their ids, in as many queries as the length of a URL demands.
  private func page(of ids: ArraySlice<String>, announced: Int?, in context: FetchContext) async throws -> SyncDownPage {
    let list = Array(ids.prefix(QueryPages.fitting(ids.prefix(QueryPages.idsAtOnce), in: soql)))
    let first = try await QueryPages.first(context.client.requests.query(soql: soql(list)), in: context)
    let rest = ids.dropFirst(list.count), total = announced ?? ids.count
    guard announced != nil || !rest.isEmpty else { return first }
    return QueryPages.chained(first, of: total) {
      rest.isEmpty ? nil : try await page(of: rest, announced: total, in: context)
    }
  }

  private func soql(_ ids: [String]) -> String { soql(ids, fieldlist) }

  private func soql(_ ids: [String], _ fieldlist: [String]) -> String {
    "select \(fieldlist.joined(separator: ", ")) from \(type) where \(QueryPages.condition(fields.id, ids))"
  }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    let wanted = level == .content ? fieldlist : [fields.id, fields.modificationDate]
    let all = if let ids { ids } else { try await recent(in: context) }
    return try await QueryPages.each(all, in: context) { soql($0, wanted) }
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    [try await QueryPages.existing(localIds[0], of: type, idField: fields.id, in: context)]
  }
}
