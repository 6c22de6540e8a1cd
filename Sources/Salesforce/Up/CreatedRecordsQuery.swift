import JSON
import MobileSync
import RestClient

/// Queries the records of one type that were created in a period of time.
struct CreatedRecordsQuery: Sendable {
  let search: CreatedRecords
  let client: any RestClient

  /// - Returns: nil if there are more than the limit.
  /// - Throws: `RestError`, with status 400 if a field cannot be queried.
  func records() async throws -> [CreatedRecord]? {
    try await startingAgainOnce {
      var request: RestRequest? = client.requests.query(soql: soql)
      var found: [CreatedRecord] = [], trail = QueryTrail()
      while let next = request, found.count < search.limit {
        let (records, url, total) = try await page(next)
        found += records
        if let url { try trail.follow(url, records: records.count, total: total) }
        request = url.map { client.requests.queryMore($0) }
      }
      return request == nil ? found : nil
    }
  }

  private static let own = ["Id", "CreatedDate"]

  private var soql: String {
    let list = (Self.own + search.fields.filter { !Self.own.contains($0) }).joined(separator: ",")
    let first = TimeStamp.text(search.period.lowerBound), last = TimeStamp.text(search.period.upperBound)
    return "select \(list) from \(search.type) where CreatedDate >= \(first) and CreatedDate <= \(last)"
  }

  private func page(_ request: RestRequest) async throws -> (records: [CreatedRecord], next: String?, total: Int64?) {
    let response = try await client.send(request), json = try response.json()
    guard let records = json["records"]?.arrayValue else {
      throw response.invalidBody("the answer to a query has no 'records'")
    }
    let found = records.compactMap(\.objectValue).compactMap { record -> CreatedRecord? in
      guard let id = record["Id"]?.stringValue else { return nil }
      let created = record["CreatedDate"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
      return CreatedRecord(id: id, createdAt: created, fields: record)
    }
    let next = try PageEnvelope.next(json[PageEnvelope.nextPage], done: json[PageEnvelope.done], response)
    return (found, next, json[PageEnvelope.totalSize]?.boundedInteger)
  }
}
