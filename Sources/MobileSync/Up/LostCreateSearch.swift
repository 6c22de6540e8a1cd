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
  private func records(_ times: LostCreateTimes, _ environment: RunEnvironment) async throws -> [CreatedRecord]? {
    let windows = pending.map { times.window($0.upload) }
    let first = windows.map(\.lowerBound).min() ?? 0, last = windows.map(\.upperBound).max() ?? 0
    let search = CreatedRecords(
      type: type, period: first...last, fields: Set(pending.flatMap(\.fieldNames)).sorted(), limit: Self.mostRecords)
    do {
      return try await environment.service.records(search, through: environment.client)
    } catch let error as RestError where error.status == 400 && environment.service.fault(of: error) != .expiredCursor {
      // A field that cannot be asked for: then there is no way to find out.
      environment.configuration.logger.warning("looking for lost creates: \(error.message)")
      return nil
    }
  }

  /// What a sync down brought since is no record of another entry: it may be the very one.
  private func marked(_ records: [CreatedRecord], _ environment: RunEnvironment) async throws -> [CreateCandidate] {
    let soup = soup, idFields = Set(pending.map(\.place.fields.id))
    return try await environment.store.read { snapshot in
      let arrivals = try snapshot.arrivals(in: soup)
      return try records.map { record in
        let known = try idFields.flatMap { try snapshot.entryIds(in: soup, where: $0, equals: .text(record.id)) }
        return CreateCandidate(
          id: record.id, fields: record.fields, createdAt: record.createdAt,
          isKnownHere: !known.allSatisfy(arrivals.contains))
      }
    }
  }
}
