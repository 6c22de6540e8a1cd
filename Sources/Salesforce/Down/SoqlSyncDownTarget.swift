import JSON
import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Downloads the records of a SOQL query.
///
/// The query is normalised when the target is created: the id and date fields are added to the selected ones, and a query
/// without an order is ordered by date, so that an interrupted run can continue.
///
/// - Note: Source: Mobile SDK, `SoqlSyncDownTarget`. A query that needs no change keeps its text.
struct SoqlSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  let query: String
  /// The records per page as given; the request clamps the number.
  let maxBatchSize: Int

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    let names = try TargetFields(json)
    fields = names
    guard let value = json["query"], !value.isNull else { throw SyncError(.invalidTarget, "No query defined") }
    guard let text = value.stringValue else {
      throw SyncError(.invalidTarget, "soql target: 'query' must be a string, got \(value.kindName)").at(.key("query"))
    }
    query = try SyncError.at(.key("query")) { () throws(SyncError) in try SoqlSyncDownTarget.normalised(text, names) }
    maxBatchSize = try SoqlSyncDownTarget.batchSize(json["maxBatchSize"])
    var stored = json
    stored["query"] = .string(query)
    stored["maxBatchSize"] = .integer(Int64(maxBatchSize))
    fields.write(to: &stored)
    self.json = stored
  }

  private static func batchSize(_ json: JSONValue?) throws(SyncError) -> Int {
    guard let json, !json.isNull else { return 2000 }
    guard let size = json.integerValue, size > 0 else {
      throw SyncError(.invalidTarget, "soql target: 'maxBatchSize' must be a positive integer, got \(json.text)")
        .at(.key("maxBatchSize"))
    }
    return Int(clamping: size)
  }

  private static func normalised(_ text: String, _ fields: TargetFields) throws(SyncError) -> String {
    var query = SOQLQuery(text)
    guard query.hasSelect else { throw SyncError(.invalidTarget, "No field selected: \(text)") }
    guard query.hasFrom else { throw SyncError(.invalidTarget, "No table specified: \(text)") }
    guard !query.isAggregate else {
      throw SyncError(
        .invalidTarget,
        "soql target: a query with GROUP BY or an aggregate function returns no records that can be synced: \(text)")
    }
    let original = query
    if !query.isSelecting(fields.modificationDate) { query = query.addingSelect(fields.modificationDate) }
    if !query.isSelecting(fields.id) { query = query.addingSelect(fields.id) }
    if !query.hasOrderBy { query = query.replacingOrderBy(fields.modificationDate) }
    return query == original ? text : query.text
  }

  var isIncremental: Bool { true }

  var isSortedByModification: Bool { SOQLQuery(query).isOrdering(by: fields.modificationDate) }

  /// Returns the query for records modified after `since` (ms since 1970); 0 and below selects all records.
  func query(since: Int64) -> String {
    guard since > 0 else { return query }
    return SOQLQuery(query).addingWhere("\(fields.modificationDate) > \(TimeStamp.text(since))").text
  }

  /// The query for the ids only. The order is dropped unless a limit depends on it.
  var ghostQuery: String {
    let ids = SOQLQuery(query).replacingSelect(fields.id)
    return (ids.isLimited ? ids : ids.replacingOrderBy("")).text
  }

  var deletions: (any DeletionFeed)? {
    let query = SOQLQuery(query)
    guard query.wantsEveryRecord, let type = query.type, fields.id == "Id" else { return nil }
    return DeletedRecords(type: type, idField: fields.id)
  }

  // MARK: Fetching

  var isLimited: Bool { SOQLQuery(query).isLimited }
  var canPause: Bool { true }

  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage? {
    if let page = try await QueryPages.continued(in: context) { return page }
    return try await QueryPages.first(
      context.client.requests.query(soql: query(since: since), batchSize: maxBatchSize), in: context, isKept: true)
  }

  // MARK: Comparing

  func serverCount(in context: FetchContext) async throws -> [Int]? {
    let query = SOQLQuery(query)
    // A limit would apply to the number, not to the records.
    guard !query.isLimited else { return nil }
    return try await QueryPages.count(query.replacingSelect("count()").replacingOrderBy("").text, in: context).map { [$0] }
  }

  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    var query = SOQLQuery(query)
    if level != .content { query = query.replacingSelect("\(fields.id), \(fields.modificationDate)") }
    guard let ids else {
      return try await QueryPages.first(
        context.client.requests.query(soql: query.text, batchSize: maxBatchSize), in: context)
    }
    // With a limit, the condition would select other records.
    guard !query.isLimited else { return nil }
    let wanted = query
    return try await QueryPages.each(ids, in: context) { wanted.addingWhere(QueryPages.condition(fields.id, $0)).text }
  }

  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet] {
    [try await QueryPages.ids(of: ghostQuery, path: fields.id, batchSize: maxBatchSize, in: context)]
  }
}
