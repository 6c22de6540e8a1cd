import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresCluster.isInstalled, PostgresCluster.need), .ownThreads) struct JobTests {
  private let fixture: PostgresFixture
  private let ledger: JobLedger
  private var connection: PostgresConnection { fixture.connection }

  init() throws {
    fixture = try PostgresFixture()
    ledger = JobLedger(fixture.schema)
  }

  @discardableResult
  private func add(_ name: String, _ change: (inout JobLedger.Request) -> Void = { _ in }) throws -> Job {
    var request = JobLedger.Request(store: fixture.store.id, kind: .sync, name: name)
    change(&request)
    return try ledger.add(request, on: connection)
  }

  private func job(_ id: Int64) throws -> Job { try #require(try ledger.list(on: connection).first { $0.id == id }) }

  /// Lets the server's time pass for a job.
  private func shift(_ id: Int64, _ what: String, _ interval: String) throws {
    try connection.execute("UPDATE \(fixture.schema.sql).jobs SET \(what) = \(what) - interval '\(interval)' WHERE id = \(id)")
  }

  private func serverMs() throws -> Int64 {
    try connection.query("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint").only().int64(0)
  }

  @Test func add_list_remove_tellWhatThereIs() throws {
    let job = try add("contacts") { $0.arguments = #"{"b": 1, "a": 2}"# }
    #expect(job.state == .ready && job.fence == 0 && job.arguments == #"{"b": 1, "a": 2}"# && job.queue == "default")
    let script = try add("nightly") { $0.kind = .script }
    #expect(try ledger.list(on: connection) == [job, script])
    #expect(try ledger.list(store: fixture.store.id, on: connection).count == 2)
    #expect(try ledger.list(store: fixture.store.id + 1, on: connection).isEmpty)
    #expect(failure { try add("contacts") }?.message == "the store has a sync job 'contacts' already")
    try add("contacts") { $0.kind = .script }
    try ledger.remove(script.id, on: connection)
    #expect(code { try ledger.remove(script.id, on: connection) } == .noSuchJob)
    #expect(code { _ = try ledger.retry(script.id, on: connection) } == .noSuchJob)
    #expect(code { try add("x") { $0.store = 999 } } == .invalidJob)
    #expect(code { try add("x") { $0.everyMs = 0 } } == .invalidJob)
    #expect(code { try add("x") { $0.maximumAttempts = 0 } } == .invalidJob)
    #expect(code { try add("") } == .invalidJob)
  }

  @Test func add_tellsListeners() throws {
    let listener = try fixture.cluster.connect()
    try listener.listen(ledger.channel)
    try add("contacts") { $0.queue = "fast" }
    #expect(try listener.notifications(waitMs: 600_000).map(\.payload) == ["fast"])
  }

  @Test func claim_byManyConnectionsAtOnce_givesEachJobOnce() throws {
    for i in 0..<120 { try add("sync \(i)") }
    let claimed = Mutex<[Int64: Int]>([:]), errors = Mutex<[String]>([]), ledger = ledger, cluster = fixture.cluster
    DispatchQueue.concurrentPerform(iterations: 8) { i in
      do {
        let mine = try cluster.connect()
        while let job = try ledger.claim(owner: "worker \(i)", on: mine) {
          claimed.withLock { $0[job.id, default: 0] += 1 }
          guard try ledger.finish(job, .done, owner: "worker \(i)", on: mine) else { break }
        }
      } catch {
        errors.withLock { $0.append("\(error)") }
      }
    }
    #expect(errors.withLock { $0 } == [])
    #expect(claimed.withLock { $0.count } == 120)
    #expect(claimed.withLock { $0.values.allSatisfy { $0 == 1 } })
    #expect(try ledger.list(on: connection).allSatisfy { $0.state == .done && $0.fence == 1 })
  }

  @Test func claim_orderAndQueues_areKept() throws {
    let late = try add("late"), early = try add("early"), other = try add("other") { $0.queue = "slow" }
    let future = try add("future") { $0.delayMs = 3_600_000 }
    try shift(early.id, "due", "1 hour")
    #expect(try ledger.claim(owner: "w", on: connection)?.id == early.id)
    #expect(try ledger.claim(owner: "w", on: connection)?.id == late.id)
    #expect(try ledger.claim(owner: "w", on: connection) == nil)
    #expect(try ledger.claim(queue: "slow", owner: "w", on: connection)?.id == other.id)
    #expect(future.due > (try serverMs()) + 3_500_000)
    try shift(future.id, "due", "61 minutes")
    #expect(try ledger.claim(owner: "w", on: connection)?.id == future.id)
  }

  @Test func claim_silentWorker_isReplacedAndRefused() throws {
    try add("contacts")
    let first = try #require(try ledger.claim(owner: "a", on: connection))
    #expect(try ledger.claim(owner: "b", on: connection) == nil)
    #expect(try ledger.renew([first], owner: "a", on: connection) == [first.id])
    try shift(first.id, "until", "31 seconds")
    let second = try #require(try ledger.claim(owner: "b", on: connection))
    #expect(second.fence == 2 && second.attempts == 2 && second.owner == "b")
    #expect(try ledger.renew([first], owner: "a", on: connection) == [])
    #expect(try !ledger.finish(first, .done, owner: "a", on: connection))
    #expect(try job(first.id).state == .running)
    #expect(try ledger.finish(second, .done, counts: #"{"records":3}"#, owner: "b", on: connection))
    // Again, as after a lost answer.
    #expect(try ledger.finish(second, .done, owner: "b", on: connection))
    let runs = try ledger.runs(of: first.id, on: connection)
    #expect(runs.map(\.fence) == [2, 1])
    #expect(runs.map(\.outcome) == ["done", "lost"])
    #expect(runs[0].counts == #"{"records":3}"# && runs[0].ended.map { $0 >= runs[0].began } == true)
  }

  @Test func claim_jobThatEndsItsWorkers_failsAfterItsAttempts() throws {
    let id = try add("poison") { $0.maximumAttempts = 2 }.id
    for attempt in 1...2 {
      #expect(try ledger.claim(owner: "w\(attempt)", on: connection)?.attempts == Int64(attempt))
      try shift(id, "until", "31 seconds")
    }
    #expect(try ledger.claim(owner: "w3", on: connection) == nil)
    let failed = try job(id)
    #expect(failed.state == .failed && failed.owner == nil && failed.error == "its worker vanished in the last attempt")
    #expect(try ledger.retry(id, on: connection).attempts == 0)
    #expect(try ledger.claim(owner: "w4", on: connection)?.fence == 3)
    #expect(
      failure { _ = try ledger.retry(id, on: connection) }?.message
        == "job \(id) is running on w4; wait for its end, or stop all workers of its queue")
    #expect(code { try ledger.remove(id, on: connection) } == .jobIsRunning)
    try shift(id, "until", "31 seconds")
    try ledger.remove(id, on: connection)
  }

  @Test func finish_failedAttempts_backOffThenFail() throws {
    let id = try add("contacts") { $0.maximumAttempts = 4 }.id
    for (attempt, seconds) in [(1, 10), (2, 20), (3, 40)] {
      let claimed = try #require(try ledger.claim(owner: "w", on: connection)), before = try serverMs()
      #expect(claimed.attempts == Int64(attempt))
      #expect(try ledger.finish(claimed, .failed("no network", isFinal: false), owner: "w", on: connection))
      let waiting = try job(id), after = try serverMs()
      #expect(waiting.state == .ready && waiting.error == "no network")
      #expect(waiting.due >= before + Int64(seconds) * 750 - 1 && waiting.due <= after + Int64(seconds) * 1250)
      #expect(try ledger.claim(owner: "w", on: connection) == nil)
      try shift(id, "due", "1 hour")
    }
    let last = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(last, .failed("no network", isFinal: false), owner: "w", on: connection))
    #expect(try job(id).state == .failed)
    #expect(try ledger.claim(owner: "w", on: connection) == nil)
  }

  @Test func finish_backOff_isAnHourAtMost() throws {
    let id = try add("contacts") { $0.maximumAttempts = 100 }.id
    try connection.execute("UPDATE \(fixture.schema.sql).jobs SET attempts = 50")
    let claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .failed("x", isFinal: false), owner: "w", on: connection))
    #expect(try job(id).due <= (try serverMs()) + 3_600_000 * 5 / 4)
  }

  @Test func finish_finalFailure_isNotTriedAgain() throws {
    let id = try add("script").id, claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .failed("no such script", isFinal: true), owner: "w", on: connection))
    #expect(try job(id).state == .failed)
  }

  @Test func finish_released_isDueAtOnceAndDoesNotCount() throws {
    let id = try add("contacts") { $0.maximumAttempts = 1 }.id
    let claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .released, owner: "w", on: connection))
    #expect(try job(id).attempts == 0)
    #expect(try ledger.claim(owner: "v", on: connection)?.attempts == 1)
  }

  @Test func finish_postponed_isDueAfterSomeSecondsAndDoesNotCount() throws {
    let id = try add("contacts") { $0.maximumAttempts = 1 }.id
    let claimed = try #require(try ledger.claim(owner: "w", on: connection)), began = try serverMs()
    let outcome = JobLedger.Outcome.postponed("sync 1 is still running in another process")
    #expect(try ledger.finish(claimed, outcome, owner: "w", on: connection))
    let waiting = try job(id)
    #expect(waiting.state == .ready && waiting.attempts == 0 && waiting.error == nil, "it does not count as failing")
    #expect(try (began + 3750...(try serverMs()) + 6250).contains(waiting.due))
    #expect(try ledger.runs(of: id, on: connection).map(\.outcome) == ["postponed"])
    #expect(try ledger.claim(owner: "w", on: connection) == nil)
  }

  // MARK: Schedules

  @Test func schedule_success_isDueAtTheNextMultiple() throws {
    let hour: Int64 = 3_600_000, first = try add("hourly") { $0.everyMs = hour }
    let claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .done, owner: "w", on: connection))
    let next = try job(first.id)
    #expect(next.state == .ready && next.due == first.due + hour && next.attempts == 0)
  }

  @Test func schedule_missedTimes_areSkipped() throws {
    let hour: Int64 = 3_600_000, first = try add("hourly") { $0.everyMs = hour }
    // The workers were off for three hours and a half.
    try shift(first.id, "due", "210 minutes")
    let late = try job(first.id), claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .done, owner: "w", on: connection))
    #expect(try job(first.id).due == late.due + 4 * hour)
  }

  @Test func schedule_allAttemptsFailed_waitsForTheNextTime() throws {
    let hour: Int64 = 3_600_000
    let first = try add("hourly") {
      $0.everyMs = hour
      $0.maximumAttempts = 1
    }
    let claimed = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(claimed, .failed("no network", isFinal: false), owner: "w", on: connection))
    let next = try job(first.id)
    #expect(next.state == .ready && next.due == first.due + hour && next.attempts == 0 && next.error == "no network")
    try shift(first.id, "due", "1 hour")
    _ = try #require(try ledger.claim(owner: "w", on: connection))
    try shift(first.id, "until", "31 seconds")
    #expect(try ledger.claim(owner: "w", on: connection) == nil)
    let again = try job(first.id)
    #expect(again.state == .ready && again.due == first.due + hour && again.attempts == 0)
  }

  /// A daily job at a quarter past two stays one, however many attempts it takes.
  @Test func schedule_attemptsOutOfTurn_doNotMoveIt() throws {
    let hour: Int64 = 3_600_000, first = try add("hourly") { $0.everyMs = hour }
    let failing = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(failing, .failed("no network", isFinal: false), owner: "w", on: connection))
    #expect(try job(first.id).due > first.due)
    try connection.execute("UPDATE \(fixture.schema.sql).jobs SET due = clock_timestamp()")
    let second = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(second, .done, owner: "w", on: connection))
    #expect(try job(first.id).due == first.due + hour)
    // A run between two regular ones does not move it, either.
    #expect(try ledger.retry(first.id, on: connection).due < first.due + hour)
    let third = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(third, .done, owner: "w", on: connection))
    #expect(try job(first.id).due == first.due + hour)
  }

  // MARK: Workers that run some jobs only

  @Test func claim_storesAndKinds_areThoseOfTheWorker() throws {
    let other = try fixture.schema.openStore(connection, org: "acme", user: "bob", name: "main")
    let foreign = try add("theirs") { $0.store = other.id }, script = try add("nightly") { $0.kind = .script }
    #expect(try ledger.claim(owner: "w", stores: [fixture.store.id], kinds: [.sync], on: connection) == nil)
    #expect(try ledger.claim(owner: "w", stores: [], on: connection) == nil)
    let due = try ledger.due(queue: "default", on: connection)
    #expect(due.map(\.store) == [fixture.store.id, other.id] && due.map(\.kind) == [.script, .sync])
    #expect(try ledger.claim(owner: "w", stores: [other.id], kinds: [.sync], on: connection)?.id == foreign.id)
    #expect(try ledger.claim(owner: "w", stores: [fixture.store.id, other.id], on: connection)?.id == script.id)
    #expect(try ledger.due(queue: "default", on: connection).isEmpty)
  }

  @Test func msUntilDue_isThatOfTheNextJob() throws {
    func wait(_ stores: [Int64]) throws -> Int64? {
      try ledger.msUntilDue(queue: "default", stores: stores, kinds: [.sync], on: connection)
    }
    let mine = [fixture.store.id]
    #expect(try wait(mine) == nil)
    try add("script") { $0.kind = .script }
    #expect(try wait(mine) == nil)
    let later = try add("later") { $0.delayMs = 3_600_000 }
    let ms = try #require(try wait(mine))
    #expect(ms > 0 && ms <= 3_600_000)
    #expect(try wait([mine[0] + 1]) == nil)
    try shift(later.id, "due", "2 hours")
    #expect(try #require(try wait(mine)) <= -3_600_000)
    _ = try #require(try ledger.claim(owner: "w", kinds: [.sync], on: connection))
    let claim = try #require(try wait(mine))
    #expect(claim > 0 && claim <= ledger.claimMs)
  }

  @Test func figures_countEachJobOnce() throws {
    #expect(try ledger.figures(on: connection).isEmpty)
    let late = try add("late"), running = try add("running"), silent = try add("silent"), failed = try add("failed")
    try add("future") { $0.delayMs = 60_000 }
    try add("other") { $0.queue = "slow" }
    for job in [running, silent, failed] { try shift(job.id, "due", "1 day") }
    _ = try #require(try ledger.claim(owner: "w", on: connection))
    _ = try #require(try ledger.claim(owner: "w", on: connection))
    let last = try #require(try ledger.claim(owner: "w", on: connection))
    #expect(try ledger.finish(last, .failed("x", isFinal: true), owner: "w", on: connection))
    try shift(silent.id, "until", "40 seconds")
    try shift(late.id, "due", "90 seconds")
    let figures = try ledger.figures(on: connection)
    #expect(figures.map(\.queue) == ["default", "slow"])
    let own = figures[0]
    #expect(own.due == 2 && own.waiting == 1 && own.running == 1 && own.failed == 1 && own.failing == 0 && own.done == 0)
    #expect(own.lagMs >= 90_000 && own.lagMs < 600_000)
    #expect(figures[1].due == 1)
    let retried = try #require(try ledger.claim(queue: "slow", owner: "w", on: connection))
    #expect(try ledger.finish(retried, .failed("x", isFinal: false), owner: "w", on: connection))
    let slow = try ledger.figures(on: connection)[1]
    #expect(slow.due == 0 && slow.waiting == 1 && slow.failing == 1 && slow.lagMs == 0)
  }

  // MARK: Budgets

  private func budget(_ cap: Int64, spanMs: Int64 = 1 << 40) -> BudgetedCalls.Budget {
    BudgetedCalls.Budget(org: "acme \(fixture.schema.name)", spanMs: spanMs, cap: cap)
  }

  @Test func budget_manyHosts_staysBelowItsCap() throws {
    let budget = budget(777), granted = Mutex(0), schema = fixture.schema
    let connector = PostgresConnector(fixture.cluster.address())
    DispatchQueue.concurrentPerform(iterations: 6) { _ in
      let calls = BudgetedCalls(budget, PostgresSession(connector), schema)
      while (try? calls.take()) == .granted { granted.withLock { $0 += 1 } }
    }
    #expect(granted.withLock { $0 } == 777)
  }

  @Test func budget_unusedCalls_areGivenBack() throws {
    let one = BudgetedCalls(budget(60), fixture.session(), fixture.schema)
    let two = BudgetedCalls(budget(60), fixture.session(), fixture.schema)
    #expect(try one.take() == .granted)
    for _ in 0..<10 { #expect(try two.take() == .granted) }
    guard case .exhausted(let ms) = try two.take() else {
      Issue.record("an 11th call was granted")
      return
    }
    #expect(ms > 0 && ms <= 1 << 40)
    try one.giveBack()
    try one.giveBack()
    for _ in 0..<49 { #expect(try two.take() == .granted) }
    #expect(try two.take() != .granted)
    #expect(try one.take() != .granted)
  }

  @Test func budget_callsOfOthers_reduceIt() throws {
    let calls = BudgetedCalls(budget(100), fixture.session(), fixture.schema, block: 10)
    #expect(try calls.take() == .granted)
    // We have reserved 10; the org counted 85, so others made 75 at least.
    try calls.correct(seen: 85)
    for _ in 0..<24 { #expect(try calls.take() == .granted) }
    #expect(try calls.take() != .granted)
    try calls.correct(seen: 20)
    #expect(try calls.take() == .granted)
  }

  @Test func budget_nextSpan_beginsAnew() throws {
    let clock = Mutex<Int64>(0), span: Int64 = 1 << 40
    let calls = BudgetedCalls(budget(5, spanMs: span), fixture.session(), fixture.schema) { clock.withLock { $0 } }
    for _ in 0..<5 { #expect(try calls.take() == .granted) }
    #expect(try calls.take() != .granted)
    // The span that was used up becomes a former one.
    try connection.execute(
      "UPDATE \(fixture.schema.sql).budgets SET starts = starts - span_ms * interval '1 ms'")
    #expect(try calls.take() == .granted)
    // What is reserved of a span ends with it.
    clock.withLock { $0 = span }
    try connection.execute("UPDATE \(fixture.schema.sql).budgets SET used = 5 WHERE used = 5")
    #expect(try calls.take() != .granted)
  }
}
