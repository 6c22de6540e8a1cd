import JSON
import RestClient
import SmartStore
import Synchronization

/// The source of a sync down's records. It fetches; the sync stores and merges. A new one is
/// created for each run.
///
/// A new kind of target belongs to a ``SyncService``.
package protocol SyncDownTarget: Sendable {
  /// The JSON as stored: normalized, with the names of the id and date fields.
  var json: JSONObject { get }
  /// The id and date fields of its records, unless ``mappings(_:)`` says otherwise.
  var fields: TargetFields { get }
  /// Whether records are sorted by modification, oldest first, so that each page moves the stamp
  /// from which a later run continues.
  var isSortedByModification: Bool { get }
  /// Whether a later run requests only changes. Other targets bring everything each time, and all
  /// of it counts.
  var isIncremental: Bool { get }
  /// Whether the announced total is of candidates: those that turn out to be unchanged are not
  /// subtracted.
  var announcesCandidates: Bool { get }
  /// Whether one run brings only a limited number of the matching records, so that each re-sync
  /// brings others.
  var isLimited: Bool { get }
  /// Whether its records can become ghosts.
  var hasGhosts: Bool { get }
  /// Whether the target tracks its own progress, in the notes of its pages: the stamps of records
  /// do not count, and unchanged records are found by comparison.
  var tracksOwnProgress: Bool { get }
  /// Whether a run may end before the list does and a later one continue there.
  var canPause: Bool { get }
  /// The maximum number of pages of one run, if the sync's options give none; nil for no limit.
  var longestRun: Int? { get }
  /// Whether something is fetched after the rows; see ``afterRows(in:)``.
  var hasAfterRows: Bool { get }

  /// The server's record of deletions, if it reports every possible ghost; otherwise nil.
  var deletions: (any DeletionFeed)? { get }

  /// Returns the soups that it fills, starting with the one whose records are counted.
  /// - Parameter soupName: The sync's own soup.
  func mappings(_ soupName: String) -> [SoupMapping]

  /// Fetches the first page.
  ///
  /// - Parameter since: Requests only what was modified later, ms since 1970 UTC; -1 for
  ///   everything.
  /// - Returns: nil if there is nothing to fetch. The page has a closure that fetches the next one.
  /// - Throws: `RestError`, ``SyncError``.
  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage?

  /// Fetches data that belongs to the rows, after they are stored.
  /// - Returns: Warnings for users.
  /// - Throws: `CancellationError`; no other error ends the run.
  func afterRows(in context: FetchContext) async throws -> [String]

  /// Returns the ids that the server would send now, to find ghosts: one set for each mapping.
  /// - Parameter localIds: The candidates, by mapping; a target may limit its request to them.
  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [IdSet]

  /// Returns whether the server has some records of one mapping, also those that the target would
  /// not send.
  /// - Parameter type: The records' type, for services that need it.
  /// - Returns: One answer for each id, in order.
  /// - Throws: `RestError`, ``SyncError``.
  func existence(
    of ids: [String], type: String, mapping: Int, in context: FetchContext
  ) async throws -> [RecordExistence]

  // MARK: Comparing

  /// Why its records cannot be compared with the soup, as a part of a sentence; nil if they can.
  var whyNotComparable: String? { get }
  /// Whether the records that it sends have all members that the soup keeps of them.
  var sendsWholeRecords: Bool { get }
  /// Whether each run brings everything, so that a difference lasts no longer than until the next one.
  var bringsEverything: Bool { get }

  /// Returns how many mappings, from the first one on, an inventory has.
  func comparedMappings(_ level: VerifyLevel, of mappings: [SoupMapping]) -> Int

  /// Returns the number of records that it would send now, by mapping.
  /// - Returns: nil if only the records themselves tell.
  func serverCount(in context: FetchContext) async throws -> [Int]?

  /// Fetches what it would send now, for a comparison: as ``start(since:in:)`` from the beginning, without any progress. Pages
  /// have parts for the mappings that are compared.
  /// - Parameters:
  ///   - ids: Only these records of the first mapping; nil for all.
  ///   - level: With ``VerifyLevel/ids``, and less, the ids and dates of records are enough.
  /// - Returns: nil if there is nothing, or if single records cannot be asked for.
  func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage?

  /// Returns what became of records that the inventory lacks: by mapping, in the order of the ids.
  func whereabouts(of lacking: [[LackingRecord]], in context: FetchContext) async throws -> [[Whereabouts]]
}

