import Dispatch
import JSON
import PostgresStore
import Support
import Synchronization
import TestSupport
import Testing

@testable import Tureen

/// A schema with a store of acme/ada, and workers whose attempts end when the test says so.
final class WorkerBench {
  private static let last = Mutex(0)

  let schema: PostgresSchema
  private(set) var connection: PostgresConnection
  let store: PostgresSchema.Store
  private let database: JobDatabase

  /// Milliseconds of a claim: none ends because this machine is slow. Tests move the server's time instead.
  static let claimMs: Int64 = 3_600_000

  var ledger: JobLedger { JobLedger(schema, claimMs: Self.claimMs) }

  /// - Parameters:
  ///   - cluster: nil for the shared one.
  ///   - port: Where the workers look for the server; nil for where it is.
  init(_ cluster: PostgresCluster? = nil, port: Int? = nil) throws {
    let cluster = try cluster ?? PostgresCluster.running()
    let number = Self.last.withLock { last in
      last += 1
      return last
    }
    let name = "workers_\(number)"
    var settings = HostSettings()
    settings.store = try StoreDatabase(
      "postgres://tureen@127.0.0.1:\(port ?? cluster.port)/postgres?sslmode=disable&schema=\(name)")
    database = try JobDatabase(settings)
    schema = PostgresSchema(name)
    connector = PostgresConnector(cluster.address(schema: name))
    connection = try connector.connect()
    try schema.open(connection)
    store = try schema.openStore(connection, org: "acme", user: "ada", name: "main")
  }

  private let connector: PostgresConnector

  func reconnect() throws { connection = try connector.connect() }

  // MARK: Jobs

  @discardableResult
  func add(_ name: String, _ change: (inout JobLedger.Request) -> Void = { _ in }) throws -> Int64 {
    var request = JobLedger.Request(store: store.id, kind: .sync, name: name)
    change(&request)
    return try ledger.add(request, on: connection).id
  }

  func jobs() throws -> [Job] { try ledger.list(on: connection) }
  func job(_ id: Int64) throws -> Job { try #require(try jobs().first { $0.id == id }) }
  func runs(_ id: Int64) throws -> [JobLedger.Run] { try ledger.runs(of: id, on: connection) }

  /// Lets the server's time pass for a job.
  func shift(_ id: Int64, _ what: String, _ interval: String) throws {
    try connection.execute("UPDATE \(schema.sql).jobs SET \(what) = \(what) - interval '\(interval)' WHERE id = \(id)")
  }

  /// Claims a running job for the worker `other`, as if its own had been silent for too long.
  func takeOver(_ id: Int64) throws -> Job {
    try connection.transaction {
      try shift(id, "until", "2 hours")
      return try #require(try ledger.claim(owner: "other", on: connection))
    }
  }

  /// When the claim of a running job ends, in ms of the server's clock.
  func claimEnd(_ id: Int64) throws -> Int64 {
    try connection.query("SELECT (extract(epoch FROM until) * 1000)::bigint FROM \(schema.sql).jobs WHERE id = $1", [.int64(id)])
      .only().int64(0)
  }

  func serverMs() throws -> Int64 {
    try connection.query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").only().int64(0)
  }

  func start(_ change: (inout WorkerSettings) -> Void = { _ in }) throws -> RunningWorker {
    var settings = WorkerSettings()
    settings.pollMs = 200
    settings.claimMs = Self.claimMs
    change(&settings)
    return try RunningWorker(settings, database)
  }
}

/// State that threads change and tests wait for.
final class Watched<State>: @unchecked Sendable {  // all state is touched with `lock` held
  private let lock = Lock()
  private var state: State
  private var waiters: [(isSatisfied: (State) -> Bool, resume: () -> Void)] = []

  init(_ state: State) { self.state = state }

