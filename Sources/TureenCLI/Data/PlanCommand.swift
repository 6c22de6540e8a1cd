import ArgumentParser
import Glibc
import JSON
import SmartStore
import Support
import Tureen

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan",
    abstract: "Say what syncs up would send, before anything is sent.",
    usage: "tureen plan [<options>] <sync>...",
    discussion: """
      For each entry: + it is created, ~ updated, - deleted; ! in conflict, x it cannot be sent; an entry that waits or that has \
      nothing to send has no sign. Below are the requests of the run. Without --server nothing is asked: the server is taken to \
      have what it was last known to have. With it the looks of the run are sent, and conflicts are those that it would find.

      Changes nothing. tureen apply sends what --output has written and still matches.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or sync, or the sync brings records"), (64, "wrong usage"),
          (67, "the org or user is not known"), (75, "the server did not answer; try again"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  /// How much of a plan is printed.
  enum Length: String, EnumerableFlag {
    case brief, all

    static func help(for value: Length) -> ArgumentHelp? {
      switch value {
      case .brief: "Print how many entries and requests there are, and no entries."
      case .all: "Print all entries; without it, the first 200 of each sync."
      }
    }
  }

  /// The formats for programs.
  enum Format: String, EnumerableFlag {
    case json, jsonl

    static func help(for value: Format) -> ArgumentHelp? {
      switch value {
      case .json: "Print one JSON object, as planSync answers; of several syncs an array. The error is JSON on stderr."
      case .jsonl: "Print each entry as one JSON object a line. The error is JSON on stderr."
      }
    }
  }

  @Argument(help: "The names of the syncs.", completion: NameCompletion.sync)
  var syncs: [String]

  @Flag(help: "Ask the server about the records, as the run does before it sends. Above 200 requests it asks first.")
  var server = false

  @Option(help: "Write the plan of one sync to a file, for tureen apply. It has mode 0600.", completion: .file())
  var output: String?

  @Flag(exclusivity: .exclusive)
  var length: Length?

  @Flag(exclusivity: .exclusive)
  var format: Format?

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if output != nil, syncs.count != 1 { throw ValidationError("--output takes the plan of one sync") }
  }

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: format != nil, looksOnly: !server,
      asksOnly: server
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      let plans = try syncs.map { try plan($0, calls) }
      if let output, let plan = plans.first { try PlanFile.write(plan, to: output) }
      try print(plans)
      return 0
    }
  }

  private func plan(_ name: String, _ calls: BridgeCalls) throws -> JSONValue {
    var arguments: JSONObject = ["syncName": .string(name)]
    guard server else { return try calls.value("mobilesync", "planSync", arguments) }
    // A plan that asks nothing knows what it would ask.
    let quiet = try calls.value("mobilesync", "planSync", arguments)
    let looks = (quiet["requests"]?.arrayValue ?? []).count { ["look", "search"].contains($0["purpose"]?.stringValue ?? "") }
    if format == nil { complain("\(name): \(looks) look\(looks == 1 ? "" : "s") at the server", .info) }
    arguments["server"] = true
    do {
      return try calls.value("mobilesync", "planSync", arguments)
    } catch {
      let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1
      guard error.code == "tooMuch", isTerminal else { throw error }
      try Question.confirm("\(error.message). Send them?", isConfirmed: false)
    }
    arguments["maxRequests"] = .integer(Int64(Int32.max))
    return try calls.value("mobilesync", "planSync", arguments)
  }

  private func print(_ plans: [JSONValue]) throws {
    let out = ByteOutput()
    switch format {
    case .json: try out.write(TerminalText.escapedJSON((plans.count == 1 ? plans[0] : .array(plans)).text) + "\n")
    case .jsonl:
      for entry in plans.flatMap({ $0["entries"]?.arrayValue ?? [] }) {
        try out.write(TerminalText.escapedJSON(entry.text) + "\n")
      }
    case nil: try out.write(PlanText(plans, most: length == .all ? .max : length == .brief ? 0 : PlanText.mostEntries).text)
    }
    try out.finish()
  }
}

/// The file of a plan.
enum PlanFile {
  /// Writes a plan with mode 0600: it has values of records.
  static func write(_ plan: JSONValue, to path: String) throws {
    do {
      try FileSystem.write(Array((plan.text + "\n").utf8), to: path)
    } catch {
      throw CommandFailure("cannot write the plan to \(path): \(error)")
    }
  }
}

/// Plans for people.
struct PlanText {
  static let mostEntries = 200
  private static let longestValue = 60

  private let plans: [JSONValue]
  private let most: Int

  /// - Parameters:
  ///   - plans: Results of `planSync`.
  ///   - most: The most entries of each to print.
  init(_ plans: [JSONValue], most: Int) {
    self.plans = plans
    self.most = most
  }

  var text: String {
    let width = TerminalWidth.columns
    var lines = plans.flatMap { plan -> [String] in
      let entries = plan["entries"]?.arrayValue ?? []
      var lines = [headline(plan, entries)]
      for entry in entries.prefix(most) { lines += self.lines(entry, width) }
      if most > 0, entries.count > most { lines.append("… \(entries.count - most) more; --all prints them") }
      for sentence in plan["unknown"]?.arrayValue ?? [] { lines.append("not planned: \(sentence.stringValue ?? "")") }
      return lines
    }
    lines += requestLines
    return lines.map { $0 + "\n" }.joined()
  }

  private static func name(_ plan: JSONValue) -> String {
    plan["sync"]?["name"]?.stringValue ?? "sync \(plan["sync"]?["id"]?.text ?? "")"
  }

  private func headline(_ plan: JSONValue, _ entries: [JSONValue]) -> String {
    let sent = entries.count { ["send", "merge"].contains($0["expect"]?.stringValue) }
    let stay = entries.count - sent
    let noun = sent == 1 ? "1 entry" : "\(sent) entries"
    return "\(Self.name(plan)): \(sent == 0 ? "nothing" : noun) to send"
      + (stay > 0 ? ", \(stay) stay\(stay == 1 ? "s" : "")" : "")
  }

  // MARK: Entries

  private func lines(_ entry: JSONValue, _ width: Int?) -> [String] {
    let place = "\(entry["soupName"]?.stringValue ?? "") \(entry.figure("entryId"))"
    let family = entry["family"]?.arrayValue ?? []
    let more = family.isEmpty ? "" : " with \(family.count) other\(family.count == 1 ? "" : "s")"
    let head = ([Self.sign(entry), place + more, entry["title"]?.stringValue ?? "(no title)", change(entry)] as [String])
      .filter { !$0.isEmpty }.joined(separator: "  ")
    let why = (entry["why"]?.arrayValue ?? []).compactMap { $0["text"]?.stringValue }.filter { !$0.isEmpty }
    return WrappedText.lines(TextTable.cell(head), width: width, hanging: 2)
      + why.flatMap { WrappedText.lines("    " + TextTable.cell($0), width: width, hanging: 4) }
  }

  private static func sign(_ entry: JSONValue) -> String {
    switch entry["expect"]?.stringValue {
    case "conflict": "!"
    case "blocked": "x"
    case "send", "merge":
      switch entry["action"]?.stringValue {
      case "create", "upsert": "+"
      case "delete": "-"
      default: "~"
      }
    default: " "
    }
  }

  /// `Title  Regional Lead → Member of the Board`, or the names of the fields of a create.
  private func change(_ entry: JSONValue) -> String {
    let fields = (entry["fields"]?.arrayValue ?? []).filter { $0["sent"]?.boolValue == true }
    guard entry["action"]?.stringValue == "update" else {
      return fields.compactMap { $0["name"]?.stringValue }.joined(separator: " ")
    }
    return fields.map { field in
      "\(field["name"]?.stringValue ?? "")  \(Self.shown(field["base"])) → \(Self.shown(field["local"]))"
    }.joined(separator: ", ")
  }

  private static func shown(_ value: JSONValue?) -> String {
    guard let value, !value.isNull else { return "(none)" }
    let text = value.stringValue ?? value.text
    if text.hasPrefix("sha256:") { return "…" }
    return text.count > longestValue ? text.prefix(longestValue - 1) + "…" : text
  }

  // MARK: Requests

  private var requestLines: [String] {
    let width = plans.map { DisplayWidth.of(Self.name($0)) }.max() ?? 0
    var lines = plans.enumerated().map { i, plan in
      let name = Self.name(plan), padding = String(repeating: " ", count: width - DisplayWidth.of(name))
      return (i == 0 ? "requests  " : "          ") + name + padding + "  " + Self.requests(plan["requests"]?.arrayValue)
    }
    let calls = plans.map { $0["summary"]?["apiCalls"]?.integerValue }
    let sum = calls.contains { $0 == nil } ? nil : calls.compactMap { $0 }.reduce(0, +)
    let looked = plans.contains { $0["looked"]?.boolValue == true }
    let end = looked ? "Only looks were sent." : "Nothing was sent."
    lines.append((sum.map { "\($0) API call\($0 == 1 ? "" : "s"). " } ?? "") + end)
    return lines
  }

  private static func requests(_ all: [JSONValue]?) -> String {
    guard let all else { return "made by functions of a script" }
    let words: [(purpose: String, one: String, many: String)] = [
      ("look", "look", "looks"), ("search", "search", "searches"), ("send", "write", "writes"),
      ("read", "read after", "reads after"),
    ]
    let parts = words.compactMap { word -> String? in
      let count = all.count { $0["purpose"]?.stringValue == word.purpose }
      return count == 0 ? nil : "\(count) \(count == 1 ? word.one : word.many)"
    }
    return parts.isEmpty ? "none" : parts.joined(separator: ", ")
  }
}
