import JSON
import RestClient
import SmartStore

/// The look for records of one type that creates without an answer may have made.
struct LostCreateSearch: Sendable {
  let soup: String
  let type: String
  let pending: [PendingCreate]

  /// Records looked at for one type. More than that in the minutes around an upload, and the creates stay in doubt.
  private static let mostRecords = 10_000

  /// Records created around the times of the uploads.
  /// - Returns: nil when they cannot be looked at, or are too many.
  func candidates(_ environment: RunEnvironment) async throws -> [CreateCandidate]? {
    let before = LostCreateTimes(environment)
    guard let found = try await records(before, environment) else { return nil }
    // The answer may be the first one that tells the server's time.
    let after = LostCreateTimes(environment)
    guard before.isFar(from: after) else { return try await marked(found, environment) }
    return try await records(after, environment).asyncMap { try await marked($0, environment) }
  }

  /// - Returns: nil when they cannot be looked at, or are too many.
  private func records(_ times: LostCreateTimes, _ environment: RunEnvironment) async throws -> [JSONObject]? {
    let soql = query(times)
    return try await startingAgainOnce { try await records(of: soql, environment) }
  }

  private func records(of soql: String, _ environment: RunEnvironment) async throws -> [JSONObject]? {
    var request: RestRequest? = environment.client.requests.query(soql: soql)
    var found: [JSONObject] = [], trail = PageTrail()
    while let next = request, found.count < Self.mostRecords {
      guard let page = try await page(next, environment) else { return nil }
      found += page.records
      if let url = page.next { try trail.follow(url) }
      request = page.next.map { environment.client.requests.queryMore($0) }
    }
    return request == nil ? found : nil
  }

  private func query(_ times: LostCreateTimes) -> String {
    let windows = pending.map { times.window($0.upload) }
    let first = windows.map(\.lowerBound).min() ?? 0, last = windows.map(\.upperBound).max() ?? 0
    let names = Set(pending.flatMap(\.fieldNames)).subtracting(["Id", "CreatedDate"]).sorted()
    let list = (["Id", "CreatedDate"] + names).joined(separator: ",")
    return "select \(list) from \(type) where CreatedDate >= \(TimeStamp.text(first)) and CreatedDate <= \(TimeStamp.text(last))"
  }

  private func page(
    _ request: RestRequest, _ environment: RunEnvironment
  ) async throws -> (records: [JSONObject], next: String?)? {
    let response: RestResponse
    do {
      response = try await environment.client.send(request)
    } catch let error as RestError where error.status == 400 && !error.isExpiredLocator {
      // A field that cannot be queried: then there is no way to find out.
      environment.configuration.logger.warning("looking for lost creates: \(error.message)")
      return nil
    }
    let json = try response.json()
    guard let records = json["records"]?.arrayValue else {
      throw response.invalidBody("the answer to a query has no 'records'")
    }
    return (records.compactMap(\.objectValue), json["nextRecordsUrl"]?.stringValue)
  }

  /// What a sync down brought since is no record of another entry: it may be the very one.
  private func marked(_ records: [JSONObject], _ environment: RunEnvironment) async throws -> [CreateCandidate] {
    let soup = soup, idFields = Set(pending.map(\.place.fields.id))
    return try await environment.store.read { snapshot in
      let arrivals = try snapshot.arrivals(in: soup)
      return try records.compactMap { record in
        guard let id = record["Id"]?.stringValue else { return nil }
        let known = try idFields.flatMap { try snapshot.entryIds(in: soup, where: $0, equals: .text(id)) }
        let created = record["CreatedDate"]?.stringValue.flatMap { TimeStamp.milliseconds($0) }
        return CreateCandidate(id: id, fields: record, createdAt: created, isKnownHere: !known.allSatisfy(arrivals.contains))
      }
    }
  }
}