  func change(_ body: (inout State) -> Void) {
    let ready = lock.withLock { () -> [() -> Void] in
      body(&state)
      defer { waiters.removeAll { $0.isSatisfied(state) } }
      return waiters.filter { $0.isSatisfied(state) }.map(\.resume)
    }
    for resume in ready { resume() }
  }

  var value: State { lock.withLock { state } }

  func wait(until isSatisfied: @escaping (State) -> Bool) async {
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let isReady = lock.withLock {
        if isSatisfied(state) { return true }
        waiters.append((isSatisfied, { continuation.resume() }))
        return false
      }
      if isReady { continuation.resume() }
    }
  }
}

/// A worker on a thread of its own.
final class RunningWorker: Sendable {
  private struct State {
    var news: [WorkerNews] = []
    var result: Result<JobWorker.End, any Error>?
  }

  let worker: JobWorker
  let runner = HeldRunner()
  private let state = Watched(State())

  init(_ settings: WorkerSettings, _ database: JobDatabase) throws {
    let worker = try JobWorker(settings, database, runner: runner) { [state] news in state.change { $0.news.append(news) } }
    self.worker = worker
    DispatchQueue(label: "test.worker").async { [state] in
      let result = Result { try worker.run() }
      state.change { $0.result = result }
    }
  }

  var news: [WorkerNews] { state.value.news }

  /// Waits for news that `isMeant`.
  func tells(_ isMeant: @escaping (WorkerNews) -> Bool) async {
    await state.wait { $0.news.contains(where: isMeant) || $0.result != nil }
    #expect(news.contains(where: isMeant))
  }

  /// Waits until the worker looks for jobs. From then on it hears of new ones.
  func looks() async { await runner.isAsked() }

  func ended() async -> JobWorker.End? {
    await state.wait { $0.result != nil }
    do {
      return try state.value.result?.get()
    } catch {
      Issue.record("\(error)")
      return nil
    }
  }

  func failure() async -> JobError? {
    await state.wait { $0.result != nil }
    if case .failure(let error) = state.value.result { return error as? JobError }
    return nil
  }
}

/// Starts attempts that the test ends. It can run the jobs of acme, and no scripts.
final class HeldRunner: JobRunner {
  final class Attempt: JobAttempt {
    private let asked = Watched((stop: false, end: false))
    private let onEnd: @Sendable (AttemptEnd) -> Void

    init(_ onEnd: @escaping @Sendable (AttemptEnd) -> Void) { self.onEnd = onEnd }

    func finish(_ end: AttemptEnd) { onEnd(end) }
    func stop() { asked.change { $0.stop = true } }
    func end() { asked.change { $0.end = true } }
    func isStopped() async { await asked.wait { $0.stop } }
    func isEnded() async { await asked.wait { $0.end } }
  }

  private struct State {
    var begun: [String: Attempt] = [:]
    var running = 0, most = 0
    var isAsked = false
  }

  let kinds: [Job.Kind] = [.sync]
  let accounts = ["acme/ada"]
  private let state = Watched(State())

  func refresh() {}

  func canRun(_ store: PostgresSchema.Store) -> Bool {
    state.change { $0.isAsked = true }
    return store.org == "acme"
  }

  func begin(_ claimed: ClaimedJob, onEnd: @escaping @Sendable (AttemptEnd) -> Void) -> any JobAttempt {
    let attempt = Attempt { [state] end in
      state.change { $0.running -= 1 }
      onEnd(end)
    }
    state.change { state in
      state.running += 1
      state.most = max(state.most, state.running)
      state.begun[claimed.job.name] = attempt
    }
    return attempt
  }

  /// The largest number of attempts that ran at the same time.
  var mostAtOnce: Int { state.value.most }

  /// Waits until an attempt of the job has begun.
  func attempt(_ name: String) async -> Attempt {
    await state.wait { $0.begun[name] != nil }
    return state.value.begun[name]!
  }

  func isAsked() async { await state.wait { $0.isAsked } }
}
