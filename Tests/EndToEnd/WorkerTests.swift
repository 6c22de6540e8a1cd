import Foundation
import Glibc
import JSON
import PostgresStore
import SandboxOrg
import TestSupport
import Testing

/// `tureen job` and `tureen worker` with the built command, on PostgreSQL.
@Suite(
  .enabled(if: PostgresCluster.isInstalled, "needs a PostgreSQL server (Debian: apt install postgresql)"),
  .timeLimit(.minutes(60)), .ownThreads)
struct WorkerTests {
  /// A project with a soup, a sync, scripts, and a schema of its own on the shared server.
  private final class Project {
    let place: Workplace
    let schema: PostgresSchema
    let connection: PostgresConnection
    let environment: [String: String]
    var ledger: JobLedger { JobLedger(schema) }

    /// - Parameter others: Variables of the environment, such as those of an org.
    init(_ name: String, _ others: [String: String] = [:]) throws {
      let cluster = try PostgresCluster.running()
      place = try Workplace()
      schema = PostgresSchema(name)
      connection = try PostgresConnector(cluster.address(schema: name)).connect()
      let address = "postgres://tureen@127.0.0.1:\(cluster.port)/postgres?sslmode=disable&schema=\(name)"
      environment = ["TUREEN_STORE": address].merging(others) { $1 }
      try place.write(
        """
        {"soups": [{"soupName": "contacts", "indexes": [{"path": "Id", "type": "string"},
          {"path": "LastName", "type": "string"}, {"path": "__local__", "type": "string"}]}]}
        """, to: "userstore.json")
      try place.write(
        """
        {"syncs": [{"syncName": "contactsDown", "syncType": "syncDown", "soupName": "contacts",
          "target": {"type": "soql", "query": "SELECT Id, LastName FROM Contact"},
          "options": {"mergeMode": "LEAVE_IF_CHANGED"}}]}
        """, to: "usersyncs.json")
      try FileManager.default.createDirectory(atPath: place.path + "/scripts", withIntermediateDirectories: true)
    }

    func run(_ arguments: String...) async throws -> Child.Ended {
      try await place.run(Built.tureen, arguments + ["--home", place.home], environment: environment)
    }

    /// Starts a worker whose events are lines of JSON on its standard output.
    func worker(_ options: String...) throws -> Child {
      try Child(
        Built.tureen, ["worker", "--json", "--home", place.home] + options, environment: environment, in: place.path)
    }

    func job(_ id: Int64) throws -> Job { try #require(try ledger.list(on: connection).first { $0.id == id }) }

    func outcomes(_ id: Int64) throws -> [String?] { try ledger.runs(of: id, on: connection).map(\.outcome) }

    /// Lets the server's time pass for a job.
    func shift(_ id: Int64, _ what: String, _ interval: String) throws {
      try connection.execute("UPDATE \(schema.sql).jobs SET \(what) = \(what) - interval '\(interval)' WHERE id = \(id)")
    }

    /// Adds a job and returns its id.
    func add(_ arguments: String...) async throws -> Int64 {
      let ended = try await place.run(
        Built.tureen, ["job", "add", "--json"] + arguments + ["--home", place.home], environment: environment)
      #expect(ended.status == 0, "\(ended.errors)")
      return try #require(try JSONValue(parsing: ended.output)["id"]?.integerValue)
    }
  }

  private func events(_ output: String) throws -> [JSONValue] {
    try output.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
  }

  // MARK: Syncs

  /// An org in this process whose first query is never answered.
  private final class SilentOrg: Sendable {
    let server: SandboxServer
    private let queries: AsyncStream<Void>

    init() async throws {
      var configuration = SandboxConfiguration()
      configuration.seed = .custom(accounts: 1, contacts: 50)
      server = try await SandboxServer.start(configuration)
      _ = try server.control("addFault", ["kind": "hang", "path": "/services/data/**/query", "times": 1])
      let (queries, continuation) = AsyncStream<Void>.makeStream()
      self.queries = queries
      server.setInterceptor { request in
        if request.path.hasSuffix("/query") { continuation.yield() }
        return nil
      }
    }

