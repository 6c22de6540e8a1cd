import Dispatch
import JSON
import PostgresStore
import Synchronization
import TestSupport
import Testing

@testable import Tureen

/// The loop of a worker, in this process, on a real server. The runner is the test's.
@Suite(
  .enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)"),
  .timeLimit(.minutes(60)), .ownThreads)
struct JobWorkerTests {
  @Test func worker_dueJobs_runAndAreRecorded() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down"), up = try bench.add("up")
    try bench.add("later") { $0.delayMs = 3_600_000 }
    let worker = try bench.start { $0.isDraining = true }
    for name in ["down", "up"] { await worker.runner.attempt(name).finish(.done(counts: ["fetched": 3])) }
    #expect(await worker.ended() == .drained(failed: 0))
    #expect(try bench.jobs().map(\.state) == [.done, .done, .ready])
    #expect(try bench.runs(down).map(\.outcome) == ["done"] && bench.runs(up).map(\.counts) == [#"{"fetched":3}"#])
  }

  @Test func worker_slots_limitWhatRunsAtOnce() async throws {
    let bench = try WorkerBench()
    for i in 0..<5 { try bench.add("sync \(i)") }
    let worker = try bench.start {
      $0.isDraining = true
      $0.slots = 2
    }
    // None of the first two ends before both have begun.
    _ = await worker.runner.attempt("sync 1")
    for i in 0..<5 { await worker.runner.attempt("sync \(i)").finish(.done(counts: [:])) }
    #expect(await worker.ended() == .drained(failed: 0))
    #expect(worker.runner.mostAtOnce == 2)
  }

  /// The next look would be an hour later.
  @Test func worker_jobAddedWhileItWaits_isTakenAtOnce() async throws {
    let bench = try WorkerBench()
    let worker = try bench.start { $0.pollMs = 3_600_000 }
    await worker.looks()
    try bench.add("down")
    await worker.runner.attempt("down").finish(.done(counts: [:]))
    await worker.tells { if case .done = $0 { true } else { false } }
    worker.worker.stop()
    #expect(await worker.ended() == .stopped)
  }

  /// No notification says that a time has come.
  @Test func worker_jobOfALaterTime_isTakenThen() async throws {
    let bench = try WorkerBench()
    try bench.add("down") { $0.delayMs = 700 }
    let worker = try bench.start { $0.pollMs = 3_600_000 }
    await worker.runner.attempt("down").finish(.done(counts: [:]))
    worker.worker.stop()
    #expect(await worker.ended() == .stopped)
  }

  @Test func worker_stop_givesJobsBack() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down") { $0.maximumAttempts = 1 }
    let worker = try bench.start()
    let attempt = await worker.runner.attempt("down")
    worker.worker.stop()
    await attempt.isStopped()
    attempt.finish(.stopped)
    #expect(await worker.ended() == .stopped)
    let job = try bench.job(down)
    #expect(job.state == .ready && job.attempts == 0 && job.owner == nil)
    #expect(try bench.runs(down).map(\.outcome) == ["released"])
    // Another worker continues at once.
    let second = try bench.start { $0.isDraining = true }
    await second.runner.attempt("down").finish(.done(counts: [:]))
    #expect(await second.ended() == .drained(failed: 0))
  }

  /// A sync that somebody runs by hand is no failure of its job.
  @Test func worker_postponedAttempt_doesNotCount() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down") { $0.maximumAttempts = 1 }
    let worker = try bench.start { $0.isDraining = true }
    await worker.runner.attempt("down").finish(.postponed("sync 3 is still running in another process"))
    #expect(await worker.ended() == .drained(failed: 0))
    let told = worker.news.compactMap { if case .postponed(_, let message) = $0 { message } else { nil } }
    #expect(told == ["sync 3 is still running in another process"])
    let job = try bench.job(down)
    #expect(job.state == .ready && job.attempts == 0 && job.owner == nil)
    #expect(try bench.runs(down).map(\.outcome) == ["postponed"])
  }

  @Test func worker_stopOfAnAttemptThatDoesNot_isEnded() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down"), worker = try bench.start { $0.graceMs = 50 }
    let attempt = await worker.runner.attempt("down")
    worker.worker.stop()
    await attempt.isEnded()
    attempt.finish(.stopped)
    #expect(await worker.ended() == .stopped)
    #expect(worker.news.contains { if case .ending = $0 { true } else { false } })
    #expect(try bench.job(down).state == .ready)
  }

  @Test func worker_heartbeats_keepAJobBeyondItsClaim() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down"), worker = try bench.start { $0.heartbeatMs = 20 }
    let attempt = await worker.runner.attempt("down")
    // More than two claims pass on the server's clock; another worker that looks meanwhile does not get the job.
    for _ in 0..<3 {
      try bench.shift(down, "until", "45 minutes")
      // Nothing signals a heartbeat.
      while try bench.claimEnd(down) - bench.serverMs() < 50 * 60_000 {
        #expect(try bench.ledger.claim(owner: "other", on: bench.connection) == nil)
        try await Task.sleep(for: .milliseconds(10))
      }
    }
    attempt.finish(.done(counts: [:]))
    await worker.tells { if case .done = $0 { true } else { false } }
    #expect(try bench.job(down).state == .done && bench.runs(down).count == 1)
    worker.worker.stop()
    _ = await worker.ended()
  }

  @Test func worker_jobTakenOver_isStoppedAndChangesNothing() async throws {
    let bench = try WorkerBench()
    let down = try bench.add("down"), worker = try bench.start { $0.heartbeatMs = 20 }
    let attempt = await worker.runner.attempt("down")
    // As if this worker had been silent: in one transaction, so that no heartbeat comes in between.
    let other = try bench.takeOver(down)
    await attempt.isStopped()
    attempt.finish(.done(counts: ["fetched": 99]))
    #expect(try bench.ledger.finish(other, .done, counts: #"{"fetched":1}"#, owner: "other", on: bench.connection))
    worker.worker.stop()
    #expect(await worker.ended() == .stopped)
    #expect(worker.news.count { if case .lost = $0 { true } else { false } } == 1)
    #expect(!worker.news.contains { if case .done = $0 { true } else { false } })
    #expect(try bench.runs(down).map(\.counts) == [#"{"fetched":1}"#, nil])
    #expect(try bench.runs(down).map(\.outcome) == ["done", "lost"])
  }

  @Test func worker_failures_backOffAndEnd() async throws {
    let bench = try WorkerBench()
    let id = try bench.add("down") { $0.maximumAttempts = 2 }
    let first = try bench.start { $0.isDraining = true }
    await first.runner.attempt("down").finish(.failed("no network", isFinal: false))
    #expect(await first.ended() == .drained(failed: 1))
    #expect(try bench.job(id).state == .ready && bench.job(id).error == "no network")
    #expect(try bench.job(id).due > bench.serverMs())
    try bench.shift(id, "due", "1 minute")
    let second = try bench.start { $0.isDraining = true }
    await second.runner.attempt("down").finish(.failed("no network", isFinal: false))
    #expect(await second.ended() == .drained(failed: 1))
    #expect(try bench.job(id).state == .failed)
    #expect(first.news.contains { if case .failed(_, _, isLast: false) = $0 { true } else { false } })
    #expect(second.news.contains { if case .failed(_, _, isLast: true) = $0 { true } else { false } })
  }

  /// A sync that another program has stopped is not what the job wanted.
  @Test func worker_attemptStoppedByOthers_isTriedAgain() async throws {
    let bench = try WorkerBench()
    let id = try bench.add("down"), worker = try bench.start { $0.isDraining = true }
    await worker.runner.attempt("down").finish(.stopped)
    #expect(await worker.ended() == .drained(failed: 1))
    #expect(try bench.job(id).state == .ready && bench.job(id).error == "it was stopped by another program before its end")
  }

  @Test func worker_jobsItCannotRun_areLeftAndToldOnce() async throws {
    let bench = try WorkerBench()
    let stranger = try bench.schema.openStore(bench.connection, org: "globex", user: "bob", name: "main")
    try bench.add("theirs") { $0.store = stranger.id }
    try bench.add("nightly.lua") { $0.kind = .script }
    let mine = try bench.add("mine"), other = try bench.add("elsewhere") { $0.queue = "slow" }
    let worker = try bench.start {
      $0.isDraining = true
      $0.pollMs = 50
    }
    await worker.runner.attempt("mine").finish(.done(counts: [:]))
    #expect(await worker.ended() == .drained(failed: 0))
    #expect(try bench.jobs().filter { $0.state == .done }.map(\.id) == [mine])
    #expect(try bench.job(other).fence == 0)
    let texts = worker.news.compactMap { if case .leftToOthers(let text) = $0 { text } else { nil } }
    #expect(texts.count == 2)
    #expect(texts.contains { $0.contains("store 'main' of globex/bob are due and left to other workers") })
    #expect(texts.contains { $0.contains("has no folder of scripts (--scripts)") })
  }

  @Test func worker_databaseThatCrashes_isUsedAgain() async throws {
    let cluster = try PostgresCluster()
    defer { cluster.stop() }
    let bench = try WorkerBench(cluster)
    let first = try bench.add("first"), worker = try bench.start { $0.databasePauseMs = 50 }
    let attempt = await worker.runner.attempt("first")
    try cluster.crash()
    attempt.finish(.done(counts: ["fetched": 1]))
    await worker.tells { if case .done = $0 { true } else { false } }
    try bench.reconnect()
    try bench.add("second")
    await worker.runner.attempt("second").finish(.done(counts: [:]))
    worker.worker.stop()
    #expect(await worker.ended() == .stopped)
    #expect(try bench.runs(first).map(\.outcome) == ["done"])
  }

  @Test func worker_databaseThatIsNotThere_isWaitedForUnlessItDrains() async throws {
    let bench = try WorkerBench(port: 1)
    let draining = try bench.start { $0.isDraining = true }
    #expect(await draining.failure()?.code == .unavailable)
    let waiting = try bench.start { $0.databasePauseMs = 20 }
    await waiting.tells { if case .databaseLost(let message, _) = $0 { message.contains("127.0.0.1:1") } else { false } }
    waiting.worker.stop()
    #expect(await waiting.ended() == .stopped)
  }
}
