import JSON
import MobileSync
import RestClient

/// Finds deleted records of one type through the server's deletion log. The cost depends on the number of deletions, not on
/// the number of records.
///
/// The log covers deletions only. Records that the user may no longer see are found by an occasional query for all ids.
///
/// - Note: Source: Salesforce REST API, Get Deleted: the bounds are whole minutes, entries expire after some weeks
///   (`earliestDateAvailable`), and the log may lag behind (`latestDateCovered`); a query that includes the recycle bin covers
///   the time after that.
struct DeletedRecords: DeletionFeed {
  let type: String
  let idField: String

  private static let minuteMs: Int64 = 60_000

  /// Returns those of `ids` that were deleted and not restored.
  ///
  /// - Parameter since: ms since 1970 UTC, by the server's clock.
  /// - Returns: nil if the log cannot tell, because it does not reach back far enough or the type is not logged.
  /// - Throws: `RestError` for any failure other than a 4xx response.
  func gone(among ids: [String], since: Int64, in context: FetchContext) async throws -> IdSet? {
    do {
      guard let deleted = try await deleted(since: since, in: context) else { return nil }
      let candidates = ids.filter(deleted.contains)
      guard !candidates.isEmpty else { return [] }
      // A record may have been restored from the recycle bin.
      let alive = try await QueryPages.existing(candidates, of: type, idField: idField, in: context)
      return IdSet(candidates).subtracting(alive)
    } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
      return nil
    }
  }

  private func deleted(since: Int64, in context: FetchContext) async throws -> IdSet? {
    let start = since / Self.minuteMs * Self.minuteMs
    let end = max(start, context.configuration.now() / Self.minuteMs * Self.minuteMs) + 2 * Self.minuteMs
    let answer = try await context.send(
      context.client.requests.deletedRecords(type: type, start: TimeStamp.isoText(start), end: TimeStamp.isoText(end)))
    let json = try answer.response.json()
    guard let records = json["deletedRecords"]?.arrayValue, let earliest = moment(json["earliestDateAvailable"]),
      let latest = moment(json["latestDateCovered"]), let serverTime = answer.serverTime, earliest <= since
    else { return nil }
    let logged = records.compactMap { $0["id"]?.stringValue }
    guard logged.count == records.count else { return nil }
    let recent = try await recycled(
      since: max(start, min(latest, serverTime) - context.configuration.commitAllowanceMs), in: context)
    return recent.union(logged)
  }

  private func moment(_ value: JSONValue?) -> Int64? { value?.stringValue.flatMap { TimeStamp.milliseconds($0) } }

  /// Returns the ids of records in the recycle bin that were deleted since a time.
  private func recycled(since: Int64, in context: FetchContext) async throws -> IdSet {
    let soql = "select \(idField) from \(type) where IsDeleted = true and SystemModstamp >= \(TimeStamp.text(since))"
    return try await QueryPages.ids(context.client.requests.queryAll(soql: soql), path: idField, in: context)
  }
}
