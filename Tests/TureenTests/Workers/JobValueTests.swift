import Glibc
import JSON
import LuaBridge
import MobileSync
import Support
import TestSupport
import Testing

@testable import PostgresStore
@testable import Tureen

/// The values that commands and workers decide with.
@Suite struct JobValueTests {
  // MARK: Times

  @Test(
    arguments: [
      ("90s", 90_000), ("15m", 900_000), ("2h", 7_200_000), ("1d", 86_400_000), ("1w", 604_800_000), ("1h30m", 5_400_000),
      ("250ms", 250), ("1m5s1ms", 65_001), ("520w", 314_496_000_000),
    ] as [(String, Int64)]) func interval_text_isRead(_ text: String, _ milliseconds: Int64)
  {
    #expect(JobInterval(text)?.milliseconds == milliseconds)
  }

  @Test(arguments: [
    "", "0s", "15", "m", "-5m", "1.5h", "5 m", "15x", "1s1m", "1m1m", "11000d", "99999999999999999999s", "9223372036854775807w",
    "１m",
  ])
  func interval_otherText_isRefused(_ text: String) { #expect(JobInterval(text) == nil) }

  @Test(arguments: ["90s", "15m", "1h30m", "1d", "1w", "8d", "1d12h", "250ms", "2w"])
  func interval_description_isShortAndReadAgain(_ text: String) throws {
    let interval = try #require(JobInterval(text)), description = "\(interval)"
    #expect(JobInterval(description) == interval)
    #expect(description == (text == "90s" ? "1m30s" : text))
  }

  @Test func time_forms_areReadInUTC() {
    // 2026-11-27T17:00:00Z
    let now: Int64 = 1_795_798_800_000, day: Int64 = 86_400_000
    #expect(JobTime.parse("2026-11-27T17:00Z", now: 0) == now)
    #expect(JobTime.parse("2026-11-27T17:00:09Z", now: 0) == now + 9000)
    #expect(JobTime.parse("2026-11-27T18:00+01:00", now: 0) == now)
    #expect(JobTime.parse("2026-11-27 12:30-0430", now: 0) == now)
    #expect(JobTime.parse("18:00", now: now) == now + 3_600_000)
    #expect(JobTime.parse("17:00", now: now) == now + day)
    #expect(JobTime.parse("02:15", now: now) == now + day - 14 * 3_600_000 - 45 * 60_000)
  }

  @Test(arguments: [
    "", "soon", "2026-11-28", "2026-11-28T02:15", "2026-02-30T02:15Z", "2026-11-28T24:00Z", "24:00", "2:15", "02:60", "02:15Z",
    "2026-11-28T02:15+15:00", "2026-11-28T02:15+1", "26-11-28T02:15Z", "2026-11-28T02Z", "T02:15Z",
  ])
  func time_otherText_isRefused(_ text: String) { #expect(JobTime.parse(text, now: 0) == nil) }

  // MARK: Arguments and names

  private func message(_ body: () throws -> Void) -> String? {
    #expect(throws: JobError.self, performing: body)?.message
  }

  @Test func arguments_ofASync_knowTheirKeys() throws {
    #expect(try !JobArguments("{}", isSync: true).cleansGhosts)
    #expect(try JobArguments(#"{"ghosts": true}"#, isSync: true).cleansGhosts)
    #expect(try !JobArguments(#"{"ghosts": true}"#, isSync: false).cleansGhosts)
    #expect(
      message { _ = try JobArguments(#"{"gosts": true}"#, isSync: true) }
        == "the argument 'gosts' is not known for a sync job; did you mean 'ghosts'?")
    #expect(message { _ = try JobArguments(#"{"ghosts": 1}"#, isSync: true) }?.contains("must be true or false") == true)
    #expect(message { _ = try JobArguments("[]", isSync: false) }?.contains("must be a JSON object") == true)
    #expect(message { _ = try JobArguments("{", isSync: false) }?.contains("line 1, column") == true)
  }

  @Test func request_longNames_areRefusedInWords() throws {
    func request(_ name: String, queue: String = "default") -> JobRequest {
      var request = JobRequest(.sync, name: name)
      request.queue = queue
      return request
    }
    func refusal(_ name: String, queue: String = "default") -> String? { message { try request(name, queue: queue).check() } }
    let longest = String(repeating: "é", count: 500)
    try request(longest, queue: longest).check()
    #expect(refusal(longest + "s") == "the name of a job has at most 1000 bytes, not 1001")
    #expect(refusal("s", queue: longest + "q") == "the name of a queue has at most 1000 bytes, not 1001")
    #expect(refusal("") == "a job needs a name")
  }

  @Test(arguments: ["", "/etc/passwd.lua", "../up.lua", "a/../../up.lua", "./a.lua", "a//b.lua", "a/", "a\0.lua"])
  func script_nameThatLeadsOut_isRefused(_ name: String) {
    #expect(message { try ScriptName.check(name) }?.contains("below the folder") == true)
  }

  @Test func script_path_staysInTheFolder() throws {
    let folder = try TemporaryFolder()
    let scripts = folder.path + "/scripts"
    try FileSystem.makeDirectory(scripts + "/reports")
    try FileSystem.write(Array("return".utf8), to: scripts + "/reports/daily.lua")
    try FileSystem.write(Array("return".utf8), to: folder.path + "/outside.lua")
    try FileSystem.makeDirectory(folder.path + "/scripts-too")
    try FileSystem.write(Array("return".utf8), to: folder.path + "/scripts-too/a.lua")
    for (link, target) in [("out.lua", "../outside.lua"), ("in.lua", "reports/daily.lua"), ("too.lua", "../scripts-too/a.lua")] {
      #expect(symlink(target, scripts + "/" + link) == 0)
    }
    #expect(try ScriptName.path("reports/daily.lua", in: scripts).hasSuffix("/scripts/reports/daily.lua"))
    #expect(try ScriptName.path("in.lua", in: scripts).hasSuffix("/scripts/reports/daily.lua"))
    #expect(message { _ = try ScriptName.path("out.lua", in: scripts) }?.contains("leads out of") == true)
    #expect(message { _ = try ScriptName.path("too.lua", in: scripts) }?.contains("leads out of") == true)
    #expect(message { _ = try ScriptName.path("reports", in: scripts) }?.contains("is not a readable file") == true)
    #expect(message { _ = try ScriptName.path("missing.lua", in: scripts) }?.contains("does not exist in") == true)
    #expect(message { _ = try ScriptName.path("a.lua", in: folder.path + "/nowhere") }?.contains("cannot be read") == true)
  }

  // MARK: Jobs

  static func job(
    _ id: Int64, _ name: String = "contactsDown", kind: Job.Kind = .sync, state: Job.State = .ready, everyMs: Int64? = nil,
    owner: String? = nil, error: String? = nil
  ) -> Job {
    Job(
      id: id, store: 1, kind: kind, name: name, arguments: #"{"ghosts":true}"#, queue: "default", everyMs: everyMs,
      due: 1_795_798_800_000, state: state, owner: owner, fence: 3, attempts: 2, maximumAttempts: 5, error: error)
  }

  private static let store = PostgresSchema.Store(id: 1, org: "acme", user: "ada%40acme", name: "defaultStore", schema: "t_1")

  @Test func job_line_saysWhatItIs() throws {
    let line = JobSummary(Self.job(7, everyMs: 900_000, error: "no network"), in: Self.store)
    #expect(line.title == "7: sync 'contactsDown'" && line.place == "acme/ada@acme" && line.interval == "15m")
    #expect(line.state == "failing" && line.remark == "no network" && line.attempts == "2/5" && line.due == 1_795_798_800_000)
    let running = JobSummary(Self.job(7, state: .running, owner: "a:1:2", error: "x"), in: Self.store)
    #expect(running.state == "running" && running.remark == "on a:1:2")
    let failed = JobSummary(Self.job(7, state: .failed, error: "x"), in: Self.store)
    #expect(failed.state == "failed" && failed.due == nil && failed.interval == "once")
    let global = JobSummary(Self.job(7), in: .init(id: 1, org: "", user: "", name: "shared", schema: "t_1"))
    #expect(global.place == "global/shared" && global.isGlobal)
    #expect(line.json["args"] == ["ghosts": true] && line.json["everyMs"] == 900_000 && line.json["error"] == "no network")
  }

  @Test func choice_byIdOrName_findsOneOrSaysWhy() throws {
    let jobs = [Self.job(7), Self.job(8, "nightly.lua", kind: .script), Self.job(9, "both"), Self.job(10, "both", kind: .script)]
    let choice = JobChoice(jobs: jobs.map { JobSummary($0, in: Self.store) })
    #expect(try choice.job("7").id == 7 && choice.job("nightly.lua").id == 8)
    #expect(message { _ = try choice.job("11") } == "job 11 does not exist; tureen job list shows all jobs")
    #expect(message { _ = try choice.job("nightly.lu") } == "job 'nightly.lu' does not exist; did you mean 'nightly.lua'?")
    #expect(
      message { _ = try choice.job("both") }
        == "2 jobs are called 'both'; give the id of one: 9 (sync of acme/ada@acme), 10 (script of acme/ada@acme)")
    #expect(message { _ = try JobChoice(jobs: []).job("x") } == "job 'x' does not exist; there are no jobs yet")
  }

  @Test func run_line_hasCountsOrTheError() {
    func line(_ outcome: String?, ended: Int64?, error: String? = nil, counts: String? = nil) -> JobRunSummary {
      JobRunSummary(
        run: JobLedger.Run(fence: 3, owner: "w", began: 1000, ended: ended, outcome: outcome, error: error, counts: counts))
    }
    let done = line("done", ended: 2250, counts: #"{"fetched":5,"pages":1}"#)
    #expect(done.duration == "1.2 s" && done.remark == "fetched 5, pages 1" && done.json["counts"]?["fetched"] == 5)
    let running = line(nil, ended: nil)
    #expect(running.outcome == "running" && running.duration == "" && running.remark == "")
    #expect(line("failed", ended: 1000, error: "no").remark == "no")
  }

  // MARK: Metrics

  @Test func metrics_prometheus_isTheTextFormat() {
    let metrics = QueueMetrics(queues: [
      QueueFigures(queue: "default", due: 2, waiting: 1, running: 3, failed: 4, failing: 5, done: 6, lagMs: 90_007),
      QueueFigures(queue: "a \"b\"\\c\nd"),
    ])
    let text = metrics.prometheus
    #expect(
      text.hasPrefix(
        """
        # HELP tureen_jobs_due Jobs that a worker could take now.
        # TYPE tureen_jobs_due gauge
        tureen_jobs_due{queue="default"} 2
        tureen_jobs_due{queue="a \\"b\\"\\\\c\\nd"} 0
        # HELP tureen_jobs_oldest_due_seconds Seconds for which the oldest due job has waited; 0 if none is due.
        # TYPE tureen_jobs_oldest_due_seconds gauge
        tureen_jobs_oldest_due_seconds{queue="default"} 90.007

        """))
    for (name, value) in [("waiting", 1), ("running", 3), ("failed", 4), ("failing", 5), ("done", 6)] {
      #expect(text.contains("\ntureen_jobs_\(name){queue=\"default\"} \(value)\n"))
    }
    #expect(text.split(separator: "\n").count == 7 * 4 && text.hasSuffix("\n"))
    #expect(QueueMetrics(queues: []).prometheus.contains("tureen_jobs_due{queue=\"default\"} 0\n"))
  }

  @Test func metrics_table_hasWholeSeconds() {
    let metrics = QueueMetrics(queues: [QueueFigures(queue: "q", due: 2, waiting: 1, failed: 4, lagMs: 90_999)])
    #expect(metrics.rows == [["q", "2", "1m30s", "1", "0", "0", "4", "0"]])
    #expect(QueueMetrics(queues: [QueueFigures(queue: "q")]).rows[0][2] == "")
  }

  // MARK: Ends of attempts

  @Test func scriptStatus_saysHowItEnded() {
    func end(_ status: Int32, isStopping: Bool = false) -> AttemptEnd { AttemptEnd(scriptStatus: status, isStopping: isStopping) }
    #expect(end(0) == .done(counts: [:]) && end(0, isStopping: true) == .done(counts: [:]))
    #expect(end(130 << 8, isStopping: true) == .stopped && end(9, isStopping: true) == .stopped)
    #expect(end(9) == .failed("signal 9 ended the script", isFinal: false))
    #expect(
      end(1 << 8) == .failed("the script ended with status 1; the worker's log has its messages", isFinal: false))
    #expect(
      end(75 << 8)
        == .failed("the script ended with status 75 (try again later); the worker's log has its messages", isFinal: false))
  }

