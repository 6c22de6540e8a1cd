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

  /// The most ids in one `IN` list, because the length of a URL is limited.
  static let idsAtOnce = 500

  /// Fetches the first page of a query, which leads to the others.
  /// - Parameter isKept: If true, each page stores the URL of the next one, so that a later run can continue there.
  static func first(
    _ request: RestRequest, in context: FetchContext, trail: PageTrail = PageTrail(), isKept: Bool = false
  ) async throws -> SyncDownPage {
    let answer = try await context.send(request)
    let records = try context.plan.scan(answer.response)
    guard let total = records.envelope(0)?.boundedInteger, total >= 0 else {
      throw answer.response.invalidBody("the answer to a query has no 'totalSize'")
    }
    var page = SyncDownPage(parts: [records], totalSize: Int(clamping: total), serverTime: answer.serverTime)
    if let url = records.envelope(1)?.stringValue {
      var trail = trail
      try trail.follow(url)
      page.next = { [trail] in
        try await first(context.client.requests.queryMore(url), in: context, trail: trail, isKept: isKept)
      }
    }
    if isKept {
      var notes = PageNotes()
      notes.memory = records.envelope(1)?.stringValue.map { [nextKey: .string($0)] } ?? [:]
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
      var ids = IdSet(), trail = PageTrail()
      var request: RestRequest? = first
      var reader = IdPageReader(idPath: path)
      while let next = request {
        let answer = try await context.send(next)
        let url = try reader.read(answer.response, into: &ids)
        if let url { try trail.follow(url) }
        request = url.map { context.client.requests.queryMore($0) }
      }
      return ids
    }
  }

  /// Returns those of `ids` that still exist on the server.
  static func existing(
    _ ids: [String], of type: String, idField: String, slice: Int = idsAtOnce, in context: FetchContext
  ) async throws -> IdSet {
    var found = IdSet()
    for start in stride(from: 0, to: ids.count, by: slice) {
      let list = Array(ids[start..<min(start + slice, ids.count)])
      let soql = "select \(idField) from \(type) where \(condition(idField, list))"
      found.formUnion(try await QueryPages.ids(of: soql, path: idField, in: context))
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

  /// - Parameter recordsKey: The key of the array of records.
  /// - Returns: The URL of the next page.
  mutating func read(
    _ response: RestResponse, recordsKey: String = "records", into ids: inout IdSet
  ) throws -> String? {
    do {
      return try response.body.withUnsafeBytes { bytes in
        guard try scanner.scanPage(bytes, recordsKey: recordsKey, envelopeKeys: [PageEnvelope.nextPage]) else {
          throw response.invalidBody("the answer has no '\(recordsKey)'")
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
