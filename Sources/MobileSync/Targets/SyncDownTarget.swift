import JSON
import RestClient
import SmartStore

/// Where a sync down gets its records. It fetches; storing and merging belong to the sync. A fresh one is made for each run.
protocol SyncDownTarget: Sendable {
  /// As stored: normalised, with the names of the id and date fields.
  var json: JSONObject { get }
  var fields: TargetFields { get }
  /// Records come oldest modification first, so that each page moves the stamp from which a later run goes on.
  var isSortedByModification: Bool { get }

  /// The page behind `last`, or the first one.
  ///
  /// - Parameter since: Only what was modified later, ms since 1970 UTC; -1 for everything.
  /// - Returns: nil when there is no more.
  /// - Throws: `RestError`, ``SyncError`` `.unexpectedAnswer`.
  func nextPage(since: Int64, after last: SyncDownPage?, in context: FetchContext) async throws -> SyncDownPage?

  /// Ids that the server would send now, for finding ghosts.
  /// - Parameter localIds: The candidates; a target may restrict its question to them.
  func remoteIds(among localIds: [String], in context: FetchContext) async throws -> Set<String>
}

/// What a target may use while it fetches.
struct FetchContext: Sendable {
  let client: any RestClient
  /// Finds the values that the soup indexes and the engine asks for.
  let plan: PagePlan
  /// Checked between the requests of a target that sends several.
  let control: RunControl
}

/// One page as it came, scanned: text and positions, no values.
struct SyncDownPage: Sendable {
  let records: ScannedPage
  /// Of the whole answer, as the server announces it.
  let totalSize: Int
  /// Where the next page is; nil on the last one.
  let continuation: String?
  /// The server's clock when it looked at its data at the latest possible, ms since 1970 UTC.
  let serverTime: Int64?
}
