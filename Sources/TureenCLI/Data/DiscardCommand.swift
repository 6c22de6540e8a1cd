import ArgumentParser
import Glibc
import JSON
import Tureen

struct DiscardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "discard",
    abstract: "Drop local changes: entries become what the server is known to have.",
    usage: """
      tureen discard [<options>] <soup> <entries> ...
             tureen discard [<options>] <soup> --refused
             tureen discard [<options>] <soup> --run <run>
      """,
    discussion: """
      A deletion is taken back, and an entry in conflict takes the server's version. An entry that was created here is only \
      removed with --created, as no other copy exists. Entries stay while the server has not answered about them, and while a \
      sync of the soup runs. Asks first, on a terminal.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or soup, or it cannot be written"), (2, "some entries stay; stderr says why"),
          (64, "wrong usage, or standard input is not a terminal and there is no --yes"), (67, "the org or user is not known"),
          (75, "the store is busy; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Argument(help: "The soup.", completion: NameCompletion.soup)
  var soup: String

  @Argument(help: "The entries' numbers, as tureen dirty lists them.")
  var entries: [Int64] = []

  @Flag(help: "All entries of the soup that the server refused.")
  var refused = false

  @Option(
    name: .customLong("run"), help: "All entries that this run refused, skipped or found in conflict, and that are still unsent.")
  var ofRun: Int64?

  @Option(name: .customLong("field"), help: "Only this field gets its earlier value. May be given several times.")
  var fields: [String] = []

  @Flag(help: "Also remove entries that were created here and that the server never had.")
  var created = false

  @Flag(help: "Do not ask for confirmation.")
  var yes = false

  @Flag(help: "Print one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    guard [!entries.isEmpty, refused, ofRun != nil].count(where: { $0 }) == 1 else {
      throw ValidationError("name entries, or give --refused or --run, one of them")
    }
  }

  func run() throws {
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, isJSON: json) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      _ = try calls.indexSpecs(of: soup)
      let ids = try entries.isEmpty ? left(calls) : entries
      guard !ids.isEmpty else {
        complain(ofRun.map { "run \($0) left no unsent entry in '\(soup)'" } ?? "no entry of '\(soup)' is refused", .notice)
        return 0
      }
      try Question.confirm(question(ids, calls), isConfirmed: yes)
      var arguments: JSONObject = ["soupName": .string(soup), "entryIds": .array(ids.map { .integer($0) })]
      if !fields.isEmpty { arguments["fields"] = .array(fields.map { .string($0) }) }
      if created { arguments["created"] = true }
      return try say(try calls.value("mobilesync", "discardChanges", arguments))
    }
  }

  /// Returns the entries that the server refused, or that a run left behind.
  private func left(_ calls: BridgeCalls) throws -> [Int64] {
    var filter: JSONObject = ["soupName": .string(soup)]
    if let ofRun { filter["run"] = .integer(ofRun) } else { filter["state"] = "refused" }
    let found = try calls.value("mobilesync", "getDirtyEntries", filter)
    return (found.arrayValue ?? []).compactMap { $0["entryId"]?.integerValue }
  }

  /// Says how much is lost.
  private func question(_ ids: [Int64], _ calls: BridgeCalls) throws -> String {
    let noun = ids.count == 1 ? "entry \(ids[0])" : "\(ids.count) entries"
    let what = fields.isEmpty ? "the local changes" : fields.joined(separator: ", ")
    let removed = created ? " Entries that were created here are removed." : ""
    return "Discard \(what) of \(noun) of '\(soup)'?\(removed) They are lost."
  }

  private func say(_ result: JSONValue) throws -> Int32 {
    let output = ByteOutput(), kept = result["kept"]?.arrayValue ?? []
    if json {
      try output.write(TerminalText.escapedJSON(result.text) + "\n")
    } else {
      let count = result["discarded"]?.arrayValue?.count ?? 0
      try output.write("\(count) entr\(count == 1 ? "y" : "ies") discarded" + (kept.isEmpty ? "" : ", \(kept.count) kept") + "\n")
    }
    try output.finish()
    if !json {
      for one in kept { complain("entry \(one.figure("entryId")) stays: \(one["text"]?.stringValue ?? "")") }
    }
    return kept.isEmpty ? 0 : ExitStatus.recordsRefused
  }
}