/// A record that the soup has and the server did not send.
package struct LackingRecord: Sendable {
  package let id: String
  package let type: String
}

/// What became of a record that the server did not send.
package enum Whereabouts: Sendable, Equatable {
  /// The target would send it after all, or keeps it although the server does not send it.
  case sent
  case deleted
  /// It exists, and is not what the target asks for.
  case outside
  /// The server does not send it, and cannot be asked why.
  case unknown
}

/// Whether a server has a record.
package enum RecordExistence: Sendable, Equatable {
  case present, gone
  /// The server cannot be asked.
  case unknown
}

extension SyncDownTarget {
  package var isSortedByModification: Bool { false }
  package var isIncremental: Bool { false }
  package var announcesCandidates: Bool { false }
  package var isLimited: Bool { false }
  package var hasGhosts: Bool { true }
  package var tracksOwnProgress: Bool { false }
  package var canPause: Bool { tracksOwnProgress || isSortedByModification }
  package var longestRun: Int? { nil }
  package var hasAfterRows: Bool { false }
  package var deletions: (any DeletionFeed)? { nil }

  package var whyNotComparable: String? { nil }
  package var sendsWholeRecords: Bool { true }
  package var bringsEverything: Bool { !isIncremental }

  package func comparedMappings(_ level: VerifyLevel, of mappings: [SoupMapping]) -> Int { mappings.count }
  package func serverCount(in context: FetchContext) async throws -> [Int]? { nil }

  package func inventory(of ids: [String]?, _ level: VerifyLevel, in context: FetchContext) async throws -> SyncDownPage? {
    ids == nil ? try await start(since: TimeStamp.never, in: context) : nil
  }

  /// Asks as a search for ghosts does, and whether the records exist.
  package func whereabouts(of lacking: [[LackingRecord]], in context: FetchContext) async throws -> [[Whereabouts]] {
    let remote = try await remoteIds(among: lacking.map { $0.map(\.id) }, in: context)
    var found = zip(lacking, remote).map { records, sent in
      records.map { sent.contains($0.id) ? Whereabouts.sent : .unknown }
    }
    for mapping in lacking.indices {
      let asked = lacking[mapping].indices.filter { found[mapping][$0] == .unknown }.prefix(VerifyResult.listed)
      for type in IdSet(asked.map { lacking[mapping][$0].type }).sorted() {
        let ofType = asked.filter { lacking[mapping][$0].type == type }
        do {
          let answers = try await existence(
            of: ofType.map { lacking[mapping][$0].id }, type: type, mapping: mapping, in: context)
          for (i, answer) in zip(ofType, answers) where answer != .unknown {
            found[mapping][i] = answer == .gone ? .deleted : .outside
          }
        } catch let error as RestError where error.code == .httpStatus && [400, 404].contains(error.status ?? 0) {
          // The server cannot be asked about this type.
          continue
        }
      }
    }
    return found
  }

  package func mappings(_ soupName: String) -> [SoupMapping] { [SoupMapping(soup: soupName, fields: fields)] }
  package func afterRows(in context: FetchContext) async throws -> [String] { [] }

  /// Asks the service, which finds records by type and id.
  package func existence(
    of ids: [String], type: String, mapping: Int, in context: FetchContext
  ) async throws -> [RecordExistence] {
    guard let service = context.service else { return ids.map { _ in .unknown } }
    let idField = mappings(context.soup)[mapping].fields.id
    let versions = try await service.versions(type: type, ids: ids, fields: [idField], through: context.client)
    return versions.map { version in
      switch version {
      case .record: .present
      case .deleted: .gone
      case .unknown: .unknown
      }
    }
  }
}