  @Test func error_ofASync_isFinalIfRepeatingIsOfNoUse() {
    func end(_ domain: String, _ code: String, isRetryable: Bool = false, isStopping: Bool = false) -> AttemptEnd {
      AttemptEnd(
        BridgeError(domain: domain, code: code, message: "why", isRetryable: isRetryable), isStopping: isStopping)
    }
    #expect(end("sync", "noSuchSync") == .failed("why (sync/noSuchSync)", isFinal: true))
    #expect(end("network", "transport", isRetryable: true) == .failed("why (network/transport)", isFinal: false))
    // Another worker may be signed in.
    #expect(end("network", "notAuthenticated") == .failed("why (network/notAuthenticated)", isFinal: false))
    #expect(end("sync", "stopped", isStopping: true) == .stopped)
    for code in ["runningElsewhere", "alreadyRunning"] {
      #expect(end("sync", code, isRetryable: true) == .postponed("why"))
    }
    #expect(end("sync", "stopped") == .failed("why (sync/stopped)", isFinal: false))
  }

  @Test func backOff_pauses_doubleUpToTheirLimit() {
    var backOff = WorkerBackOff(firstMs: 1000)
    #expect((0..<7).map { _ in backOff.next(random: 0) } == [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000])
    #expect(backOff.next(random: 1) == 22_500)
    backOff.reset()
    #expect(backOff.next(random: 1) == 750)
  }

  @Test func news_texts_areSentences() {
    let job = JobSummary(Self.job(7), in: Self.store)
    #expect(WorkerNews.began(job).text == "job 7: sync 'contactsDown' of acme/ada@acme began, attempt 2/5")
    #expect(WorkerNews.done(job, counts: ["fetched": 5]).text == "job 7: sync 'contactsDown' is done: fetched 5")
    #expect(
      WorkerNews.failed(job, message: "no network", isLast: false).text
        == "job 7: sync 'contactsDown' failed in attempt 2/5: no network; it is tried again later")
    #expect(WorkerNews.stopping(running: 1).text == "stopping 1 job at the next page")
    let json = WorkerNews.failed(job, message: "no", isLast: true).json
    #expect(json["event"] == "failed" && json["job"]?["id"] == 7 && json["error"] == "no" && json["isLast"] == true)
  }
}
