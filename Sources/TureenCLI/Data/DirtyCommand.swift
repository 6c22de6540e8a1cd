import ArgumentParser
import Glibc
import JSON
import Tureen

struct DirtyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dirty",
    abstract: "List what is not sent: which entries, why, and what ends that.",
    usage: "tureen dirty [<options>] [<soup>]",
    discussion: """
      An entry is 'waiting' for the next sync up, 'skipped' by a run that looked at it, 'held' by another run that is sending \
      it, in 'conflict' with a change on the server, 'refused' by the server, or 'in doubt', as the answer to its creation was \
      lost. With one of the states as an option, each entry is listed with the reason and the way out.

      Changes nothing and sends nothing.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or soup, or it cannot be read"),
          (2, "entries are in the state that is asked for"),
          (64, "wrong usage"), (67, "the org or user is not known"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  /// The states that are asked for, by their options.
  enum Filter: String, EnumerableFlag {
    case refused, conflicts, inDoubt, waiting, skipped

    static func help(for value: Filter) -> ArgumentHelp? {
      switch value {
      case .refused: "Only those that the server refused."
      case .conflicts: "Only those that both sides changed."
      case .inDoubt: "Only creations without an answer."
      case .waiting: "Only those that go with the next sync up."
      case .skipped: "Only those that a run did not send."
      }
    }

    var state: String { self == .conflicts ? "conflict" : rawValue }
  }

  /// The formats of the list.
  enum Format: String, EnumerableFlag {
    case csv, json, jsonl

    static func help(for value: Format) -> ArgumentHelp? {
      switch value {
      case .csv: "Print CSV with a header."
      case .json: "Print one JSON array. The error is JSON on stderr."
      case .jsonl: "Print one JSON object a line. The error is JSON on stderr."
      }
    }
  }

  @Argument(help: "The soup. Without it, all of the store.", completion: NameCompletion.soup)
  var soup: String?

  @Flag(exclusivity: .exclusive)
  var filter: Filter?

  @Flag(help: "Also print the changed fields with their values.")
  var fields = false

  @Flag(exclusivity: .exclusive)
  var format: Format?

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: format == .json || format == .jsonl,
      looksOnly: true
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      if let soup { _ = try calls.indexSpecs(of: soup) }
      var arguments: JSONObject = [:]
      arguments["soupName"] = soup.map { .string($0) }
      arguments["state"] = filter.map { .string($0.state) }
      if fields { arguments["withValues"] = true }
      let found = try calls.value("mobilesync", "getDirtyEntries", arguments)
      try print(found.arrayValue ?? [])
      return filter != nil && found.arrayValue?.isEmpty == false ? ExitStatus.recordsRefused : 0
    }
  }

  private func print(_ found: [JSONValue]) throws {
    let output = ByteOutput()
    switch format {
    case .json: try output.write(TerminalText.escapedJSON(JSONValue.array(found).text) + "\n")
    case .jsonl: for entry in found { try output.write(TerminalText.escapedJSON(entry.text) + "\n") }
    case .csv: try output.write(DirtyText.csv(found))
    case nil where found.isEmpty:
      complain(filter == nil ? "nothing is unsent" : "no entry is \(DirtyText.word(filter?.state ?? ""))", .notice)
    case nil:
      let text = DirtyText(found, options: repeatedOptions)
      try output.write(filter == nil && !fields ? text.table + text.summary : text.blocks + text.summary)
    }
    try output.finish()
  }

  /// The options of this command that the printed ones need as well.
  private var repeatedOptions: [String] { place.given + store.project.given }
}

/// Dirty entries for people.
struct DirtyText {
  private let entries: [JSONValue]
  private let options: [String]

  /// Entries that a person has to decide come first.
  private static let order = ["inDoubt", "refused", "conflict", "skipped", "held", "waiting"]

  /// - Parameters:
  ///   - entries: Elements of the result of `getDirtyEntries`.
  ///   - options: Appended to the commands that are printed.
  init(_ entries: [JSONValue], options: [String] = []) {
    func rank(_ entry: JSONValue) -> Int { Self.order.firstIndex(of: entry["state"]?.stringValue ?? "") ?? 9 }
    self.options = options
    self.entries = entries.enumerated().sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }.map(\.element)
  }

  /// The state as people write it.
  static func word(_ state: String) -> String { state == "inDoubt" ? "in doubt" : state == "conflict" ? "in conflict" : state }

  private static func string(_ entry: JSONValue, _ key: String) -> String { entry[key]?.stringValue ?? "" }
  private static func title(_ entry: JSONValue) -> String { entry["title"]?.stringValue ?? "(no title)" }
  private static func fields(_ entry: JSONValue) -> [String] { (entry["fields"]?.arrayValue ?? []).compactMap(\.stringValue) }

  /// `created`, `deleted`, or the changed fields.
  private static func change(_ entry: JSONValue) -> String {
    switch string(entry, "action") {
    case "create": "created"
    case "delete": "deleted"
    default: fields(entry).isEmpty ? "updated" : fields(entry).joined(separator: " ")
    }
  }

  // MARK: A table

  var table: String {
    let columns: [TextTable.Column] = [
      .init("SOUP"), .init("ENTRY", isNumeric: true), .init("WHAT"), .init("CHANGE"), .init("STATE"), .init("SINCE"),
      .init("REASON"),
    ]
    let rows = entries.map { entry in
      [
        Self.string(entry, "soupName"), "\(entry.figure("entryId"))", Self.title(entry), Self.change(entry),
        Self.word(Self.string(entry, "state")), entry["since"]?.integerValue.map { Ago.span($0) } ?? "",
        entry["reason"]?["text"]?.stringValue ?? "",
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns) + "\n"
  }

  /// `35 entries: 22 in conflict, 4 refused, 1 in doubt, 8 waiting`
  var summary: String {
    let states = Self.order.compactMap { state -> String? in
      let count = entries.count { Self.string($0, "state") == state }
      return count > 0 ? "\(count) \(Self.word(state))" : nil
    }
    let noun = entries.count == 1 ? "1 entry" : "\(entries.count) entries"
    return states.count == 1 && entries.count > 0
      ? "\(noun) \(Self.word(Self.string(entries[0], "state")))\n" : "\(noun): \(states.joined(separator: ", "))\n"
  }

  // MARK: Blocks

  /// An entry with its reason and the way out, and an empty line after each.
  var blocks: String { entries.map(block).joined(separator: "\n") + "\n" }

  private func block(_ entry: JSONValue) -> String {
    let width = TerminalWidth.columns
    let place = "\(Self.string(entry, "soupName")) \(entry.figure("entryId"))"
    let state = Self.word(Self.string(entry, "state"))
    let verb = Self.string(entry, "action") == "update" && !Self.fields(entry).isEmpty ? " changed" : ""
    let head = "\(place)  \(Self.title(entry))  \(Self.change(entry))\(verb)\(Self.origin(entry)), \(state)"
    var lines = WrappedText.lines(TextTable.cell(head), width: width, hanging: 2)
    if let reason = entry["reason"]?["text"]?.stringValue, !reason.isEmpty {
      lines += WrappedText.lines("  " + TextTable.cell(reason), width: width, hanging: 2)
    }
    if entry.figure("runs") > 1 {
      let last = entry["lastTry"]?.integerValue.map { ", last \(Ago.text($0))" } ?? ""
      lines.append("  \(state) in \(entry.figure("runs")) runs\(last)")
    }
    for value in entry["values"]?.arrayValue ?? [] {
      let before = value["base"].map { Self.shown($0) } ?? "", after = value["value"].map { Self.shown($0) } ?? ""
      let change = Self.string(entry, "action") == "create" ? after : "\(before) → \(after)"
      lines += WrappedText.lines("  " + TextTable.cell("\(Self.string(value, "name"))  \(change)"), width: width, hanging: 4)
    }
    return (lines + remedies(entry)).map { $0 + "\n" }.joined()
  }

  /// ` 4 h ago by silva.lua`, as far as the history says so.
  private static func origin(_ entry: JSONValue) -> String {
    guard let since = entry["since"]?.integerValue else { return "" }
    let by = ActorText.title(entry["by"])
    return " \(Ago.text(since))" + (by.isEmpty ? "" : " by \(by)")
  }

  private static func shown(_ value: JSONValue) -> String { value.stringValue ?? (value.isNull ? "(none)" : value.text) }

  /// `correct Email, or: tureen discard contacts 363`. A command is never broken, so that it can be copied.
  private func remedies(_ entry: JSONValue) -> [String] {
    let all = (entry["remedies"]?.arrayValue ?? []).compactMap(\.stringValue)
    let words = all.filter { !$0.hasPrefix("tureen ") }.joined(separator: ", ")
    let commands = all.filter { $0.hasPrefix("tureen ") }.map { TextTable.cell(([$0] + options).joined(separator: " ")) }
    guard let first = commands.first else { return words.isEmpty ? [] : ["  " + TextTable.cell(words)] }
    let link = words.hasPrefix("wait until") ? ", then: " : ", or: "
    return [words.isEmpty ? "  \(first)" : "  \(TextTable.cell(words))\(link)\(first)"]
      + commands.dropFirst().map { "  or: \($0)" }
  }

  // MARK: CSV

  static func csv(_ entries: [JSONValue]) -> [UInt8] {
    var text: [UInt8] = []
    let names = ["soupName", "entryId", "recordId", "title", "action", "state"]
    CSVText.append(
      names + ["fields", "reasonCode", "reason", "until", "syncName", "remedies", "since", "by", "runs", "lastTry"], to: &text)
    for entry in entries {
      func cell(_ value: JSONValue?) -> String { value.map { $0.stringValue ?? ($0.isNull ? "" : $0.text) } ?? "" }
      let lists = ["fields", "remedies"].map { key in
        (entry[key]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: key == "fields" ? " " : "; ")
      }
      CSVText.append(
        names.map { cell(entry[$0]) }
          + [
            lists[0], cell(entry["reason"]?["code"]), cell(entry["reason"]?["text"]), cell(entry["until"]),
            cell(entry["syncName"]), lists[1], cell(entry["since"]), ActorText.title(entry["by"]), cell(entry["runs"]),
            cell(entry["lastTry"]),
          ],
        to: &text)
    }
    return text
  }
}

/// Breaks texts at spaces for a terminal.
enum WrappedText {
  /// - Parameters:
  ///   - width: The terminal's width; nil for no limit.
  ///   - hanging: The indentation of the lines after the first.
  static func lines(_ text: String, width: Int?, hanging: Int) -> [String] {
    guard let width, DisplayWidth.of(text) > width, width > hanging + 10 else { return [text] }
    let start = String(text.prefix { $0 == " " })
    var lines: [String] = [], line = start
    for word in text.dropFirst(start.count).split(separator: " ", omittingEmptySubsequences: false) {
      let isEmpty = line.allSatisfy { $0 == " " }
      let longer = isEmpty ? line + word : "\(line) \(word)"
      if !isEmpty, DisplayWidth.of(longer) > width {
        lines.append(line)
        line = String(repeating: " ", count: hanging) + word
      } else {
        line = longer
      }
    }
    return lines + [line]
  }
}
