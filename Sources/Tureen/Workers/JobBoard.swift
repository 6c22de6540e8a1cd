import JSON
import LuaBridge
import PostgresStore

/// A job to add.
package struct JobRequest: Sendable {
  package enum Kind: String, Sendable { case sync, script }

  package var kind: Kind
  package var name: String
  package var arguments = "{}"
  package var queue = "default"
  package var every: JobInterval?
  /// Ms from now until it is due.
  package var delayMs: Int64 = 0
  package var attempts: Int64 = 5

  package init(_ kind: Kind, name: String) {
    self.kind = kind
    self.name = name
  }

  /// - Throws: ``JobError`` `.invalidJob`.
  package func check() throws(JobError) {
    guard !name.isEmpty else { throw JobError(.invalidJob, "a job needs a name") }
    _ = try JobArguments(arguments, isSync: kind == .sync)
    if kind == .script { try ScriptName.check(name) }
    guard !queue.isEmpty else { throw JobError(.invalidJob, "the name of a queue must not be empty") }
    for (what, text) in [("name of a job", name), ("name of a queue", queue)] where text.utf8.count > Tuning.longestJobName {
      throw JobError(.invalidJob, "the \(what) has at most \(Tuning.longestJobName) bytes, not \(text.utf8.count)")
    }
    guard attempts > 0 else { throw JobError(.invalidJob, "a job needs at least 1 attempt, not \(attempts)") }
  }
}

/// The jobs of a database, for commands. Blocks; use it from one thread.
package final class JobBoard {
  private let database: JobDatabase
  private let connection: PostgresConnection
  private let host: Host

  /// Connects to the database of a host's stores.
  /// - Throws: ``HostError`` `.invalidConfiguration`; ``JobError``.
  package init(_ host: Host) throws {
    self.host = host
    let database = try JobDatabase(host.settledSettings().settings)
    self.database = database
    connection = try JobBoard.converting {
      let connection = try database.connector.connect()
      try database.schema.open(connection)
      return connection
    }
  }

  private static func converting<T>(_ body: () throws -> T) throws -> T {
    do { return try body() } catch { throw JobError.converting(error) }
  }

  private func summaries(_ jobs: [Job]) throws -> [JobSummary] {
    let stores = try database.schema.stores(connection)
    return jobs.map { job in JobSummary(job, in: stores.first { $0.id == job.store }) }
  }

  // MARK: Changing

  /// Adds a job to a store of the host's user. Creates the store if it does not exist.
  /// - Throws: ``JobError`` `.jobExists`, `.invalidJob`.
  package func add(_ request: JobRequest, to reference: StoreReference) throws -> JobSummary {
    try request.check()
    let org = try host.core().user.org
    return try JobBoard.converting {
      let store = try database.schema.openStore(
        connection, org: reference.isGlobal ? "" : org.folder, user: reference.isGlobal ? "" : org.userFolder,
        name: reference.name)
      var job = JobLedger.Request(store: store.id, kind: request.kind == .sync ? .sync : .script, name: request.name)
      job.arguments = request.arguments
      job.queue = request.queue
      job.everyMs = request.every?.milliseconds
      job.delayMs = request.delayMs
      job.maximumAttempts = request.attempts
      do {
        return JobSummary(try database.ledger.add(job, on: connection), in: store)
      } catch let error as PostgresError where error.code == .jobExists {
        throw try existing(request, store)
      }
    }
  }

  private func existing(_ request: JobRequest, _ store: PostgresSchema.Store) throws -> JobError {
    let known = try database.ledger.list(store: store.id, on: connection).first {
      $0.kind.rawValue == request.kind.rawValue && $0.name.hasSameBytes(as: request.name)
    }
    let place = JobSummary.placeText(store)
    guard let known else { return JobError(.jobExists, "\(place) has a \(request.kind.rawValue) job '\(request.name)' already") }
    return JobError(
      .jobExists,
      "\(place) has a \(request.kind.rawValue) job '\(request.name)' already: job \(known.id); remove it first with "
        + "tureen job remove \(known.id)")
  }

  /// Makes a job due at once, with all its attempts.
  /// - Parameter word: The job's id, or its name if no other job has it.
  /// - Throws: ``JobError`` `.noSuchJob`, `.jobIsRunning`.
  package func retry(_ word: String) throws -> JobSummary {
    let found = try find(word)
    return try JobBoard.converting { try summaries([database.ledger.retry(found.id, on: connection)])[0] }
  }

  /// Removes a job and its record.
  /// - Throws: ``JobError`` `.noSuchJob`, `.jobIsRunning`.
  package func remove(_ word: String) throws -> JobSummary {
    let found = try find(word)
    try JobBoard.converting { try database.ledger.remove(found.id, on: connection) }
    return found
  }

  // MARK: Reading

  /// All jobs of the database, in the order in which they were added.
  /// - Parameter queue: nil for all queues.
  package func jobs(queue: String? = nil) throws -> [JobSummary] {
    try JobBoard.converting {
      try summaries(try database.ledger.list(on: connection).filter { job in queue.map { $0 == job.queue } ?? true })
    }
  }

  package func metrics() throws -> QueueMetrics {
    try JobBoard.converting { QueueMetrics(queues: try database.ledger.figures(on: connection)) }
  }

  /// The attempts of a job, the latest first.
  package func runs(of word: String) throws -> (job: JobSummary, runs: [JobRunSummary]) {
    let found = try find(word)
    return try JobBoard.converting {
      (found, try database.ledger.runs(of: found.id, on: connection).map { JobRunSummary(run: $0) })
    }
  }

  /// - Throws: ``JobError`` `.noSuchJob` with a job that was probably meant, or all that were.
  private func find(_ word: String) throws -> JobSummary {
    try JobChoice(jobs: jobs()).job(word)
  }
}

/// Finds the job that a command names.
struct JobChoice {
  let jobs: [JobSummary]

  /// - Parameter word: A number is an id; anything else is a name.
  func job(_ word: String) throws(JobError) -> JobSummary {
    if let id = Int64(word) {
      guard let found = jobs.first(where: { $0.id == id }) else { throw missing("job \(id) does not exist") }
      return found
    }
    let named = jobs.filter { $0.name.hasSameBytes(as: word) }
    guard named.count <= 1 else {
      throw JobError(
        .noSuchJob,
        "\(named.count) jobs are called '\(word)'; give the id of one: "
          + named.map { "\($0.id) (\($0.kind) of \($0.place))" }.joined(separator: ", "))
    }
    guard let found = named.first else {
      if let near = NearestName.find(word, among: jobs.map(\.name)) {
        throw JobError(.noSuchJob, "job '\(word)' does not exist; did you mean '\(near)'?")
      }
      throw missing("job '\(word)' does not exist")
    }
    return found
  }

  private func missing(_ what: String) -> JobError {
    JobError(.noSuchJob, what + (jobs.isEmpty ? "; there are no jobs yet" : "; tureen job list shows all jobs"))
  }
}

extension JobSummary {
  /// The store in messages.
  static func placeText(_ store: PostgresSchema.Store) -> String {
    guard !store.org.isEmpty || !store.user.isEmpty else { return "the global store '\(store.name)'" }
    return "the store '\(store.name)' of \(OrgEntry.name(ofFolder: store.org))/\(OrgEntry.name(ofFolder: store.user))"
  }
}
