import JSON
import PostgresStore
import Support
import Synchronization

/// Claims due jobs of a queue and runs them, several at once.
///
/// The thread that calls ``run()`` makes all statements about jobs, so that one heartbeat covers all of them. A job that this
/// worker could not keep is stopped: another worker may be running it.
package final class JobWorker: @unchecked Sendable {  // state is touched on the worker's thread only, but for `inbox`
  /// How a worker ended.
  package enum End: Sendable, Equatable {
    case stopped
    /// Nothing was due any more.
    case drained(failed: Int)
  }

  /// A job that this worker runs.
  struct Running {
    let claimed: ClaimedJob
    let attempt: any JobAttempt
    /// When the claim was last known to hold, in ms of the monotonic clock.
    var renewedAt: Int64
    /// True if another worker may be running the job.
    var isLost = false

    var job: Job { claimed.job }
  }

  /// What other threads leave for the worker's thread.
  private struct Inbox {
    var ended: [(id: Int64, end: AttemptEnd)] = []
    var isStopRequested = false
  }

  let settings: WorkerSettings
  let runner: any JobRunner
  let ledger: JobLedger
  let schema: PostgresSchema
  let link: WorkerLink
  let tell: @Sendable (WorkerNews) -> Void
  private let wakeUp: WakeUp
  private let inbox = Mutex(Inbox())

  // On the worker's thread:
  var running: [Int64: Running] = [:]
  /// Attempts whose end the database does not know yet.
  var unsettled: [(claimed: ClaimedJob, end: AttemptEnd, isLost: Bool)] = []
  var failures = 0
  /// In ms of the monotonic clock: when to look for jobs, to send a heartbeat, and to use the database again.
  var nextLook: Int64 = 0, nextBeat: Int64 = 0, nextRefresh: Int64 = 0, retryAt: Int64 = 0
  var isDatabaseLost = false
  /// True if the last look found nothing to claim.
  var isIdle = false
  var backOff: WorkerBackOff
  /// What was told about jobs that this worker cannot run.
  var toldAbout: Set<String> = []
  private var stopBy: Int64?
  private var wasEnded = false

  init(
    _ settings: WorkerSettings, _ database: JobDatabase, runner: any JobRunner, tell: @escaping @Sendable (WorkerNews) -> Void
  ) throws {
    self.settings = settings
    self.runner = runner
    self.tell = tell
    schema = database.schema
    ledger = JobLedger(database.schema, claimMs: settings.claimMs)
    link = WorkerLink(database, claimMs: settings.claimMs)
    backOff = WorkerBackOff(firstMs: settings.databasePauseMs)
    wakeUp = try WakeUp()
  }

  var now: Int64 { SystemClock.monotonicMilliseconds() }
  var isStopping: Bool { stopBy != nil }

  /// Asks the worker to end: its jobs stop at a page and are given back. Callable from any thread.
  package func stop() {
    inbox.withLock { $0.isStopRequested = true }
    wakeUp.signal()
  }

  /// Works until ``stop()``, or until nothing is due if the settings say so. Blocks.
  /// - Throws: ``JobError`` if the database refuses the worker at the start, or cannot be reached by a worker that drains;
  ///   ``HostError``.
  package func run() throws -> End {
    defer { link.drop() }
    try start()
    while true {
      takeNews()
      keepJobs()
      settle()
      if isStopping {
        if running.isEmpty, unsettled.isEmpty || now >= stopBy ?? 0 { break }
        endLateAttempts()
      } else if now >= nextLook {
        look()
        if settings.isDraining, running.isEmpty, unsettled.isEmpty {
          if isDatabaseLost { throw JobError(.unavailable, "the database cannot be used, and no job is left here") }
          if isIdle { return .drained(failed: failures) }
        }
      }
      wait()
    }
    if !unsettled.isEmpty { tell(.notGivenBack(unsettled.map(\.claimed.summary), claimMs: settings.claimMs)) }
    return .stopped
  }

  /// Called when an attempt has ended, on any thread.
  func ended(_ id: Int64, _ end: AttemptEnd) {
    inbox.withLock { $0.ended.append((id, end)) }
    wakeUp.signal()
  }

  private func takeNews() {
    let (ended, isStopRequested) = inbox.withLock { inbox in
      defer { inbox.ended = [] }
      return (inbox.ended, inbox.isStopRequested)
    }
    for (id, end) in ended {
      guard let one = running.removeValue(forKey: id) else { continue }
      unsettled.append((one.claimed, end, one.isLost))
      nextLook = 0
    }
    guard isStopRequested, !isStopping else { return }
    stopBy = now + settings.graceMs
    // The reader of the news may keep the thread waiting.
    for one in running.values { one.attempt.stop() }
    tell(.stopping(running: running.count))
  }

  private func endLateAttempts() {
    guard let stopBy, now >= stopBy, !running.isEmpty, !wasEnded else { return }
    wasEnded = true
    for one in running.values { one.attempt.end() }
    tell(.ending(running: running.count))
  }

  /// Waits for the next thing to do: the end of an attempt, a notification, or a time.
  private func wait() {
    var times = [now + settings.pollMs]
    if !isStopping { times.append(nextLook) }
    if !running.isEmpty { times.append(nextBeat) }
    if !unsettled.isEmpty { times.append(retryAt) }
    if let stopBy, !wasEnded { times.append(stopBy) }
    let isReady = wakeUp.wait(or: isStopping ? -1 : link.descriptor, milliseconds: (times.min() ?? 0) - now)
    guard isReady else { return }
    // After a lost connection, notifications may have been missed.
    if link.payloads()?.contains(settings.queue) ?? true { nextLook = 0 }
  }
}
