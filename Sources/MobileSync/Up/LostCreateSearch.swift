import JSON
import RestClient
import SmartStore

/// A search for records of one type that creates without an answer may have created.
struct LostCreateSearch: Sendable {
  let soup: String
  let type: String
  let pending: [PendingCreate]

  /// The maximum number of records to examine for one type. If there are more around the time of an
  /// upload, the creates stay in doubt.
  private static let mostRecords = 10_000

  /// Returns the records created around the times of the uploads.
  /// - Returns: nil if they cannot be queried, or are too many.
  func candidates(_ environment: RunEnvironment) async throws -> [CreateCandidate]? {
    let before = LostCreateTimes(environment)
    guard let found = try await records(before, environment) else { return nil }
    // This answer may be the first one that shows the server's time.
    let after = LostCreateTimes(environment)
    guard before.isFar(from: after) else { return try await marked(found, environment) }
    return try await records(after, environment).asyncMap { try await marked($0, environment) }
  }

  /// - Returns: nil if they cannot be queried, or are too many.
  private func records(_ times: LostCreateTimes, _ environment: RunEnvironment) async throws -> [CreatedRecord]? {
    let windows = pending.map { times.window($0.upload) }
    let first = windows.map(\.lowerBound).min() ?? 0, last = windows.map(\.upperBound).max() ?? 0
    let search = CreatedRecords(
      type: type, period: first...last, fields: IdSet(pending.flatMap(\.fieldNames)).sorted(), limit: Self.mostRecords)
    do {
      return try await environment.service.records(search, through: environment.client)
    } catch let error as RestError where error.status == 400 && environment.service.fault(of: error) != .expiredCursor {
      // A field cannot be queried, so there is no way to find out.
      environment.configuration.logger.warning("looking for lost creates: \(error.message)")
      return nil
    }
  }

  /// Marks the records that have an entry. An entry that a sync down added since does not count:
  /// its record may be the very one.
  private func marked(_ records: [CreatedRecord], _ environment: RunEnvironment) async throws -> [CreateCandidate] {
    let soup = soup, idFields = IdSet(pending.map(\.lookup.fields.id))
    return try await environment.store.read { snapshot in
      let arrivals = try snapshot.arrivals(in: soup)
      var known = Array(repeating: false, count: records.count)
      for field in records.isEmpty ? [] : idFields {
        let found = try snapshot.entryIds(in: soup, where: field, equalsEach: records.map { .text($0.id) })
        for (i, entryIds) in found.enumerated() where !entryIds.allSatisfy(arrivals.contains) { known[i] = true }
      }
      return zip(records, known).map { record, isKnown in
        CreateCandidate(id: record.id, fields: record.fields, createdAt: record.createdAt, isKnownHere: isKnown)
      }
    }
  }
}
