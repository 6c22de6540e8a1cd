import JSON

public enum SyncType: String, Sendable, CaseIterable { case syncDown, syncUp }

public enum SyncStatus: String, Sendable, CaseIterable {
  case new = "NEW"
  case stopped = "STOPPED"
  case running = "RUNNING"
  case done = "DONE"
  case failed = "FAILED"

  /// Whether a run ends with this status.
  public var isTerminal: Bool { self == .stopped || self == .done || self == .failed }
}

/// A reference to a sync in a script: a number is its id, a text its name. A sync named "7" is not
/// sync 7.
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

/// One saved sync: its definition, and the result of its last run. This is a copy: changing it does
/// not change the store.
public struct SyncState: Sendable, Equatable {
  /// The `_soupEntryId` of its row in `syncs_soup`.
  public internal(set) var id: Int64
  public let type: SyncType
  /// Unique among the syncs of a store.
  public let name: String?
  /// The target as stored: normalized and complete.
  public let target: JSONObject
  public let options: SyncOptions
  public let soupName: String

  public internal(set) var status = SyncStatus.new
  /// 0 to 100.
  public internal(set) var progress = 0
  /// The number of records of this run; -1 while unknown.
  public internal(set) var totalSize = -1
  /// The newest modification stored, ms since 1970 UTC; -1 before the first.
  public internal(set) var maxTimeStamp = TimeStamp.never
  /// The soup certainly has everything that was modified on the server up to here, ms since 1970
  /// UTC. Never above ``maxTimeStamp``.
  public internal(set) var coveredTimeStamp = TimeStamp.never
  /// When the last search for ghosts among all ids started, minus the time that changes may take to
  /// become visible, ms since 1970 UTC; -1 before the first.
  public internal(set) var ghostsCheckedUntil = TimeStamp.never
  /// In ms since 1970 UTC; 0 before the first run.
  public internal(set) var startTime: Int64 = 0
  public internal(set) var endTime: Int64 = 0
  /// Why the last run ended as FAILED: the body of the server's refusal, else a message. Otherwise
  /// empty.
  public internal(set) var error = ""
  public internal(set) var counts = SyncCounts()
  /// What the last answer said about the server's limits, such as `api-usage=18/5000`; empty before
  /// one.
  public internal(set) var limitInfo = ""
  /// Until when the server may still be working on creates in doubt, ms since 1970 UTC: a sync up
  /// after that finds them or sends them again. 0 if none is waiting.
  public internal(set) var inDoubtUntil: Int64 = 0
  /// Warnings about the sync and its last run, in sentences for users.
  public internal(set) var warnings: [String] = []
  /// How many entries of an applied plan the last run left out; the warnings say why.
  public internal(set) var leftOut = 0
  /// Whether the last run ended at its page limit before the list did:
  /// ``SyncManager/more(_:onConflict:onUpdate:)`` fetches the rest.
  public internal(set) var hasMore = false
  /// Whether records moved in the list while the last run read it: some may be missing until the
  /// next run.
  public internal(set) var isIncomplete = false
  /// The time before which the server rejects requests, ms since 1970 UTC; 0 if it gave none.
  public internal(set) var resumeAt: Int64 = 0
  /// Whether the definition may only name Lua code that the running script has registered, because a script without the
  /// right to load modules wrote it.
  public internal(set) var usesRegisteredCode = false
  /// The org of a sync in a store that several orgs share; nil for other stores.
  public internal(set) var orgId: String?
  /// What the target remembers between runs, such as its position in a list. Not for scripts.
  var memory = JSONObject()
  /// The named connection of the sync; nil for the org.
  public var connection: String? { target["connection"]?.stringValue }

  /// Whether the sync is RUNNING but waits for other syncs of its soups. Not stored.
  public internal(set) var isQueued = false

  /// The error of the last run in this process. Not stored.
  public internal(set) var failure: SyncError?

  init(id: Int64 = 0, type: SyncType, name: String?, target: JSONObject, options: SyncOptions, soupName: String) {
    self.id = id
    self.type = type
    self.name = name
    self.target = target
    self.options = options
    self.soupName = soupName
  }

  /// Changes the status and the fields that depend on it.
  /// - Parameter now: Ms since 1970 UTC.
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
      leftOut = 0
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

/// What a run did, in records and requests. These fields extend those of the Mobile SDK; they are
/// reset when a run starts.
public struct SyncCounts: Sendable, Equatable {
  /// Records from the server that are new or changed.
  public internal(set) var fetched = 0
  /// Fetched records that were written into the soup.
  public internal(set) var stored = 0
  /// Records left alone: dirty here (down), changed on the server (up), or with nothing to send.
  public internal(set) var skipped = 0
  /// Skipped records that were changed on both sides; each is a ``SyncConflict``. A family that is
  /// sent together counts once.
  public internal(set) var conflicting = 0
  /// Records changed on both sides and merged, field by field or by a resolver.
  public internal(set) var merged = 0
  /// Uploads that the server accepted.
  public internal(set) var succeeded = 0
  /// Uploads that the server refused; the records have `__last_error__`.
  public internal(set) var failed = 0
  /// Entries removed because the server has deleted their record, or because the target no longer
  /// wants it.
  public internal(set) var removed = 0
  /// Items of the server that could not be used; ``SyncState/warnings`` names the first ones.
  public internal(set) var flagged = 0
  /// Pages that were read, including unchanged ones.
  public internal(set) var pages = 0
  /// Creates whose outcome is unknown: their answers were lost, and look-ups did not settle them.
  public internal(set) var inDoubt = 0
  /// Requests sent for this run, without repeated ones.
  public internal(set) var requests = 0
  /// Requests sent again after a failure.
  public internal(set) var retries = 0
  /// Bytes of the answers' bodies.
  public internal(set) var bytes = 0

  /// Resets the counts of records that will be fetched, and counted, again.
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
