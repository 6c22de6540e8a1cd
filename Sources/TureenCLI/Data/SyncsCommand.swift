import ArgumentParser
import JSON
import Tureen

struct SyncsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "syncs",
    abstract: "List the named syncs of a store and how their last runs went.",
    usage: "tureen syncs [<options>]",
    discussion: """
      Times are UTC. Includes the syncs of usersyncs.json and globalsyncs.json. tureen sync runs one.
      """
        + ExitStatus.helpOfReading(failed: "there is no such store, or it cannot be read"))

  @Flag(help: "List the syncs without a name, too, by their ids.")
  var all = false

  @Flag(help: "Print the state of each sync as one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: json, looksOnly: true
    ) { calls in
      try calls.requireStore(store.project)
      let output = ByteOutput(), syncs = try calls.syncs(isComplete: all)
      if json {
        for sync in syncs { try output.write(TerminalText.escapedJSON(sync.state.text) + "\n") }
      } else if syncs.isEmpty {
        complain("the store '\(calls.store.name)' has no \(all ? "" : "named ")syncs", .notice)
      } else {
        try output.write(Self.table(syncs))
      }
      try output.finish()
      return 0
    }
  }

  static func table(_ syncs: [SyncSummary]) -> String {
    let titles = ["NAME", "TYPE", "SOUP", "STATUS", "LAST RUN", "RESULT"]
    let rows = syncs.map { sync in
      [sync.title, sync.isUp ? "up" : "down", sync.soup, sync.status, sync.lastRun ?? "never", sync.error ?? sync.figures]
    }
    return TextTable.text(titles.map { TextTable.Column($0) }, rows, width: TerminalWidth.columns)
  }
}
