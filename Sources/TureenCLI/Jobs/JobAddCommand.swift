import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct JobAddCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "add",
    abstract: "Add a job that workers run once or again and again.",
    usage: "tureen job add [<options>] (sync | script) <name>",
    discussion: """
      A sync job runs a named sync of the store, as tureen sync does. A script job runs a Lua file from the folder that workers \
      get with --scripts, as tureen run does; it gets the job's arguments as JSON in its first argument. A store has at most one \
      job of a kind and name.

      A failed attempt is repeated after 10 seconds, then after 20, 40 and so on, up to an hour. After the last attempt the job \
      is failed, or waits for its next regular time.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is such a job already, or no such store or sync"), (64, "wrong usage"),
          (67, "the org or user is not known"), (75, "the database is out of reach; try again later"),
          (78, "no database is set, or a configuration file is wrong; the message names file, line and key"),
        ]))

  @Argument(help: "sync or script.", completion: .list(["sync", "script"]))
  var kind: String

  @Argument(
    help: "The name of the sync, or the path of the script below the workers' folder of scripts, such as nightly.lua.",
    completion: NameCompletion.sync)
  var name: String

  @Option(help: "Run it again and again in this interval, such as 90s, 15m, 2h, 1d or 1h30m. Without it, once.")
  var every: String?

  @Option(
    help: """
      Run it for the first time at this time, such as 2026-11-28T02:15Z or 2026-11-28T02:15+01:00; 02:15 is the next time of day \
      in UTC. Without it, at once.
      """)
  var at: String?

  @Option(name: .customLong("in"), help: "Run it for the first time after this time, such as 10m.")
  var delay: String?

  @Option(help: "The queue, which workers name with --queue.")
  var queue = "default"

  @Option(help: "The number of attempts.")
  var attempts: Int64 = 5

  @Option(
    help: """
      The job's arguments, one JSON object. For a sync, {"ghosts": true} also removes clean entries that the server would no \
      longer send.
      """)
  var args = "{}"

  @Flag(help: "Print the job as one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws { _ = try request() }

  /// - Throws: `ValidationError` naming the option.
  private func request() throws -> JobRequest {
    guard let kind = JobRequest.Kind(rawValue: kind) else {
      throw ValidationError("'\(kind)' is not a kind of job\(NearestName.hint(for: kind, among: ["sync", "script"]))")
    }
    var request = JobRequest(kind, name: name)
    request.every = try every.map { try IntervalOption.parse("--every", $0) }
    (request.queue, request.arguments, request.attempts) = (queue, args, attempts)
    if at != nil, delay != nil { throw ValidationError("give --at or --in, not both") }
    if let delay { request.delayMs = try IntervalOption.parse("--in", delay).milliseconds }
    if let at { request.delayMs = try wait(until: at) }
    do {
      try request.check()
    } catch {
      throw ValidationError(error.message)
    }
    return request
  }

  /// - Returns: Ms from now.
  private func wait(until text: String) throws -> Int64 {
    let now = TimeText.now
    guard let time = JobTime.parse(text, now: now) else { throw ValidationError("--at \(text): give \(JobTime.shape)") }
    guard time > now else { throw ValidationError("--at \(text) is in the past; without it the job is due at once") }
    return time - now
  }

  func run() throws {
    let request = try request()
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, isJSON: json) { calls in
      let board = try JobBoard(calls.host)
      if request.kind == .sync || store.storeName != StoreReference.defaultName { try calls.requireStore(store.project) }
      if request.kind == .sync {
        let known = try calls.syncs().map(\.name)
        guard known.contains(name) else { throw CallFailure.noSuchSync(name, among: known) }
      }
      try say(try board.add(request, to: store.reference))
      return 0
    }
  }

  private func say(_ job: JobSummary) throws {
    let output = ByteOutput()
    if json {
      try output.write(TerminalText.escapedJSON(job.json.text) + "\n")
    } else {
      let due = at == nil && delay == nil ? "due now" : "due \(TimeText.minute(job.due ?? 0))"
      let every = every == nil ? "" : ", every \(job.interval)"
      try output.write(TerminalText.escaped("job \(job.title) of \(job.place), \(due)\(every)\n"))
    }
    try output.finish()
  }
}
