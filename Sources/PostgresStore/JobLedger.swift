/// Work that any host may do: a sync or a script of a store.
package struct Job: Sendable, Equatable {
  package enum Kind: String, Sendable, CaseIterable { case sync, script }
  package enum State: String, Sendable, CaseIterable { case ready, running, done, failed }

  package let id: Int64
  /// The number of its store.
  package let store: Int64
  package let kind: Kind
  /// The sync's or script's name; with the store and the kind it is unique.
  package let name: String
  /// JSON.
  package let arguments: String
  package let queue: String
  /// Ms between the times at which it is due; nil for a job that runs once.
  package let everyMs: Int64?
  /// Ms since 1970 UTC, by the server's clock.
  package let due: Int64
  package let state: State
  /// The worker that runs it.
  package let owner: String?
  /// Rises with each attempt.
  package let fence: Int64
  /// Attempts since the last success.
  package let attempts: Int64, maximumAttempts: Int64
  /// Why the last attempt failed.
  package let error: String?
}

/// The jobs of a database and the record of their attempts. All times are the server's.
package struct JobLedger: Sendable {
  let schema: PostgresSchema
  /// Ms after which a running job without ``renew(_:owner:on:)`` is given to another worker.
  package var claimMs: Int64

  package init(_ schema: PostgresSchema, claimMs: Int64 = Tuning.leaseMs) {
    self.schema = schema
    self.claimMs = claimMs
  }

  /// A new job.
  package struct Request: Sendable {
    package var store: Int64
    package var kind: Job.Kind
    package var name: String
    package var arguments = "{}"
    package var queue = "default"
    package var everyMs: Int64?
    /// Ms from now until it is due.
    package var delayMs: Int64 = 0
    package var maximumAttempts: Int64 = 5

    package init(store: Int64, kind: Job.Kind, name: String) {
      self.store = store
      self.kind = kind
      self.name = name
    }
  }

  /// What became of an attempt.
  package enum Outcome: Sendable, Equatable {
    case done
    /// `isFinal`: another attempt would fail, too. The message must not contain record values.
    case failed(String, isFinal: Bool)
    /// The worker stops; the attempt does not count and the job is due at once.
    case released
    /// It cannot run just now, such as a sync that is running already. The attempt does not count and the job is due
    /// again after a few seconds.
    case postponed(String)
  }

  /// The channel on which workers can hear that a job was added; the payload is its queue. A hint:
  /// notifications can get lost, so workers look from time to time.
  package var channel: String { "\(schema.name)_jobs" }

  private static let columns = """
    id, store, kind, name, args, queue, every_ms, (extract(epoch FROM due) * 1000)::bigint, state, owner, fence, attempts,
    max_attempts, error
    """

  private func job(_ row: PostgresRow) throws -> Job {
    guard let kind = Job.Kind(rawValue: try row.string(2)), let state = Job.State(rawValue: try row.string(8)) else {
      throw PostgresError(.unexpectedResult, "a job of a kind or state that this build does not know")
    }
    return Job(
      id: try row.int64(0), store: try row.int64(1), kind: kind, name: try row.string(3), arguments: try row.string(4),
      queue: try row.string(5), everyMs: try row.optionalInt64(6), due: try row.int64(7), state: state,
      owner: try row.optionalString(9), fence: try row.int64(10), attempts: try row.int64(11),
      maximumAttempts: try row.int64(12), error: try row.optionalString(13))
  }

  // MARK: For people

  /// Adds a job.
  /// - Throws: ``PostgresError`` `.jobExists`, `.invalidJob`.
  package func add(_ request: Request, on connection: PostgresConnection) throws -> Job {
    guard request.everyMs.map({ $0 > 0 }) ?? true, request.maximumAttempts > 0, !request.name.isEmpty else {
      throw PostgresError(.invalidJob, "a job needs a name, an interval above 0, and at least 1 attempt")
    }
    var flight = Flight()
    flight.add(
      """
      INSERT INTO \(schema.sql).jobs (store, kind, name, args, queue, every_ms, due, max_attempts)
      VALUES ($1::bigint, $2, $3, $4, $5, $6::bigint, clock_timestamp() + $7 * interval '1 ms', $8::bigint)
      ON CONFLICT (store, kind, name) DO NOTHING RETURNING \(Self.columns)
      """,
      [
        .int64(request.store), .text(request.kind.rawValue), .text(request.name), .text(request.arguments),
        .text(request.queue), .optional(request.everyMs), .double(Double(request.delayMs)), .int64(request.maximumAttempts),
      ])
    flight.add("SELECT pg_notify($1, $2)", [.text(channel), .text(request.queue)])
    do {
      guard let row = try connection.run(flight)[0].first else {
        throw PostgresError(.jobExists, "the store has a \(request.kind.rawValue) job '\(request.name)' already")
      }
      return try job(row)
    } catch let error as PostgresError where error.sqlState == "23503" {
      throw PostgresError(.invalidJob, "there is no store \(request.store)")
    }
  }

  /// - Parameter store: nil for the jobs of all stores.
  package func list(store: Int64? = nil, on connection: PostgresConnection) throws -> [Job] {
    try connection.query(
      "SELECT \(Self.columns) FROM \(schema.sql).jobs WHERE $1::bigint IS NULL OR store = $1::bigint ORDER BY id",
      [.optional(store)]
    ).map(job)
  }

  /// Makes a job that failed, is done or waits due at once, with all its attempts. A repeated job keeps its regular times.
  /// - Throws: ``PostgresError`` `.noSuchJob`, `.jobIsRunning`.
  package func retry(_ id: Int64, on connection: PostgresConnection) throws -> Job {
    var flight = Flight()
    flight.add(
      """
      UPDATE \(schema.sql).jobs SET state = 'ready', due = clock_timestamp(), regular = coalesce(regular, due), attempts = 0
      WHERE id = $1 AND state <> 'running' RETURNING \(Self.columns)
      """, [.int64(id)])
    flight.add("SELECT pg_notify($1, queue) FROM \(schema.sql).jobs WHERE id = $2", [.text(channel), .int64(id)])
    guard let row = try connection.run(flight)[0].first else { throw try missing(id, connection) }
    return try job(row)
  }

  /// Removes a job and its record.
  /// - Throws: ``PostgresError`` `.noSuchJob`, `.jobIsRunning`.
  package func remove(_ id: Int64, on connection: PostgresConnection) throws {
    let rows = try connection.query(
      """
      DELETE FROM \(schema.sql).jobs WHERE id = $1 AND (state <> 'running' OR until < clock_timestamp())
      """, [.int64(id)])
    guard rows.changes == 1 else { throw try missing(id, connection) }
  }

  private func missing(_ id: Int64, _ connection: PostgresConnection) throws -> PostgresError {
    let owner = try connection.query("SELECT owner FROM \(schema.sql).jobs WHERE id = $1", [.int64(id)]).first
    guard let owner else { return PostgresError(.noSuchJob, "there is no job \(id)") }
    let worker = try owner.optionalString(0) ?? "a worker that just ended"
    return PostgresError(
      .jobIsRunning, "job \(id) is running on \(worker); wait for its end, or stop all workers of its queue")
  }

  // MARK: For workers

  /// Takes the job that has been due for longest, or whose worker is silent. Any number of workers may
  /// ask at once: each job goes to one of them.
  ///
  /// If the answer is lost, the job waits until its claim expires.
  /// - Parameters:
  ///   - stores: The stores whose jobs this worker can run; nil for all.
  ///   - kinds: The kinds of jobs that it can run.
  /// - Returns: nil if no such job is due.
  package func claim(
    queue: String = "default", owner: String, stores: [Int64]? = nil, kinds: [Job.Kind] = Job.Kind.allCases,
    on connection: PostgresConnection
  ) throws -> Job? {
    let rows = try connection.query(
      "SELECT \(Self.columns) FROM \(schema.sql).claim($1, $2, $3, $4::bigint[], $5)",
      [
        .text(owner), .text(queue), .int64(claimMs), stores.map { .int64s($0) } ?? .null, .texts(kinds.map(\.rawValue)),
      ])
    return try rows.first.map(job)
  }

  /// Tells that a worker is alive, for all its jobs in one statement.
  /// - Returns: The ids of the jobs that are still its own. It must stop the others.
  package func renew(_ jobs: [Job], owner: String, on connection: PostgresConnection) throws -> Set<Int64> {
    guard !jobs.isEmpty else { return [] }
    let rows = try connection.query(
      """
      WITH kept AS (SELECT j.id FROM \(schema.sql).jobs j JOIN unnest($1, $2) AS mine(id, fence)
          ON j.id = mine.id AND j.fence = mine.fence WHERE j.owner = $3 AND j.state = 'running'
          ORDER BY j.id FOR NO KEY UPDATE OF j)
      UPDATE \(schema.sql).jobs j SET until = clock_timestamp() + $4 * interval '1 ms' FROM kept
      WHERE j.id = kept.id RETURNING j.id
      """, [.int64s(jobs.map(\.id)), .int64s(jobs.map(\.fence)), .text(owner), .double(Double(claimMs))])
    return Set(try rows.map { try $0.int64(0) })
  }

  /// Records the end of an attempt. May be repeated when the answer was lost.
  /// - Parameter counts: JSON, such as the numbers of records.
  /// - Returns: False if another worker has taken the job over; nothing is changed then.
  package func finish(
    _ job: Job, _ outcome: Outcome, counts: String? = nil, owner: String, on connection: PostgresConnection
  ) throws -> Bool {
    let (name, isFinal, message): (String, Bool, String?) =
      switch outcome {
      case .done: ("done", true, nil)
      case .failed(let message, let isFinal): ("failed", isFinal, message)
      case .released: ("released", false, nil)
      case .postponed(let message): ("postponed", false, message)
      }
    return try connection.query(
      "SELECT \(schema.sql).finish($1, $2, $3, $4, $5, $6::text, $7::text)",
      [
        .text(owner), .int64(job.id), .int64(job.fence), .text(name), .bool(isFinal), .optional(message), .optional(counts),
      ]
    ).only().bool(0)
  }

  // MARK: The record

  /// One attempt.
  package struct Run: Sendable, Equatable {
    package let fence: Int64
    package let owner: String
    /// Ms since 1970 UTC; `ended` is nil while it runs.
    package let began: Int64, ended: Int64?
    /// `done`, `failed`, `released`, `postponed`, or `lost` if its worker vanished.
    package let outcome: String?
    package let error: String?
    package let counts: String?
  }

  /// The attempts of a job, the latest first; the last 200 are kept.
  package func runs(of id: Int64, on connection: PostgresConnection) throws -> [Run] {
    try connection.query(
      """
      SELECT fence, owner, (extract(epoch FROM began) * 1000)::bigint, (extract(epoch FROM ended) * 1000)::bigint, outcome, error,
        counts FROM \(schema.sql).runs WHERE job = $1 ORDER BY fence DESC
      """, [.int64(id)]
    ).map { row in
      Run(
        fence: try row.int64(0), owner: try row.string(1), began: try row.int64(2), ended: try row.optionalInt64(3),
        outcome: try row.optionalString(4), error: try row.optionalString(5), counts: try row.optionalString(6))
    }
  }
}
