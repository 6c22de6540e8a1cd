import ArgumentParser
import JSON
import Support
import Tureen

struct ApplyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "apply",
    abstract: "Send what a plan says, as far as its entries are still as the plan saw them.",
    usage: "tureen apply [<options>] <file>",
    discussion: """
      The run is that of the plan's sync, limited to its entries. One that was edited, sent, discarded or removed since is left \
      out, and stays as it is. A plan is applied once, and within 24 hours.
      """
        + ExitStatus.help([
          (0, "done"), (1, "the plan is not valid here or was applied before, or the sync failed"),
          (2, "done, but entries were left out, refused or are in conflict"), (64, "wrong usage"),
          (66, "the file cannot be read"), (67, "the org or user is not known"),
          (75, "the server did not answer, or the sync is running; try again"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Argument(help: "A file that tureen plan --output has written.", completion: .file())
  var file: String

  @Flag(help: "Send nothing if an entry would be left out.")
  var allOrNothing = false

  @Flag(help: "Print the sync's final state as one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    let plan = try Self.read(file)
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: json
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      let arguments: JSONObject = ["plan": plan, "allOrNothing": .bool(allOrNothing)]
      let ended = SyncSummary(state: try calls.value("mobilesync", "applyPlan", arguments))
      let leftOut = ended.state.figure("leftOut")
      try say(ended, calls)
      if ended.status == "STOPPED" { return ExitStatus.tryAgain }
      let left = try LeftRecords(ended, calls, options: place.given + store.project.given)
      if !json { left.say() }
      return leftOut == 0 && left.isEmpty ? 0 : ExitStatus.recordsRefused
    }
  }

  private static func read(_ path: String) throws -> JSONValue {
    guard let text = FileSystem.read(path) else {
      complain("the plan \(path) cannot be read")
      throw ExitCode(ExitStatus.fileNotFound)
    }
    guard let plan = try? JSONValue(parsing: text), plan.objectValue != nil else {
      complain("the plan \(path) is not a JSON object; make another one with tureen plan --output")
      throw ExitCode(1)
    }
    return plan
  }

  private func say(_ sync: SyncSummary, _ calls: BridgeCalls) throws {
    calls.clearProgress()
    let output = ByteOutput()
    if json {
      try output.write(TerminalText.escapedJSON(sync.state.text) + "\n")
    } else {
      try output.write(TerminalText.escaped("\(sync.name): \(sync.status), \(sync.figures)\n"))
      for warning in sync.state["warnings"]?.arrayValue ?? [] { complain(warning.stringValue ?? "", .warning) }
    }
    try output.finish()
  }
}
