import JSON

public enum SyncType: String, Sendable, CaseIterable { case syncDown, syncUp }

public enum SyncStatus: String, Sendable, CaseIterable {
  case new = "NEW"
  case stopped = "STOPPED"
  case running = "RUNNING"
  case done = "DONE"
  case failed = "FAILED"

  /// A run has ended with it.
  public var isTerminal: Bool { self == .stopped || self == .done || self == .failed }
}

/// How a script names a sync: a number is its id, a text its name. A sync named "7" is not sync 7.
public enum SyncReference: Sendable, Equatable, CustomStringConvertible {
  case id(Int64)
  case name(String)

  public var description: String {
    switch self {
    case .id(let id): String(id)
    case .name(let name): name
    }
  }
}

/// One saved sync: what it does, and how its last run went. A copy: changing it changes nothing in the store.
public struct SyncState: Sendable, Equatable {
  /// The `_soupEntryId` of its row in `syncs_soup`.
  public internal(set) var id: Int64
  public let type: SyncType
  /// Unique over all syncs of a store.
  public let name: String?
  /// The target as stored: normalised, with what its maker left out.
  public let target: JSONObject
  public let options: SyncOptions
  public let soupName: String

  public internal(set) var status = SyncStatus.new
  /// 0...100.
  public internal(set) var progress = 0
  /// Records this run is about; -1 while that is not known.
  public internal(set) var totalSize = -1
  /// Newest modification stored, ms since 1970 UTC; -1 before the first.
  public internal(set) var maxTimeStamp = TimeStamp.never
  /// Everything on the server up to here is in the soup for certain, ms since 1970 UTC. Not above ``maxTimeStamp``.
  public internal(set) var coveredTimeStamp = TimeStamp.never
  /// When the last search for ghosts among all ids began, less what may still have been under way, ms since 1970 UTC; -1 before.
  public internal(set) var ghostsCheckedUntil = TimeStamp.never
  /// ms since 1970 UTC; 0 before the first run.
  public internal(set) var startTime: Int64 = 0
  public internal(set) var endTime: Int64 = 0
  /// Why the last run ended FAILED: the body of the server's refusal, else a message. Empty otherwise.
  public internal(set) var error = ""
  public internal(set) var counts = SyncCounts()
  /// What the last answer said of the server's limits, such as `api-usage=18/5000`; empty before one.
  public internal(set) var limitInfo = ""
  /// Until then the server may still be working on creates in doubt, ms since 1970 UTC: run a sync up after that to have them
  /// found or sent again. 0 when none waits.
  public internal(set) var inDoubtUntil: Int64 = 0
  /// What about this sync is known to surprise, in sentences for people; about the last run. Empty when there is nothing.
  public internal(set) var warnings: [String] = []
  /// The last run ended at its limit of pages, and the list goes on: ``SyncManager/more(_:onConflict:onUpdate:)`` brings the
  /// rest.
  public internal(set) var hasMore = false
  /// The last run has read a list in which records moved meanwhile: some may be missing until the next run.
  public internal(set) var isIncomplete = false
  /// Before that the server answers nothing more, ms since 1970 UTC; 0 when it has not said so.
  public internal(set) var resumeAt: Int64 = 0
  /// The org whose records a sync of a common store brings; nil where stores have one org each.
  public internal(set) var orgId: String?
  /// What the target keeps between runs, such as where a walk stands. Not for scripts.
  var memory = JSONObject()
  /// The named server that the sync talks to; nil for the org.
  public var connection: String? { target["connection"]?.stringValue }

  /// RUNNING, and waiting for other syncs of its soups. Not stored.
  public internal(set) var isQueued = false

  /// The same in full. Of this process's last run only: it is not stored.
  public internal(set) var failure: SyncError?

  init(id: Int64 = 0, type: SyncType, name: String?, target: JSONObject, options: SyncOptions, soupName: String) {
    self.id = id
    self.type = type
    self.name = name
    self.target = target
    self.options = options
    self.soupName = soupName
  }

  /// Changes the status and what goes with it.
  /// - Parameter now: ms since 1970 UTC.
  mutating func enter(_ status: SyncStatus, now: Int64) {
    if status == .running, self.status != .running {
      startTime = now
      error = ""
      failure = nil
      progress = 0
      counts = SyncCounts()
      inDoubtUntil = 0
      resumeAt = 0
      hasMore = false
      isIncomplete = false
      warnings = []
    }
    if self.status == .running, status.isTerminal { endTime = now }
    self.status = status
  }

  mutating func fail(_ failure: SyncError, now: Int64) {
    enter(.failed, now: now)
    self.failure = failure
    error = failure.stateText
  }
}

/// What a run did, record by record and on the wire. Beside the fields of the model; reset when a run starts.
public struct SyncCounts: Sendable, Equatable {
  /// Records the server sent that are new or changed.
  public internal(set) var fetched = 0
  /// Of these, written into the soup.
  public internal(set) var stored = 0
  /// Left alone: dirty here (down), changed on the server (up), or with nothing to send.
  public internal(set) var skipped = 0
  /// Of the skipped, those changed on both sides; each is a ``SyncConflict``. Of a family sent together, one for all.
  public internal(set) var conflicting = 0
  /// Changed on both sides and brought together, field by field or by a resolver.
  public internal(set) var merged = 0
  /// Uploads the server accepted.
  public internal(set) var succeeded = 0
  /// Uploads the server refused; the records have `__last_error__`.
  public internal(set) var failed = 0
  /// Entries that went because the server has deleted their record, or because it is no longer wanted.
  public internal(set) var removed = 0
  /// Items of the server that could not be used; the first ones are named in ``SyncState/warnings``.
  public internal(set) var flagged = 0
  /// Pages that were read, those that had not changed included.
  public internal(set) var pages = 0
  /// Creates whose outcome is unknown: their answers were lost, and look-ups did not settle them.
  public internal(set) var inDoubt = 0
  /// Requests sent for this run, repeated ones not counted.
  public internal(set) var requests = 0
  /// Requests sent again after a failure.
  public internal(set) var retries = 0
  /// Bytes of the answers' bodies.
  public internal(set) var bytes = 0

  /// The records of the answer so far come again, and count then.
  mutating func forgetFetched() {
    fetched = 0
    stored = 0
    skipped = 0
    conflicting = 0
    flagged = 0
  }

  static let fields: [(name: String, path: WritableKeyPath<SyncCounts, Int> & Sendable)] = [
    ("fetched", \.fetched), ("stored", \.stored), ("skipped", \.skipped), ("conflicting", \.conflicting), ("merged", \.merged),
    ("removed", \.removed), ("flagged", \.flagged), ("pages", \.pages), ("succeeded", \.succeeded), ("failed", \.failed),
    ("inDoubt", \.inDoubt), ("requests", \.requests),
    ("retries", \.retries), ("bytes", \.bytes),
  ]
}
