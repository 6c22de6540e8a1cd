import ArgumentParser
import Glibc
import JSON
import Tureen

struct SyncCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync",
    abstract: "Run named syncs one after the other.",
    usage: """
      tureen sync [<options>] <names> ...
             tureen sync [<options>] --all
      """,
    discussion: """
      A sync continues where its last run ended. If one fails the others still run, and the exit status is that of the worst. \
      tureen syncs lists the names; usersyncs.json in the project's folder defines syncs.

      A line for each finished sync goes to stdout. The first records that a sync up leaves behind, and the items of the \
      server that cannot be used, go to stderr with the reason; tureen dirty lists all. Progress goes to stderr: a bar on a \
      terminal, elsewhere a line every ten seconds. If usersyncs.json names a program in 'after', it runs when a sync has \
      changed entries, with their ids as JSON on standard input. Ctrl-C and SIGTERM stop the sync at a page boundary and save \
      it as STOPPED.

      With --every the command goes on until Ctrl-C or SIGTERM, which end it at a page with status 0. Runs start at whole \
      intervals after the first; times that pass during a run are skipped. After a failure it waits 10 seconds, then 20, 40 and \
      so on, up to an hour. Records that stay, and a sync that runs in another process, are not failures. If the first run shows \
      that a person is needed, such as for a wrong name or a missing sign-in, the command ends. Between runs no store is open.
      """
        + ExitStatus.help([
          (0, "done, or with --every ended by Ctrl-C or SIGTERM"), (1, "a sync failed, or there is no such sync"),
          (2, "done, but records are refused, skipped, in doubt, in conflict or unusable; stderr names the first"),
          (64, "wrong usage"),
          (67, "a sign-in is needed or was refused, or the org or user is not known"),
          (75, "the org is unreachable or busy, or the sync runs elsewhere; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"),
          (130, "interrupted: the sync was stopped and saved as STOPPED"),
        ]))

  @Argument(help: "The names of the syncs, in the order in which to run them.", completion: NameCompletion.sync)
  var names: [String] = []

  @Flag(help: "Run all named syncs: those up first, then those down.")
  var all = false

  @Flag(help: "After each sync down remove clean entries that the server would no longer send.")
  var ghosts = false

  @Option(
    help: ArgumentHelp(
      "End a run as FAILED when it has sent this many requests; what was stored until then stays.", valueName: "count"))
  var maxRequests: Int64?

  @Option(help: "Run the syncs again and again in this interval, such as 90s, 15m or 1h30m.")
  var every: String?

  @Option(help: "With --every, start each run up to this much later, at random, so that machines do not start at once.")
  var jitter: String?

  @Flag(help: "Print each sync event as a line of JSON on stdout. The error is JSON on stderr. No progress bar.")
  var json = false

  @Flag(help: "Print only errors.")
  var quiet = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if all, !names.isEmpty { throw ValidationError("name syncs or give --all, not both") }
    if !all, names.isEmpty { throw ValidationError("name a sync, or give --all; tureen syncs lists them") }
    if let maxRequests, maxRequests < 1 { throw ValidationError("--max-requests \(maxRequests): give 1 or more") }
    _ = try repetition()
  }

  /// The interval and the jitter; nil to run once.
  private func repetition() throws -> (every: JobInterval, jitter: JobInterval?)? {
    guard let every else {
      guard jitter == nil else { throw ValidationError("--jitter goes with --every") }
      return nil
    }
    let interval = try IntervalOption.parse("--every", every), late = try jitter.map { try IntervalOption.parse("--jitter", $0) }
    guard interval.milliseconds >= IntervalOption.shortestMs else { throw ValidationError("--every \(every): give 1s or more") }
    if let late, late.milliseconds >= interval.milliseconds {
      throw ValidationError("--jitter \(late) must be less than --every \(interval)")
    }
    return (interval, late)
  }

  private var style: SyncDisplay.Style { json ? .json(STDOUT_FILENO) : quiet ? .none : .progress }

  func run() throws {
    if let repetition = try repetition() { return try SyncRepetition(self).run(repetition) }
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, style: style, isJSON: json) {
      var run = SyncRun()
      try runAll($0, &run)
      return $0.isInterrupted ? ExitStatus.interrupted : run.status
    }
  }

  /// Does one of several runs.
  func run(again work: InterruptibleWork) -> SyncRun {
    var run = SyncRun()
    run.status = BridgeCalls.repeated(
      place, configDirectory: store.project.folder, store: store.reference, style: style, isJSON: json, work: work
    ) { calls in
      do {
        try runAll(calls, &run)
        return run.status
      } catch ByteOutput.Failure.noReader {
        run.hasLostItsReader = true
        return 0
      } catch {
        run.hasFailed = true
        throw error
      }
    }
    if !run.hasBegun { run.hasFailed = true }
    return run
  }

  private func runAll(_ calls: BridgeCalls, _ run: inout SyncRun) throws {
    try calls.requireStore(store.project)
    // Opens the sync manager, which saves the syncs of the configuration files.
    _ = try calls.value("mobilesync", "isStopped")
    let syncs = try chosen(try calls.syncs())
    // A mistake in what is to run afterwards shows before the first sync.
    for sync in syncs { _ = try calls.host.afterSync(sync.name, in: calls.store) }
    run.hasBegun = true
    for sync in syncs {
      run.note(try self.run(sync, calls))
      // Every later call would be refused.
      if calls.isInterrupted { return }
    }
  }

  private func chosen(_ known: [SyncSummary]) throws -> [SyncSummary] {
    if all {
      guard !known.isEmpty else { throw CommandFailure("the store '\(store.storeName)' has no named syncs") }
      return known.filter(\.isUp) + known.filter { !$0.isUp }
    }
    return try names.map { name in
      guard let sync = known.first(where: { $0.name == name }) else {
        throw CallFailure.noSuchSync(name, among: known.map(\.name))
      }
      return sync
    }
  }

  private func run(_ sync: SyncSummary, _ calls: BridgeCalls) throws -> SyncRun.End {
    let after = try AfterRun(sync, calls, place)
    let end = try runAlone(sync, calls)
    // Writes of another process meanwhile are not the work of this run.
    if case .elsewhere = end { return end }
    guard let after else { return end }
    do {
      let ended = try calls.value("mobilesync", "getSyncStatus", ["syncName": .string(sync.name)])
      try after.run(SyncSummary(state: ended), calls)
      return end
    } catch let failure as CommandFailure {
      if json { write(JSONValue.object(failure.json).text + "\n", to: STDERR_FILENO) } else { complain(failure.message) }
      return .failed(failure.status)
    } catch is CallFailure where calls.isInterrupted {
      return end
    }
  }

  private func runAlone(_ sync: SyncSummary, _ calls: BridgeCalls) throws -> SyncRun.End {
    do {
      let ended = SyncSummary(state: try calls.value("mobilesync", "reSync", arguments(sync)))
      let removed = ghosts && !sync.isUp && ended.status == "DONE" ? try cleanGhosts(sync, calls) : nil
      try say(ended, removed, calls)
      if ended.status == "STOPPED", ended.state["hasMore"]?.boolValue != true { return .failed(ExitStatus.tryAgain) }
      let left = try LeftRecords(ended, calls, options: place.given + store.project.given)
      if !json, !quiet { left.say() }
      return .done(left.isEmpty ? 0 : ExitStatus.recordsRefused)
    } catch let error as CallFailure {
      calls.clearProgress()
      failed(sync, error)
      return ["runningElsewhere", "alreadyRunning"].contains(error.code) ? .elsewhere : .failed(error.status)
    }
  }

  private func cleanGhosts(_ sync: SyncSummary, _ calls: BridgeCalls) throws(CallFailure) -> Int64 {
    try calls.value("mobilesync", "cleanResyncGhosts", arguments(sync)).integerValue ?? 0
  }

  private func arguments(_ sync: SyncSummary) -> JSONObject {
    var arguments: JSONObject = ["syncName": .string(sync.name)]
    arguments["maxRequests"] = maxRequests.map { .integer($0) }
    return arguments
  }

  private func say(_ sync: SyncSummary, _ ghosts: Int64?, _ calls: BridgeCalls) throws {
    guard !json, !quiet else { return }
    calls.clearProgress()
    let removed = ghosts.map { $0 > 0 ? ", \($0) ghost\($0 == 1 ? "" : "s") removed" : "" } ?? ""
    let output = ByteOutput()
    try output.write(TerminalText.escaped("\(sync.name): \(sync.status), \(sync.figures)\(removed)\n"))
    try output.finish()
  }

  private func failed(_ sync: SyncSummary, _ failure: CallFailure) {
    guard !json else { return failure.report(asJSON: true) }
    complain("sync '\(sync.name)' failed: \(failure.message) (\(failure.domain)/\(failure.code))")
  }
}
