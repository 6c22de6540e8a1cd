import Logging
import RestClient
import Support

/// The settings of a ``SyncManager`` besides its store and client. Clocks are injected, so that
/// tests need not wait.
public struct SyncConfiguration: Sendable {
  /// The current time in ms since 1970 UTC.
  public var now: @Sendable () -> Int64 = SyncConfiguration.systemTime

  /// A monotonic clock in ms, to measure how long reading a list takes.
  package var uptime: @Sendable () -> Int64 = SyncConfiguration.steadyTime

  /// How long a record may stay invisible to queries after it got its modification date, in ms. A
  /// re-sync starts that far before the server's time of the last run; known records that it gets
  /// again are neither counted nor written. A minute covers ordinary transactions; raise it for
  /// long-running ones on the server.
  public var commitAllowanceMs: Int64 = 60_000

  /// The number of entries above which a sync looks for ghosts in the server's record of deletions,
  /// if that is complete. Below it, one page of ids is just as good.
  public var ghostFeedEntries = 2000

  /// How long the record of deletions is sufficient for finding ghosts, in ms. After that, all ids
  /// are requested once: the record does not include records that the user may no longer see. That
  /// cost is small once a day.
  public var ghostFeedMs: Int64 = 86_400_000

  /// The largest expected difference between the server's clock and this machine's when a lost
  /// create is looked up, in ms.
  public var clockSkewMs: Int64 = 300_000

  /// How long after it was sent a create may still appear on the server, in ms: the longest time a
  /// server works on one request.
  public var lateCreateMs: Int64 = 900_000

  /// How long a create with a lost answer is only looked up, in ms, because the server may still be
  /// working on it. If it has not appeared by then, it is sent again. Ten minutes are the longest
  /// that a known service allows a call. A target's own `lostCreateWaitMs` takes precedence.
  public var lostCreateWaitMs: Int64 = 600_000

  /// How long a sync stays reserved for this process without a sign of life, in ms. The process
  /// gives one every third of that time, and sends nothing in the last third. It matters only to
  /// other machines: on the same machine, a dead process is detected at once.
  public var leaseMs: Int64 = 30_000

  /// Waits for some ms between two renewals of leases.
  package var pause: @Sendable (Int64) async throws -> Void = { try await Task.sleep(for: .milliseconds($0)) }

  /// The number of ended syncs without a name to keep: the most recently run ones, plus up to a
  /// tenth for a while. A script that stores an id finds its sync for a long time, and one that
  /// runs every minute does not fill the store.
  public var unnamedSyncs = 1000

  /// Runs the functions of `custom` targets; without it such a sync ends as FAILED.
  public var customTargets: (any CustomTargetRunner)?

  /// Resolves conflicts if the manager has no resolver of the requested name.
  public var resolvers: (any ConflictResolverSource)?

  /// Whether the syncs that are defined from now on may only name Lua code that a script registers, in this host and in every
  /// later one: those of a restricted script, whose names must not choose what another script loads.
  public var definesOnlyRegisteredCode = false

  /// How long a call of a custom target's function or of a resolver may take, in ms. A script
  /// answers at its next `poll`; two minutes are more than a page takes, and short enough to notice
  /// that the script does not poll.
  public var customTargetTimeoutMs: Int64 = 120_000

  /// Returns an error if syncs of the org must not run now. It is checked before a sync starts, and
  /// at the check points of a running one, which then ends as STOPPED with the message as a
  /// warning. Syncs of named connections are not checked. Must be quick.
  public var restraint: @Sendable (_ isNew: Bool) -> RestError? = { _ in nil }

  /// Returns the org that the client is signed in to, for stores that several orgs share. A sync
  /// remembers the org of its first run and refuses any other. Nil: nothing is remembered.
  public var findOrg: (@Sendable () async throws -> String)?

  /// The attempt of a job that all runs belong to: its id and fence, as in `tureen job runs`. Nil for none.
  package var job: String?

  public var logger = Logger.tureen("sync")

  /// Called with the entries of each batch that is ready to be sent: the first one, then each next
  /// one while the previous one is in flight.
  package var onBatchRead: @Sendable ([Int64]) -> Void = { _ in }

  public init() {}

  /// Limits a server's clock to what can be relied on. If it is ahead of ours, records saved until
  /// then would be missed, so ours is the limit, unless our clock is behind the server's own
  /// records and therefore wrong.
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