    /// The variables with which a command signs in.
    var environment: [String: String] {
      [
        "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": server.clientId, "TUREEN_CLIENT_SECRET": server.clientSecret,
        "TUREEN_USERNAME": server.username, "TUREEN_PASSWORD": server.password,
      ]
    }

    /// Waits for a query.
    func isAsked() async {
      for await _ in queries { return }
    }
  }

  @Test func drain_syncJob_runsAsTheSyncCommandDoes() async throws {
    let project = try Project("worker_drain")
    let added = try await project.run("job", "add", "sync", "contactsDown", "--every", "15m")
    #expect(added.status == 0 && added.output.hasSuffix(": sync 'contactsDown' of sandbox/sandbox-user, due now, every 15m\n"))
    let ended = try await project.worker("--drain").ended()
    #expect(ended.status == 0, "\(ended.errors)")
    let told = try events(ended.output)
    #expect(told.map { $0["event"] } == ["ready", "began", "done"], "\(ended.output)")
    #expect(told.last?["counts"]?["fetched"] == 5000 && told.last?["job"]?["org"] == "sandbox")
    // The home has no store of its own, and the next run is due a quarter of an hour after the first.
    #expect(project.place.stores == [])
    let job = try #require(try project.ledger.list(on: project.connection).first)
    #expect(job.state == .ready && job.attempts == 0 && job.everyMs == 900_000)
    let soups = try await project.run("soups", "--json", "contacts")
    #expect(try JSONValue(parsing: soups.output)["entries"] == 5000)
    let runs = try await project.run("job", "runs", "contactsDown")
    #expect(runs.output.contains("done") && runs.output.contains("fetched 5000"), "\(runs)")
    // Nothing is due now.
    #expect(try await events(project.worker("--drain").ended().output).map { $0["event"] } == ["ready"])
  }

  /// The second worker stands for another machine: it has a home of its own.
  @Test func worker_killedDuringASync_isTakenOver() async throws {
    let org = try await SilentOrg(), project = try Project("worker_kill", org.environment)
    let id = try await project.add("sync", "contactsDown"), first = try project.worker()
    await org.isAsked()
    let second = try project.worker("--home", project.place.path + "/other")
    #expect(await second.prints(#""event":"ready""#))
    first.send(SIGKILL)
    #expect(await first.ended().status == 128 + SIGKILL)
    #expect(try project.job(id).state == .running)
    try project.shift(id, "until", "31 seconds")
    #expect(await second.prints(#""event":"done""#), "\(second.printed)")
    // On a machine that stands still for half a minute the job changes hands more often, but no attempt fails.
    let outcomes = try project.outcomes(id)
    #expect(outcomes.first == "done" && outcomes.last == "lost" && !outcomes.contains("failed"), "\(outcomes) \(second.printed)")
    #expect(try project.job(id).state == .done)
    let soups = try await project.run("soups", "--json", "contacts")
    #expect(try JSONValue(parsing: soups.output)["entries"] == 50)
    second.send(SIGTERM)
    #expect(await second.ended().status == 0)
    await org.server.stop()
  }

  /// A request that is not answered does not keep the worker.
  @Test func worker_termDuringASync_givesTheJobBack() async throws {
    let org = try await SilentOrg(), project = try Project("worker_term", org.environment)
    let id = try await project.add("sync", "contactsDown"), worker = try project.worker()
    await org.isAsked()
    worker.send(SIGTERM)
    let ended = await worker.ended()
    #expect(ended.status == 0, "\(ended)")
    let told = try events(ended.output).compactMap { $0["event"]?.stringValue }.filter { $0 != "ending" }
    #expect(told == ["ready", "began", "stopping", "released"], "\(ended.output)")
    let job = try project.job(id)
    #expect(job.state == .ready && job.attempts == 0 && job.owner == nil)
    // The sync's lease is free, too: another worker continues at once.
    let next = try await project.worker("--drain").ended()
    #expect(next.status == 0 && next.output.contains(#""event":"done""#), "\(next)")
    #expect(try project.outcomes(id) == ["done", "released"])
    await org.server.stop()
  }