/// A soup that a target fills, and the fields of its records.
package struct SoupMapping: Sendable, Equatable {
  package let soup: String
  package let fields: TargetFields
  /// The field that holds the id of the parent; set for children of records of the first mapping.
  /// Children are not counted, and with ``MergeMode/leaveIfChanged`` a parent and its children are
  /// kept or replaced together.
  package var parentIdField: String?
  /// Set for independent records that come along with those of the first mapping; they are not
  /// counted either.
  package var isCompanion = false
  /// Whether removed ghosts of a companion are reported, as those of the first mapping are.
  package var reportsGhosts = false

  package init(soup: String, fields: TargetFields, parentIdField: String? = nil, isCompanion: Bool = false) {
    self.soup = soup
    self.fields = fields
    self.parentIdField = parentIdField
    self.isCompanion = isCompanion
  }

  package var isCounted: Bool { parentIdField == nil && !isCompanion }
}

/// What a target may use while it fetches.
package struct FetchContext: Sendable {
  package let client: any RestClient
  package let store: Store
  /// Find the indexed values and the engine's own fields in records; one plan for each mapping.
  package let plans: [PagePlan]
  /// Targets that send several requests check it in between.
  package let control: RunControl
  package let configuration: SyncConfiguration
  package let firstAnswer = FirstAnswer()
  /// The sync whose records are fetched.
  package var syncId: Int64 = 0
  package var soup = ""
  package var fields: TargetFields?
  /// Whether ghosts are removed even if they are more than the target allows.
  package var isForced = false
  /// The service of the sync's target.
  package var service: (any SyncService)?
  package var mode = RunMode.resume
  /// What the target remembers from earlier runs.
  package var memory = JSONObject()

  /// The plan of the first mapping.
  package var plan: PagePlan { plans[0] }
}

/// One page as received and scanned: text and positions, no values.
package struct SyncDownPage: Sendable {
  /// Fetches the next page; returns nil if there is none after all.
  package typealias Next = @Sendable () async throws -> SyncDownPage?

  /// The records for each mapping of the target; nil where this page has none.
  package let parts: [ScannedPage?]
  /// The position on this page of the parent of each record of the second mapping.
  package var parents: [Int] = []
  /// The size of the whole result as far as known; -1 if unknown.
  package var totalSize: Int
  /// A lower bound for the server's clock when it read its data, ms since 1970 UTC.
  package var serverTime: Int64?
  /// nil on the last page.
  package var next: Next?
  /// Set by targets that track their own progress.
  package var notes: PageNotes?

  package init(
    parts: [ScannedPage?], parents: [Int] = [], totalSize: Int, serverTime: Int64? = nil, next: Next? = nil
  ) {
    self.parts = parts
    self.parents = parents
    self.totalSize = totalSize
    self.serverTime = serverTime
    self.next = next
  }
}

/// An answer and its time on the server's clock.
package struct TimedResponse: Sendable {
  package let response: RestResponse
  /// See ``SyncDownPage/serverTime``.
  package let serverTime: Int64?
}

/// The server time of the first answer; see ``SyncDownPage/serverTime``. Any thread.
package final class FirstAnswer: Sendable {
  private let time = Mutex<Int64?>(nil)

  /// In ms since 1970 UTC, by the server's clock; nil before an answer, and if the first one had no
  /// date.
  package var serverTime: Int64? { time.withLock { $0 == Int64.min ? nil : $0 } }

  package func note(_ serverTime: Int64?) { time.withLock { $0 = $0 ?? serverTime ?? Int64.min } }
}

extension FetchContext {
  /// Sends a request and computes the server's time: its `Date` minus the time that the request
  /// took.
  package func send(_ request: RestRequest) async throws -> TimedResponse {
    try control.check()
    let clock = ContinuousClock()
    let sent = clock.now
    let response = try await client.send(request)
    let waited = sent.duration(to: clock.now)
    let date = response.header("Date").flatMap { TimeStamp.milliseconds(httpDate: $0) }
    let serverTime = date.map { $0 - waited.milliseconds }
    firstAnswer.note(serverTime)
    return TimedResponse(response: response, serverTime: serverTime)
  }
}

extension Duration {
  package var milliseconds: Int64 { components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000 }
}
