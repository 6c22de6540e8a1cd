import JSON
import RecordScan
import RestClient
import SmartStore

/// Records of a SOQL query.
///
/// The query is normalised when the target is made: the id and date fields are selected, and without an order of its own
/// it is ordered by the date, so that a run that is interrupted can go on from where it was.
///
/// - Note: Source: Mobile SDK, `SoqlSyncDownTarget`. A query that needs no change keeps its text.
struct SoqlSyncDownTarget: SyncDownTarget {
  let json: JSONObject
  let fields: TargetFields
  let query: String
  /// Records a page, as given; the request clamps it.
  let maxBatchSize: Int

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject) throws(SyncError) {
    fields = try TargetFields(json)
    guard let value = json["query"], !value.isNull else { throw SyncError(.invalidTarget, "No query defined") }
    guard let text = value.stringValue else {
      throw SyncError(.invalidTarget, "soql target: 'query' must be a string, got \(value.kindName)")
    }
    query = try SoqlSyncDownTarget.normalised(text, fields)
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
    }
    return Int(clamping: size)
  }

  private static func normalised(_ text: String, _ fields: TargetFields) throws(SyncError) -> String {
    var query = SOQLQuery(text)
    guard query.hasSelect else { throw SyncError(.invalidTarget, "No field selected: \(text)") }
    guard query.hasFrom else { throw SyncError(.invalidTarget, "No table specified: \(text)") }
    let original = query
    if !query.isSelecting(fields.modificationDate) { query = query.addingSelect(fields.modificationDate) }
    if !query.isSelecting(fields.id) { query = query.addingSelect(fields.id) }
    if !query.hasOrderBy { query = query.replacingOrderBy(fields.modificationDate) }
    return query == original ? text : query.text
  }

  var isSortedByModification: Bool { SOQLQuery(query).isOrdering(by: fields.modificationDate) }

  /// The query for what was modified after `since`, ms; the whole query when it is not above 0.
  func query(since: Int64) -> String {
    guard since > 0 else { return query }
    return SOQLQuery(query).addingWhere("\(fields.modificationDate) > \(TimeStamp.text(since))").text
  }

  /// The ids alone. The order is dropped, unless a limit makes it decide which records come.
  var ghostQuery: String {
    let ids = SOQLQuery(query).replacingSelect(fields.id)
    return (ids.isLimited ? ids : ids.replacingOrderBy("")).text
  }

  // MARK: Fetching

  func nextPage(
    since: Int64, after last: SyncDownPage?, in context: FetchContext
  ) async throws -> SyncDownPage? {
    let requests = context.client.requests
    guard let last else {
      return try await page(requests.query(soql: query(since: since), batchSize: maxBatchSize), context)
    }
    guard let next = last.continuation else { return nil }
    return try await page(requests.queryMore(next), context)
  }

  private func page(_ request: RestRequest, _ context: FetchContext) async throws -> SyncDownPage {
    let clock = ContinuousClock()
    let sent = clock.now
    let response = try await context.client.send(request)
    let waited = sent.duration(to: clock.now)
    let date = response.header("Date").flatMap { TimeStamp.milliseconds(httpDate: $0) }
    let page = try context.plan.scan(response)
    guard let total = page.envelope(0)?.integerValue, total >= 0 else {
      throw response.invalidBody("the answer to a query has no 'totalSize'")
    }
    return SyncDownPage(
      records: page, totalSize: Int(clamping: total), continuation: page.envelope(1)?.stringValue,
      serverTime: date.map { $0 - waited.milliseconds })
  }

  func remoteIds(among localIds: [String], in context: FetchContext) async throws -> Set<String> {
    var ids = Set<String>()
    var request: RestRequest? = context.client.requests.query(soql: ghostQuery, batchSize: maxBatchSize)
    var reader = IdPageReader(idPath: fields.id)
    while let next = request {
      try context.control.check()
      let response = try await context.client.send(next)
      let more = try reader.read(response, into: &ids)
      request = more.map { context.client.requests.queryMore($0) }
    }
    return ids
  }
}

extension Duration {
  var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}

/// Reads the ids out of pages of a query.
struct IdPageReader {
  private var scanner: RecordScanner

  init(idPath: String) { scanner = RecordScanner(plan: ScanPlan(paths: [idPath])) }

  /// - Returns: Where the next page is.
  mutating func read(_ response: RestResponse, into ids: inout Set<String>) throws -> String? {
    do {
      return try response.body.withUnsafeBytes { bytes in
        guard try scanner.scanPage(bytes, recordsKey: "records", envelopeKeys: ["nextRecordsUrl"]) else {
          throw response.invalidBody("the answer to a query has no 'records'")
        }
        for i in scanner.records.indices {
          if let id = scanner.value(record: i, field: 0).string(in: bytes) { ids.insert(id) }
        }
        return scanner.envelope[0].string(in: bytes)
      }
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }
}
