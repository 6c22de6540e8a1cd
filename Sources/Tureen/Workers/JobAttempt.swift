import JSON
import PostgresStore

/// A claimed job and its store.
struct ClaimedJob: Sendable {
  let job: Job
  let store: PostgresSchema.Store

  /// The attempt, as the history names it.
  var attempt: String { "\(job.id)/\(job.fence)" }

  var summary: JobSummary { JobSummary(job, in: store) }
}

/// How an attempt ended.
enum AttemptEnd: Sendable, Equatable {
  /// The figures of the run, as a JSON object.
  case done(counts: JSONObject)
  /// `isFinal`: another attempt would fail, too. The message must not contain record values.
  case failed(String, isFinal: Bool)
  /// It was stopped before its end and can be continued.
  case stopped
  /// It could not begin, because another run of the same sync goes on.
  case postponed(String)
}

/// An attempt in progress. Both functions return at once and may be called repeatedly, from any thread.
protocol JobAttempt: AnyObject, Sendable {
  /// Asks for an end at the next safe point: a page of a sync, a SIGTERM for a script.
  func stop()
  /// Ends it without waiting for such a point.
  func end()
}

/// Runs the jobs of a worker.
protocol JobRunner: AnyObject, Sendable {
  /// The kinds of jobs that it can run.
  var kinds: [Job.Kind] { get }

  /// Whose jobs it can run, for people.
  var accounts: [String] { get }

  /// Looks again whose jobs it can run. Blocks.
  func refresh() throws

  func canRun(_ store: PostgresSchema.Store) -> Bool

  /// Starts an attempt. The worker calls it on the thread that ``JobWorker/run()`` was called on.
  /// - Parameter onEnd: Called once, on any thread, also before this function returns.
  func begin(_ claimed: ClaimedJob, onEnd: @escaping @Sendable (AttemptEnd) -> Void) -> any JobAttempt
}
