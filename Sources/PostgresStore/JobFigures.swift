/// The jobs of one queue, counted.
package struct QueueFigures: Sendable, Equatable {
  package let queue: String
  /// Jobs that a worker could take now: due ones, and those whose worker is silent.
  package let due: Int64
  /// Jobs that become due later, those that wait for another attempt included.
  package let waiting: Int64
  package let running: Int64
  /// Jobs that are given up.
  package let failed: Int64
  /// Jobs whose last attempt failed and that will be tried again.
  package let failing: Int64
  package let done: Int64
  /// Ms for which the oldest due job has been waiting; 0 if none is due.
  package let lagMs: Int64

  package init(
    queue: String, due: Int64 = 0, waiting: Int64 = 0, running: Int64 = 0, failed: Int64 = 0, failing: Int64 = 0, done: Int64 = 0,
    lagMs: Int64 = 0
  ) {
    self.queue = queue
    self.due = due
    self.waiting = waiting
    self.running = running
    self.failed = failed
    self.failing = failing
    self.done = done
    self.lagMs = lagMs
  }
}

extension JobLedger {
  /// When a job can be taken: when it is due, or when its worker has been silent for too long.
  private static let takeable = "CASE WHEN state = 'ready' THEN due ELSE until END"

  /// The queues that have jobs, by name.
  package func figures(on connection: PostgresConnection) throws -> [QueueFigures] {
    try connection.query(
      """
      WITH j AS (SELECT jobs.*, n.t, state IN ('ready', 'running') AND \(Self.takeable) <= n.t AS is_due,
          \(Self.takeable) AS since FROM \(schema.sql).jobs, (SELECT clock_timestamp() AS t) n)
      SELECT queue, count(*) FILTER (WHERE is_due), count(*) FILTER (WHERE state = 'ready' AND NOT is_due),
        count(*) FILTER (WHERE state = 'running' AND NOT is_due), count(*) FILTER (WHERE state = 'failed'),
        count(*) FILTER (WHERE state IN ('ready', 'running') AND error IS NOT NULL), count(*) FILTER (WHERE state = 'done'),
        coalesce((extract(epoch FROM max(t - since) FILTER (WHERE is_due)) * 1000)::bigint, 0)
      FROM j GROUP BY queue ORDER BY queue COLLATE "C"
      """
    ).map { row in
      QueueFigures(
        queue: try row.string(0), due: try row.int64(1), waiting: try row.int64(2), running: try row.int64(3),
        failed: try row.int64(4), failing: try row.int64(5), done: try row.int64(6), lagMs: try row.int64(7))
    }
  }

  /// Returns in how many ms the next job of these stores and kinds can be taken, at most 0 if one is due; nil without such a job.
  package func msUntilDue(
    queue: String, stores: [Int64], kinds: [Job.Kind], on connection: PostgresConnection
  ) throws -> Int64? {
    try connection.query(
      """
      SELECT (extract(epoch FROM min(\(Self.takeable)) - clock_timestamp()) * 1000)::bigint FROM \(schema.sql).jobs
      WHERE queue = $1 AND state IN ('ready', 'running') AND store = ANY ($2) AND kind = ANY ($3)
      """, [.text(queue), .int64s(stores), .texts(kinds.map(\.rawValue))]
    ).only().optionalInt64(0)
  }

  /// Returns the stores and kinds of the due jobs of a queue.
  package func due(queue: String, on connection: PostgresConnection) throws -> [(store: Int64, kind: Job.Kind)] {
    try connection.query(
      """
      SELECT DISTINCT store::bigint, kind FROM \(schema.sql).jobs
      WHERE queue = $1 AND state IN ('ready', 'running') AND \(Self.takeable) <= clock_timestamp() ORDER BY 1, 2
      """, [.text(queue)]
    ).map { row in (try row.int64(0), Job.Kind(rawValue: try row.string(1))) }.compactMap { store, kind in
      kind.map { (store, $0) }
    }
  }

  /// Tells waiting workers that a job of the queue may be due.
  package func notify(queue: String, on connection: PostgresConnection) throws {
    _ = try connection.query("SELECT pg_notify($1, $2)", [.text(channel), .text(queue)])
  }
}
