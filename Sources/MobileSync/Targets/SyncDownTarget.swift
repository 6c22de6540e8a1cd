import JSON
import RestClient
import SmartStore
import Synchronization

/// Where a sync down gets its records. It fetches; storing and merging belong to the sync. A fresh one is made for each run.
///
/// A new kind belongs to a ``SyncService``.
package protocol SyncDownTarget: Sendable {
  /// As stored: normalised, with the names of the id and date fields.
  var json: JSONObject { get }
  /// The id and date fields of its records, unless ``places(_:)`` says otherwise.
  var fields: TargetFields { get }
  /// Records come oldest modification first, so that each page moves the stamp from which a later run goes on.
  var isSortedByModification: Bool { get }
  /// A later run asks only for what changed since. The others bring everything each time, and all of it counts.
  var isIncremental: Bool { get }
  /// The total announced is of candidates: those that turn out to be unchanged do not leave it.
  var announcesCandidates: Bool { get }
  /// Only so many of the records that match come in one run: each run that asks for what changed brings others.
  var isLimited: Bool { get }
  /// There can be ghosts among its records.
  var hasGhosts: Bool { get }
  /// It keeps its own account of the list, in the notes of its pages: the stamps of records play no part, and what is stored
  /// already is told by comparing.
  var keepsAccount: Bool { get }
  /// A run may end before the list does, and a later one go on there.
  var canPause: Bool { get }
  /// Pages of one run, where the sync's options say nothing; nil for no limit.
  var longestRun: Int? { get }
  /// Something is fetched after the rows; see ``afterRows(in:)``.
  var hasAfterRows: Bool { get }

  /// The server's record of deletions, where it tells of every ghost there can be; nil otherwise.
  var deletions: (any DeletionFeed)? { get }

  /// The soups it fills, the one whose records count most first.
  /// - Parameter soupName: The sync's own soup.
  func places(_ soupName: String) -> [RecordPlace]

  /// The first page.
  ///
  /// - Parameter since: Only what was modified later, ms since 1970 UTC; -1 for everything.
  /// - Returns: nil when there is nothing to ask for. The page knows how to get the one behind it.
  /// - Throws: `RestError`, ``SyncError``.
  func start(since: Int64, in context: FetchContext) async throws -> SyncDownPage?

  /// Fetches what belongs to the rows, once they are stored.
  /// - Returns: What people should know of it.
  /// - Throws: `CancellationError`; nothing else ends the run.
  func afterRows(in context: FetchContext) async throws -> [String]

  /// Ids that the server would send now, for finding ghosts: one set for each place.
  /// - Parameter localIds: The candidates, by place; a target may restrict its question to them.
  func remoteIds(among localIds: [[String]], in context: FetchContext) async throws -> [Set<String>]
}

extension SyncDownTarget {
  package var isSortedByModification: Bool { false }
  package var isIncremental: Bool { false }
  package var announcesCandidates: Bool { false }
  package var isLimited: Bool { false }
  package var hasGhosts: Bool { true }
  package var keepsAccount: Bool { false }
  package var canPause: Bool { keepsAccount || isSortedByModification }
  package var longestRun: Int? { nil }
  package var hasAfterRows: Bool { false }
  package var deletions: (any DeletionFeed)? { nil }

  package func places(_ soupName: String) -> [RecordPlace] { [RecordPlace(soup: soupName, fields: fields)] }
  package func afterRows(in context: FetchContext) async throws -> [String] { [] }
}

/// A soup that a target fills.
package struct RecordPlace: Sendable, Equatable {
  package let soup: String
  package let fields: TargetFields
  /// Set for records that go with one of the first place: the field that holds their parent's id. They are not counted, and
  /// with ``MergeMode/leaveIfChanged`` a parent and its children stay or are replaced together.
  package var parentIdField: String?
  /// Set for records that come along with those of the first place and stand for themselves: they are not counted either.
  package var isCompanion = false

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
  /// Finds the values that the soups index and the engine asks for: one for each place.
  package let plans: [PagePlan]
  /// Checked between the requests of a target that sends several.
  package let control: RunControl
  package let configuration: SyncConfiguration
  package let firstAnswer = FirstAnswer()
  /// Whose records are fetched.
  package var syncId: Int64 = 0
  package var soup = ""
  package var fields: TargetFields?
  /// Ghosts go even when they are more than the target allows.
  package var isForced = false
  package var mode = RunMode.resume
  /// What the target remembers of earlier runs.
  package var memory = JSONObject()

  /// The first place's.
  package var plan: PagePlan { plans[0] }
}

/// One page as it came, scanned: text and positions, no values.
package struct SyncDownPage: Sendable {
  /// Gets the page behind; nil when there is none after all.
  package typealias Next = @Sendable () async throws -> SyncDownPage?

  /// The records for each place of the target; nil where this page brings none.
  package let parts: [ScannedPage?]
  /// For each record of the second place, the position of its parent on this page.
  package var parents: [Int] = []
  /// Of the whole answer, as far as it is known by now; -1 for unknown.
  package var totalSize: Int
  /// The server's clock when it looked at its data at the latest possible, ms since 1970 UTC.
  package var serverTime: Int64?
  /// nil on the last page.
  package var next: Next?
  /// Of a target that keeps its own account.
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

/// An answer and when the server gave it.
package struct TimedResponse: Sendable {
  package let response: RestResponse
  /// See ``SyncDownPage/serverTime``.
  package let serverTime: Int64?
}

/// When the server looked at its data for the first answer at the latest possible. Any thread.
package final class FirstAnswer: Sendable {
  private let time = Mutex<Int64?>(nil)

  /// ms since 1970 UTC, by the server's clock; nil before an answer, and when the first one had no date.
  package var serverTime: Int64? { time.withLock { $0 == Int64.min ? nil : $0 } }

  package func note(_ serverTime: Int64?) { time.withLock { $0 = $0 ?? serverTime ?? Int64.min } }
}

extension FetchContext {
  /// Sends a request and takes down the server's time: what its `Date` says, less the time that passed.
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