  // MARK: Scripts

  /// Prints its process id, and then waits for ever.
  private static let endless = """
    local tureen = require "tureen"
    local file = assert(io.open("started", "w"))
    file:write(arg[1], "\\n", (io.open("/proc/self/stat"):read("a"):match("^%d+")))
    file:close()
    os.rename("started", "running")
    while true do tureen.poll(1000) end
    """

  /// Waits until the script has started. - Returns: Its argument and its process.
  private func started(_ project: Project) async throws -> (argument: String, process: pid_t) {
    let path = project.place.path + "/running"
    while !FileManager.default.fileExists(atPath: path) { try await Task.sleep(for: .milliseconds(10)) }
    let lines = try String(contentsOfFile: path, encoding: .utf8).components(separatedBy: "\n")
    return (lines[0], try #require(pid_t(lines[1])))
  }

  /// Waits until a process has ended.
  private func isGone(_ process: pid_t) async -> Bool {
    while true {
      let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
      // In a container without a process that reaps orphans they stay as zombies.
      guard let stat, let close = stat.lastIndex(of: ")"), !stat[close...].hasPrefix(") Z") else { return true }
      try? await Task.sleep(for: .milliseconds(10))
    }
  }

  @Test func worker_termDuringAScript_stopsItAndGivesItBack() async throws {
    let project = try Project("worker_script_term")
    try project.place.write(Self.endless, to: "scripts/endless.lua")
    let id = try await project.add("script", "endless.lua", "--args", #"{"days": 3}"#)
    let worker = try project.worker("--scripts", "scripts"), (argument, process) = try await started(project)
    #expect(argument == #"{"days": 3}"#)
    worker.send(SIGTERM)
    let ended = await worker.ended()
    #expect(ended.status == 0, "\(ended)")
    #expect(try events(ended.output).map { $0["event"] }.suffix(2) == ["stopping", "released"], "\(ended.output)")
    #expect(await isGone(process))
    #expect(try project.job(id).state == .ready && project.outcomes(id) == ["released"])
  }

  @Test func worker_killedDuringAScript_takesItWithIt() async throws {
    let project = try Project("worker_script_kill")
    try project.place.write(Self.endless, to: "scripts/endless.lua")
    let id = try await project.add("script", "endless.lua")
    let worker = try project.worker("--scripts", "scripts"), process = try await started(project).process
    worker.send(SIGKILL)
    #expect(await worker.ended().status == 128 + SIGKILL)
    #expect(await isGone(process))
    #expect(try project.job(id).state == .running && project.outcomes(id) == [nil])
  }

  @Test func script_thatFails_backsOffAndIsFailedAfterItsAttempts() async throws {
    let project = try Project("worker_script_fails")
    try project.place.write("error 'no luck'\n", to: "scripts/fails.lua")
    let id = try await project.add("script", "fails.lua", "--attempts", "2")
    let first = try await project.worker("--drain", "--scripts", "scripts").ended()
    #expect(first.status == 1 && first.errors.contains("no luck"), "\(first)")
    let waiting = try project.job(id)
    #expect(waiting.state == .ready && waiting.error?.hasPrefix("the script ended with status 1") == true)
    let listed = try await project.run("job", "list")
    #expect(listed.output.contains("failing") && listed.output.contains("1/2"), "\(listed)")
    let ended = try #require(try project.ledger.runs(of: id, on: project.connection).first?.ended)
    #expect(waiting.due > ended + 7_000, "it is due after 10 seconds, by a quarter more or less")
    // Its time has not come, however long the commands take here.
    try project.shift(id, "due", "-1 hour")
    #expect(try await project.worker("--drain", "--scripts", "scripts").ended().status == 0)
    try project.shift(id, "due", "2 hours")
    #expect(try await project.worker("--drain", "--scripts", "scripts").ended().status == 1)
    #expect(try project.job(id).state == .failed && project.outcomes(id) == ["failed", "failed"])
    // Corrected, and made due again.
    try project.place.write("io.stderr:write('now it works: ', ...)\n", to: "scripts/fails.lua")
    let retried = try await project.run("job", "retry", "fails.lua")
    #expect(retried.output == "job \(id): script 'fails.lua' of sandbox/sandbox-user is due now\n")
    let last = try await project.worker("--drain", "--scripts", "scripts").ended()
    #expect(last.status == 0 && last.errors.contains("now it works: {}"), "\(last)")
  }

  /// What a script prints does not mix with the worker's events.
  @Test func script_usesTheStoresOfTheDatabase() async throws {
    let project = try Project("worker_script_store")
    try project.place.write(
      """
      local tureen = require "tureen"
      print "to the log"
      tureen.smartstore.registerSoup("made", { { path = "Id", type = "string" } })
      """, to: "scripts/make.lua")
    _ = try await project.add("script", "make.lua")
    let left = try await project.worker("--drain").ended()
    #expect(left.status == 0 && left.output.contains("no folder of scripts"), "\(left)")
    let ended = try await project.worker("--drain", "--scripts", "scripts").ended()
    #expect(ended.status == 0 && ended.errors.contains("to the log") && !ended.output.contains("to the log"), "\(ended)")
    #expect(project.place.stores == [])
    #expect(try await project.run("soups").output.contains("made"))
  }

  // MARK: Commands

  @Test func add_theSameJobTwice_isAnError() async throws {
    let project = try Project("job_twice"), id = try await project.add("sync", "contactsDown")
    let again = try await project.run("job", "add", "sync", "contactsDown")
    #expect(again.status == 1 && again.output == "")
    #expect(
      again.errors == "tureen: the store 'defaultStore' of sandbox/sandbox-user has a sync job 'contactsDown' already: "
        + "job \(id); remove it first with tureen job remove \(id)\n")
    let asJSON = try await project.run("job", "add", "sync", "contactsDown", "--json")
    #expect(try JSONValue(parsing: asJSON.errors)["code"] == "jobExists")
  }

  @Test func job_commands_nameWhatIsWrongAndTheFix() async throws {
    let project = try Project("job_errors")
    let cases: [([String], Int32, String)] = [
      (["add", "sync", "contactDown"], 1, "sync 'contactDown' does not exist; did you mean 'contactsDown'?"),
      (["add", "synk", "contactsDown"], 64, "'synk' is not a kind of job; did you mean 'sync'?"),
      (["add", "sync", "contactsDown", "--every", "often"], 64, "--every often: give a time such as 90s"),
      (["add", "sync", "contactsDown", "--at", "2020-01-01T00:00Z"], 64, "--at 2020-01-01T00:00Z is in the past"),
      (["add", "sync", "contactsDown", "--at", "noon"], 64, "--at noon: give a time such as 2026-11-28T02:15Z"),
      (["add", "sync", "contactsDown", "--at", "02:15", "--in", "5m"], 64, "give --at or --in, not both"),
      (["add", "sync", "contactsDown", "--args", "{"], 64, "arguments are not JSON"),
      (["add", "sync", "contactsDown", "--args", #"{"gosts": true}"#], 64, "did you mean 'ghosts'?"),
      (["add", "sync", "contactsDown", "--attempts", "0"], 64, "at least 1 attempt, not 0"),
      (["add", "script", "../evil.lua"], 64, "'../evil.lua' cannot be the script of a job"),
      (["add", "script", "a.lua", "--store-name", "defaultStor"], 1, "store 'defaultStor' does not exist"),
      (["remove", "7"], 1, "job 7 does not exist"), (["runs", "x"], 1, "job 'x' does not exist; there are no jobs yet"),
      (["list", "--prometheus", "--json"], 64, "exclude one another"), (["lsit"], 64, "did you mean 'list'?"),
    ]
    for (arguments, status, message) in cases {
      let ended = try await project.place.run(
        Built.tureen, ["job"] + arguments + (arguments == ["lsit"] ? [] : ["--home", project.place.home]),
        environment: project.environment)
      #expect(ended.status == status && ended.errors.contains(message) && ended.output == "", "\(arguments): \(ended)")
    }
  }

  @Test func commands_withoutADatabase_sayHowToSetOne() async throws {
    let place = try Workplace()
    for command in [["job", "list"], ["worker", "--drain"], ["job", "add", "script", "a.lua"]] {
      let ended = try await place.run(Built.tureen, command + ["--home", place.home])
      #expect(ended.status == 78, "\(command): \(ended)")
      #expect(ended.errors.contains("set TUREEN_STORE to an address such as postgres://"), "\(command): \(ended)")
    }
    let nowhere = ["TUREEN_STORE": "postgres://tureen@127.0.0.1:1/postgres?sslmode=disable"]
    for command in [["job", "list"], ["worker", "--drain"]] {
      let ended = try await place.run(Built.tureen, command + ["--home", place.home], environment: nowhere)
      #expect(ended.status == 75 && ended.errors.contains("cannot connect to PostgreSQL at 127.0.0.1:1"), "\(command): \(ended)")
    }
  }

  @Test func worker_withoutDatabaseForNow_triesAgainAndSaysSo() async throws {
    let place = try Workplace()
    let worker = try Child(
      Built.tureen, ["worker", "--json", "--home", place.home],
      environment: ["TUREEN_STORE": "postgres://tureen@127.0.0.1:1/postgres?sslmode=disable"], in: place.path)
    #expect(await worker.prints(#""event":"databaseLost""#))
    #expect(worker.printed.contains("trying again in 1 s"), "\(worker.printed)")
    worker.send(SIGINT)
    #expect(await worker.ended().status == 0)
  }

  @Test(arguments: [
    (["--slots", "0"], "--slots must be 1 to 256"), (["--scripts", "nowhere"], "the folder 'nowhere' does not exist"),
    (["--user", "ada"], "--user goes with --org"), (["--org", "acme"], "acme"),
  ])
  func worker_wrongOptions_areRefused(options: [String], message: String) async throws {
    let project = try Project("worker_options")
    let ended = try await project.place.run(
      Built.tureen, ["worker", "--drain", "--home", project.place.home] + options, environment: project.environment)
    #expect(ended.status != 0 && ended.errors.contains(message), "\(ended)")
  }

  @Test func list_jobsAndMetrics_areShownInEveryForm() async throws {
    let project = try Project("job_list")
    let down = try await project.add("sync", "contactsDown", "--every", "1d", "--at", "02:15")
    let script = try await project.add("script", "reports/daily.lua", "--queue", "slow", "--in", "2h")
    let listed = try await project.run("job", "list")
    let table = listed.output.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
    #expect(table.count == 3 && table[0].prefix(8) == ["ID", "KIND", "NAME", "STORE", "QUEUE", "EVERY", "STATE", "DUE"])
    #expect(table[1].prefix(7) == ["\(down)", "sync", "contactsDown", "sandbox/sandbox-user", "default", "1d", "ready"])
    #expect(table[1].contains("02:15Z") && table[2].prefix(3) == ["\(script)", "script", "reports/daily.lua"], "\(listed)")
    let slow = try await events(project.run("job", "list", "--json", "--queue", "slow").output)
    #expect(slow.map { $0["name"] } == ["reports/daily.lua"] && slow[0]["attempts"] == 0 && slow[0]["isGlobalStore"] == false)
    try project.shift(down, "due", "2 days")
    let metrics = try await project.run("job", "list", "--metrics")
    #expect(metrics.output.split(separator: "\n").count == 3 && metrics.output.hasPrefix("QUEUE"), "\(metrics)")
    let text = try await project.run("job", "list", "--prometheus").output
    #expect(text.contains("tureen_jobs_due{queue=\"default\"} 1\n") && text.contains("tureen_jobs_waiting{queue=\"slow\"} 1\n"))
    #expect(text.contains("# TYPE tureen_jobs_oldest_due_seconds gauge\n"))
    let removed = try await project.run("job", "remove", "\(down)", "reports/daily.lua")
    #expect(removed.status == 0 && removed.output.split(separator: "\n").count == 2, "\(removed)")
    let empty = try await project.run("job", "list")
    #expect(empty.status == 0 && empty.output == "" && empty.errors.contains("there are no jobs"), "\(empty)")
  }
}
