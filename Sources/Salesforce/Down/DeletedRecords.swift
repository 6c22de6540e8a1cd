import JSON
import MobileSync
import RestClient

/// What the server deleted of one type, from its own record of deletions: the cost is that of what changed, not of what there is.
///
/// It knows of deletions only. Records that the user may no longer see are found by asking for all ids, now and then.
///
/// - Note: Source: Salesforce REST API, Get Deleted: bounds are whole minutes; it forgets after some weeks
///   (`earliestDateAvailable`) and may lag behind (`latestDateCovered`), so the recycle bin is asked for the time behind that.
struct DeletedRecords: DeletionFeed {
  let type: String
  let idField: String

  private static let minuteMs: Int64 = 60_000

  /// Which of `ids` were deleted and are still gone.
  ///
  /// - Parameter since: ms since 1970 UTC, by the server's clock.
  /// - Returns: nil when the feed cannot tell: it does not reach back so far, or the type has none.
  /// - Throws: `RestError` when nothing else can be asked either.
  func gone(among ids: [String], since: Int64, in context: FetchContext) async throws -> Set<String>? {
    do {
      guard let deleted = try await deleted(since: since, in: context) else { return nil }
      let candidates = ids.filter(deleted.contains)
      guard !candidates.isEmpty else { return [] }
      // A record may have come back from the recycle bin.
      let alive = try await QueryPages.existing(candidates, of: type, idField: idField, in: context)
      return Set(candidates).subtracting(alive)
    } catch let error as RestError where error.code == .httpStatus && (400..<500).contains(error.status ?? 0) {
      return nil
    }
  }

  private func deleted(since: Int64, in context: FetchContext) async throws -> Set<String>? {
    let start = since / Self.minuteMs * Self.minuteMs
    let end = max(start, context.configuration.now() / Self.minuteMs * Self.minuteMs) + 2 * Self.minuteMs
    let answer = try await context.send(
      context.client.requests.deletedRecords(type: type, start: TimeStamp.isoText(start), end: TimeStamp.isoText(end)))
    let json = try answer.response.json()
    guard let records = json["deletedRecords"]?.arrayValue, let earliest = moment(json["earliestDateAvailable"]),
      let latest = moment(json["latestDateCovered"]), let serverTime = answer.serverTime, earliest <= since
    else { return nil }
    let recent = try await recycled(
      since: max(start, min(latest, serverTime) - context.configuration.commitAllowanceMs), in: context)
    return recent.union(records.compactMap { $0["id"]?.stringValue })
  }

  private func moment(_ value: JSONValue?) -> Int64? { value?.stringValue.flatMap { TimeStamp.milliseconds($0) } }

  /// Deleted records that the recycle bin still holds.
  private func recycled(since: Int64, in context: FetchContext) async throws -> Set<String> {
    let soql = "select \(idField) from \(type) where IsDeleted = true and SystemModstamp >= \(TimeStamp.text(since))"
    return try await QueryPages.ids(context.client.requests.queryAll(soql: soql), path: idField, in: context)
  }
}
