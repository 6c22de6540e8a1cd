import Logging
import RestClient
import Support

/// What a ``SyncManager`` is built with beside its store and client. Clocks are injected, so that tests need no waiting.
public struct SyncConfiguration: Sendable {
  /// Ms since 1970 UTC.
  public var now: @Sendable () -> Int64 = SyncConfiguration.systemTime

  /// Ms since some moment, on a clock that does not jump: how long a walk through a list takes.
  package var uptime: @Sendable () -> Int64 = SyncConfiguration.steadyTime

  /// How long a record may stay invisible to queries after it got its modification date, ms. A re-sync looks back that
  /// far behind the server's time of the last run; what it finds there and has already is neither counted nor written.
  /// A minute covers ordinary transactions; long-running ones on the server can be given more.
  public var commitAllowanceMs: Int64 = 60_000

  /// A sync with more entries than this looks for ghosts in the server's record of deletions, where that is complete; below it
  /// one page of ids tells as much.
  public var ghostFeedEntries = 2000

  /// How long ghosts are looked for in the record of deletions alone, ms. Then all ids are asked for again: records that the user
  /// may no longer see are in no such record. A day is little against what that costs.
  public var ghostFeedMs: Int64 = 86_400_000

  /// How far the server's clock and this one may be apart when a lost create is looked for, ms.
  public var clockSkewMs: Int64 = 300_000

  /// How long after it was sent a create may still appear on the server, ms: the longest a server works on one request.
  public var lateCreateMs: Int64 = 900_000

  /// How long a create whose answer was lost is only looked for, ms: the server may still be at work on it. It is sent again when
  /// it has not appeared by then. Ten minutes are the longest that a known
  /// service gives a call. A target's own `lostCreateWaitMs` goes before.
  public var lostCreateWaitMs: Int64 = 600_000

  /// How long a sync stays reserved for this process without a sign of life, ms. Above the longest single request with
  /// all its retries. Only matters to other machines: on this one a dead process is recognised at once.
  public var leaseMs: Int64 = 900_000

  /// How many syncs without a name are kept after they ended, the ones that ran last; a tenth more may stand there for a while. A
  /// script that stores an id finds its sync for long, and one that runs every minute does not fill the store.
  public var unnamedSyncs = 1000

  /// Runs what targets of the type `custom` name; without it such a sync ends FAILED.
  public var customTargets: (any CustomTargetRunner)?

  /// Decides conflicts where the manager has no resolver of the name that a sync's options give.
  public var resolvers: (any ConflictResolverSource)?

  /// How long one call of a custom target's function, or of a resolver, may take, ms. A script answers from its next `poll`;
  /// two minutes are more than a page takes and little enough to notice that the script does not poll.
  public var customTargetTimeoutMs: Int64 = 120_000

  /// What keeps syncs of the org from running now: asked before one starts, and by one that runs at its check points, which then
  /// ends STOPPED with the message as a warning. Syncs with named servers are not asked about. Must be quick.
  public var restraint: @Sendable (_ isNew: Bool) -> RestError? = { _ in nil }

  /// Which org the client is signed in to: for stores that several orgs have in common. A sync remembers the org it ran in first
  /// and refuses another. Nil: nothing is remembered.
  public var findOrg: (@Sendable () async throws -> String)?

  public var logger = Logger(label: "tureen.sync")

  /// Told the entries of a batch that was read and can be sent: the first one, then each while the one before is under way.
  package var onBatchRead: @Sendable ([Int64]) -> Void = { _ in }

  public init() {}

  /// A server's clock as far as it may be relied on: one that is ahead would hide what is saved until then, so it counts no
  /// further than our own. But a clock behind the server's own records was never set.
  func bounded(_ serverTime: Int64, newest: Int64) -> Int64 {
    let own = now()
    return own >= newest ? min(serverTime, own) : serverTime
  }

  public static let systemTime: @Sendable () -> Int64 = { SystemClock.millisecondsSince1970() }

  package static let steadyTime: @Sendable () -> Int64 = {
    let start = steadyStart
    return start.duration(to: .now).milliseconds
  }
  private static let steadyStart = ContinuousClock.now
}
