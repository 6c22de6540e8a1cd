import ArgumentParser
import JSON
import Tureen

struct ExplainCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "explain",
    abstract: "Say why a record looks as it does, and what the next sync does with it.",
    usage: "tureen explain [<options>] <soup> (<entry> | --id <record>)",
    discussion: """
      The first sentence says it all; below are what the next sync up does, and what happened, newest first, as far as the \
      store's history goes back. Times are UTC. --id also finds records that have left the soup.

      Changes nothing, and sends nothing without --server.
      """
        + ExitStatus.helpOfReading(failed: "there is no such store or soup, it cannot be read, or the server refuses"))

  @Argument(help: "The soup.", completion: NameCompletion.soup)
  var soup: String

  @Argument(help: "The entry's number.")
  var entry: Int64?

  @Option(name: .customLong("id"), help: "The server's id of the record, in place of the entry's number.")
  var recordId: String?

  @Flag(help: "Ask the server as the next sync up does, if the entry has local changes.")
  var server = false

  @Flag(help: "Also print each field with its value and where that comes from.")
  var fields = false

  @Flag(help: "Print one JSON object, as explainEntry answers. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    guard (entry == nil) != (recordId == nil) else { throw ValidationError("give the number of an entry, or --id RECORD") }
  }

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: json, looksOnly: !server,
      asksOnly: server
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      var arguments: JSONObject = ["soupName": .string(soup)]
      if server { arguments["server"] = true }
      arguments["entryId"] = entry.map { .integer($0) }
      arguments["recordId"] = recordId.map { .string($0) }
      let told = try calls.value("mobilesync", "explainEntry", arguments), output = ByteOutput()
      try output.write(json ? TerminalText.escapedJSON(told.text) + "\n" : ExplanationText(told).text(withFields: fields))
      try output.finish()
      return 0
    }
  }
}

/// The explanation of an entry for people: at most 40 lines, without the fields.
struct ExplanationText {
  private let told: JSONValue

  init(_ told: JSONValue) { self.told = told }

  func text(withFields: Bool) -> String {
    let width = TerminalWidth.columns
    var lines = WrappedText.lines(TextTable.cell(told["text"]?.stringValue ?? ""), width: width ?? 80, hanging: 0)
    var rows = (told["next"]?.arrayValue ?? []).map { ["next", $0["text"]?.stringValue ?? "", ""] }
    for line in told["log"]?.arrayValue ?? [] {
      rows.append([TimeText.day(line.figure("at")), line["text"]?.stringValue ?? "", "v\(line.figure("version"))"])
    }
    lines += aligned(rows, width: width)
    if lines.count > Self.mostLines { lines = lines.prefix(Self.mostLines - 1) + ["  …"] }
    return lines.map { $0 + "\n" }.joined() + (withFields ? fieldTable : "")
  }

  private static let mostLines = 40

  /// A column for the time, one that is broken into lines, and the version after the first of them.
  private func aligned(_ rows: [[String]], width: Int?) -> [String] {
    let first = (rows.map { $0[0].count }.max() ?? 0) + 2, last = (rows.map { $0[2].count }.max() ?? 0) + 2
    let middle = width.map { max(20, $0 - first - last - 2) } ?? rows.map { DisplayWidth.of($0[1]) }.max() ?? 0
    return rows.flatMap { row -> [String] in
      let head = "  " + row[0] + String(repeating: " ", count: first - row[0].count)
      let parts = WrappedText.lines(TextTable.cell(row[1]), width: middle, hanging: 0)
      return parts.enumerated().map { i, part in
        guard i == 0 else { return String(repeating: " ", count: first + 2) + part }
        guard !row[2].isEmpty else { return head + part }
        return head + part + String(repeating: " ", count: max(2, middle - DisplayWidth.of(part) + 2)) + row[2]
      }
    }
  }

  private var fieldTable: String {
    let rows = (told["fields"]?.arrayValue ?? []).map { field in
      [
        field["name"]?.stringValue ?? "", Self.shown(field["value"]), Self.shown(field["base"]), Self.shown(field["server"]),
        origin(field["from"]),
      ]
    }
    let columns = ["FIELD", "HERE", "BEFORE", "SERVER", "FROM"].map { TextTable.Column($0) }
    return "\n" + TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  private static func shown(_ value: JSONValue?) -> String {
    value.map { $0.stringValue ?? ($0.isNull ? "" : $0.text) } ?? ""
  }

  private func origin(_ from: JSONValue?) -> String {
    guard let from, let kind = from["kind"]?.stringValue, kind != "unknown" else { return "not recorded" }
    let who = from["run"]?.integerValue.map { "run \($0)" } ?? ActorText.title(from["by"])
    let guess = from["certain"]?.boolValue == false ? ", at the latest" : ""
    return who.isEmpty ? kind : "\(kind), \(who)\(guess)"
  }
}
