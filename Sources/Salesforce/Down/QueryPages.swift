import MobileSync
import RecordScan
import RestClient
import SmartStore

/// Runs SOQL queries page by page.
enum QueryPages {
  private static let nextKey = "nextRecordsUrl"

  /// Fetches the next page of an interrupted run; returns nil if this run does not continue one.
  static func continued(in context: FetchContext) async throws -> SyncDownPage? {
    guard context.mode == .more, let url = context.memory[nextKey]?.stringValue else { return nil }
    return try await first(context.client.requests.queryMore(url), in: context, isKept: true)
  }

  /// The most ids in one `IN` list.
  static let idsAtOnce = 500

  /// The most bytes of an encoded query. Front ends of orgs refuse request lines above 16,384.
  private static let longestQuery = 15_600

  /// Whether a front end takes the query.
  static func fits(_ soql: String) -> Bool { PercentEncoding.encode(soql).utf8.count <= longestQuery }

  /// Returns how many of the ids fit into one query; at least one.
  ///
  /// - Parameter soql: Makes the query for some ids.
  static func fitting(_ ids: some Sequence<String>, in soql: ([String]) -> String) -> Int {
    var room = longestQuery - PercentEncoding.encode(soql([])).utf8.count, count = 0
    for id in ids {
      room -= PercentEncoding.encode(SOQL.quote(id) + ", ").utf8.count
      guard room >= 0 || count == 0 else { break }
      count += 1
    }
    return count
  }

  /// Chains pages: the query's own further pages first, then those of `rest`.
  static func chained(
    _ part: SyncDownPage, of total: Int, then rest: @escaping @Sendable () async throws -> SyncDownPage?
  ) -> SyncDownPage {
    var page = part
    page.totalSize = total
    if let next = part.next {
      page.next = { try await next().map { chained($0, of: total, then: rest) } }
    } else {
      page.next = rest
    }
    return page
  }

  /// Fetches the first page of a query, which leads to the others.
  /// - Parameter isKept: If true, each page stores the URL of the next one, so that a later run can continue there.
  static func first(
    _ request: RestRequest, in context: FetchContext, trail: QueryTrail = QueryTrail(), isKept: Bool = false
  ) async throws -> SyncDownPage {
    let answer = try await context.send(request)
    let records = try context.plan.scan(answer.response)
    let next = try PageEnvelope.next(records.envelope(1), done: records.envelope(2), answer.response)
    guard let total = records.envelope(0)?.boundedInteger, total >= 0 else {
      throw answer.response.invalidBody("the answer to a query has no 'totalSize'")
    }
    let whole = try await NestedPages(context: context).complete(records, answer.response, hasNext: next != nil)
    var page = SyncDownPage(parts: [whole], totalSize: Int(clamping: total), serverTime: answer.serverTime)
    if let url = next {
      var trail = trail
      try trail.follow(url, records: records.count, total: total)
      page.next = { [trail] in
        try await first(context.client.requests.queryMore(url), in: context, trail: trail, isKept: isKept)
      }
    }
    if isKept {
      var notes = PageNotes()
      notes.memory = next.map { [nextKey: .string($0)] } ?? [:]
      page.notes = notes
    }
    return page
  }

  /// Returns the ids on all pages of a query.
  static func ids(of soql: String, path: String, batchSize: Int? = nil, in context: FetchContext) async throws -> IdSet {
    try await ids(context.client.requests.query(soql: soql, batchSize: batchSize), path: path, in: context)
  }

  static func ids(_ first: RestRequest, path: String, in context: FetchContext) async throws -> IdSet {
    try await startingAgainOnce {
      var ids = IdSet(), trail = QueryTrail()
      var request: RestRequest? = first
      var reader = IdPageReader(idPath: path)
      while let next = request {
        let answer = try await context.send(next)
        let page = try reader.read(answer.response, into: &ids)
        if let url = page.next { try trail.follow(url, records: page.count, total: page.total) }
        request = page.next.map { context.client.requests.queryMore($0) }
      }
      return ids
    }
  }

  /// Returns the number of records that a query with `count()` finds; nil if the answer does not say it.
  static func count(_ soql: String, in context: FetchContext) async throws -> Int? {
    let answer = try await context.send(context.client.requests.query(soql: soql)).response
    return try answer.json()["totalSize"]?.integerValue.flatMap { Int(exactly: $0) }
  }

  /// Fetches records by their ids, in as many queries as the length of a URL demands.
  /// - Parameter soql: Makes the query for some ids.
  /// - Returns: nil without ids.
  static func each(
    _ ids: [String], in context: FetchContext, _ soql: @escaping @Sendable ([String]) -> String
  ) async throws -> SyncDownPage? {
    guard !ids.isEmpty else { return nil }
    let list = Array(ids.prefix(fitting(ids.prefix(idsAtOnce), in: soql))), rest = Array(ids.dropFirst(list.count))
    let page = try await first(context.client.requests.query(soql: soql(list)), in: context)
    return rest.isEmpty ? page : chained(page, of: ids.count) { try await each(rest, in: context, soql) }
  }

  /// Returns those of `ids` that still exist on the server.
  static func existing(
    _ ids: [String], of type: String, idField: String, slice: Int = idsAtOnce, in context: FetchContext
  ) async throws -> IdSet {
    func soql(_ list: [String]) -> String { "select \(idField) from \(type) where \(condition(idField, list))" }
    var found = IdSet(), rest = ids[...]
    while !rest.isEmpty {
      let list = Array(rest.prefix(fitting(rest.prefix(slice), in: soql)))
      found.formUnion(try await QueryPages.ids(of: soql(list), path: idField, in: context))
      rest = rest.dropFirst(list.count)
    }
    return found
  }

  /// Returns a condition such as `Id IN ('a', 'b')` with escaped values.
  static func condition(_ field: String, _ ids: [String]) -> String {
    "\(field) IN (\(ids.map { SOQL.quote($0) }.joined(separator: ", ")))"
  }
}

/// Extracts the record ids from the pages of a query.
struct IdPageReader {
  private var scanner: RecordScanner

  init(idPath: String) { scanner = RecordScanner(plan: ScanPlan(paths: [idPath])) }

  /// What a page says besides its ids.
  struct Page {
    let count: Int
    let total: Int64?
    /// The URL of the next page.
    let next: String?
  }

  private static let envelope = [PageEnvelope.totalSize, PageEnvelope.nextPage, PageEnvelope.done]

  /// - Parameter recordsKey: The key of the array of records.
  /// - Throws: `RestError` `.invalidBody`, also for a record without an id: the page then does not
  ///   show which records exist.
  mutating func read(
    _ response: RestResponse, recordsKey: String = "records", into ids: inout IdSet
  ) throws -> Page {
    do {
      return try response.body.withUnsafeBytes { bytes in
        guard try scanner.scanPage(bytes, recordsKey: recordsKey, envelopeKeys: Self.envelope) else {
          throw response.invalidBody("the answer has no '\(recordsKey)'")
        }
        for i in scanner.records.indices {
          guard let id = scanner.value(record: i, field: 0).string(in: bytes), !id.isEmpty else {
            throw response.invalidBody("record \(i + 1) has no id, so it is unknown which records exist")
          }
          ids.insert(id)
        }
        let said = scanner.envelope.map { $0.plain(in: bytes) }
        return Page(
          count: scanner.records.count, total: said[0]?.boundedInteger,
          next: try PageEnvelope.next(said[1], done: said[2], response))
      }
    } catch let error as ScanError {
      throw response.invalidBody("\(error.message) at byte \(error.offset)")
    }
  }
}
