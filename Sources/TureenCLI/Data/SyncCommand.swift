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
      terminal, elsewhere a line every ten seconds. Ctrl-C and SIGTERM stop the sync at a page boundary and save it as STOPPED.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a sync failed, or there is no such sync"),
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

  @Flag(help: "Print each sync event as a line of JSON on stdout. The error is JSON on stderr. No progress bar.")
  var json = false

  @Flag(help: "Print only errors.")
  var quiet = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if all, !names.isEmpty { throw ValidationError("name syncs or give --all, not both") }
    if !all, names.isEmpty { throw ValidationError("name a sync, or give --all; tureen syncs lists them") }
  }

  func run() throws {
    let style: SyncDisplay.Style = json ? .json(STDOUT_FILENO) : quiet ? .none : .progress
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, style: style, isJSON: json) {
      calls in
      try calls.requireStore(store.project)
      var worst: Int32 = 0
      // Opens the sync manager, which saves the syncs of the configuration files.
      _ = try calls.value("mobilesync", "isStopped")
      for sync in try chosen(try calls.syncs()) {
        let status = try run(sync, calls)
        if Self.rank(status) > Self.rank(worst) { worst = status }
        // Every later call would be refused.
        if calls.isInterrupted { return ExitStatus.interrupted }
      }
      return worst
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

  /// - Returns: The exit status for this sync alone.
  private func run(_ sync: SyncSummary, _ calls: BridgeCalls) throws -> Int32 {
    do {
      let ended = SyncSummary(state: try calls.value("mobilesync", "reSync", ["syncName": .string(sync.name)]))
      let removed = ghosts && !sync.isUp && ended.status == "DONE" ? try cleanGhosts(sync, calls) : nil
      try say(ended, removed, calls)
      if ended.status == "STOPPED", ended.state["hasMore"]?.boolValue != true { return ExitStatus.tryAgain }
      let left = try LeftRecords(ended, calls, options: place.given + store.project.given)
      if !json, !quiet { left.say() }
      return left.isEmpty ? 0 : ExitStatus.recordsRefused
    } catch let error as CallFailure {
      calls.clearProgress()
      failed(sync, error)
      return ["runningElsewhere", "alreadyRunning"].contains(error.code) ? ExitStatus.tryAgain : error.status
    }
  }

  private func cleanGhosts(_ sync: SyncSummary, _ calls: BridgeCalls) throws(CallFailure) -> Int64 {
    try calls.value("mobilesync", "cleanResyncGhosts", ["syncName": .string(sync.name)]).integerValue ?? 0
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

  /// The severity of a status: records to look at, then transient failures, then failures that need a person.
  private static func rank(_ status: Int32) -> Int {
    switch status {
    case 0: 0
    case ExitStatus.recordsRefused: 1
    case ExitStatus.tryAgain: 2
    default: 3
    }
  }
}
