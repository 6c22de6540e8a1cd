import ArgumentParser
import JSON
import MobileSync
import Tureen

extension VerifyLevel: ExpressibleByArgument {}

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Compare soups with what their servers would send.",
    usage: "tureen verify [<options>] <syncs> ...",
    discussion: """
      Asks the server of a sync down for all that it would send, and looks for records that the soup lacks, has with other \
      values, or should not have. A difference counts after a second read. Entries with local changes are compared as they \
      came from the server. Only the history is written, unless --repair mends what differs.
      """
        + ExitStatus.help([
          (0, "equal, or all mended"), (1, "there is no such sync, or it cannot be verified"),
          (2, "different; the lines say why"), (64, "wrong usage"),
          (67, "a sign-in is needed or was refused, or the org or user is not known"),
          (75, "unfinished: a server is unreachable or busy, records changed meanwhile, or --repair met a running sync"),
          (78, "a configuration file is wrong; the message names file, line and key"),
          (130, "interrupted"),
        ]))

  @Argument(help: "The names of syncs down.", completion: NameCompletion.sync)
  var syncs: [String]

  @Option(help: "How much is compared: count, ids (with dates) or content (all fields of the target).")
  var level = VerifyLevel.content

  @Flag(help: "Store missing and different records and remove extra entries. Entries with local changes stay.")
  var repair = false

  @Option(help: "With --repair, how many differences to mend at most, in place of 1,000 and a tenth of the records.")
  var max: Int?

  @Flag(help: "Print one JSON object a sync, as verifySync answers. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if max != nil, !repair { throw ValidationError("--max goes with --repair") }
    if let max, max < 1 { throw ValidationError("--max \(max): give 1 or more") }
  }

  func run() throws {
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, isJSON: json) { calls in
      try calls.requireStore(store.project)
      // Opens the sync manager, which saves the syncs of the configuration files.
      _ = try calls.value("mobilesync", "isStopped")
      let known = try calls.syncs().map(\.name)
      if let name = syncs.first(where: { !known.contains($0) }) { throw CallFailure.noSuchSync(name, among: known) }
      var worst: Int32 = 0
      for name in syncs {
        let status = try verify(name, calls)
        if calls.isInterrupted { return ExitStatus.interrupted }
        if Self.rank(status) > Self.rank(worst) { worst = status }
      }
      return worst
    }
  }

  /// In this order: differences, unfinished comparisons, failures that a person has to mend.
  private static func rank(_ status: Int32) -> Int {
    switch status {
    case 0: 0
    case ExitStatus.recordsRefused: 1
    case ExitStatus.tryAgain: 2
    default: 3
    }
  }

  private func verify(_ name: String, _ calls: BridgeCalls) throws -> Int32 {
    var arguments: JSONObject = ["syncName": .string(name), "level": .string(level.rawValue)]
    if repair { arguments["repair"] = true }
    if let max { arguments["max"] = .integer(Int64(max)) }
    do {
      let found = try calls.value("mobilesync", "verifySync", arguments), output = ByteOutput()
      if json {
        try output.write(TerminalText.escapedJSON(found.text) + "\n")
      } else {
        try output.write(VerifyText(found, name: name, dirty: try dirty(found, name, calls)).text)
      }
      try output.finish()
      return VerifyText.status(of: found)
    } catch let failure as CallFailure {
      if json {
        failure.report(asJSON: true)
      } else {
        complain("sync '\(name)': \(failure.message) (\(failure.domain)/\(failure.code))")
      }
      return failure.code == "stopped" ? ExitStatus.tryAgain : failure.status
    }
  }

  /// Returns the first entries of the sync's soup with local changes.
  private func dirty(_ found: JSONValue, _ name: String, _ calls: BridgeCalls) throws(CallFailure) -> [JSONValue] {
    guard found["counts"]?.figure("dirty") ?? 0 > 0 else { return [] }
    let sync = try calls.value("mobilesync", "getSyncStatus", ["syncName": .string(name)])
    guard let soup = sync["soupName"]?.stringValue else { return [] }
    return try calls.value("mobilesync", "getDirtyEntries", ["soupName": .string(soup)]).arrayValue ?? []
  }
}

/// What a comparison found, for people.
struct VerifyText {
  private let found: JSONValue
  private let name: String
  private let dirty: [JSONValue]

  /// Lines of one kind that are printed.
  private static let most = 50, mostDirty = 10

  init(_ found: JSONValue, name: String, dirty: [JSONValue]) {
    (self.found, self.name, self.dirty) = (found, name, dirty)
  }

  /// The exit status.
  static func status(of found: JSONValue) -> Int32 {
    if found["complete"] != true { return ExitStatus.tryAgain }
    if found["equal"] == true { return 0 }
    if let repaired = found["repaired"] { return repaired.figure("left") == 0 ? 0 : ExitStatus.recordsRefused }
    return ExitStatus.recordsRefused
  }

  var text: String {
    let requests = found.figure("requests")
    let numbers = "\(found.figure("local")) here, \(found.figure("server")) on the server"
    let first = "\(name): \(numbers); \(requests) request\(requests == 1 ? "" : "s")"
    var lines = [first], differences: [[String]] = []
    for list in ["missing", "extra", "different"] {
      let all = found[list]?.arrayValue ?? []
      differences += all.prefix(Self.most).map { ["- \(place(of: $0))", what(of: $0)] }
      if all.count > Self.most { differences.append(["…", "\(all.count - Self.most) more \(list); --json lists 1,000 of them"]) }
    }
    lines += aligned(differences + unsent)
    lines.append(end)
    if let repaired = found["repaired"] { lines.append(self.repaired(repaired)) }
    return lines.map { TerminalText.line($0) + "\n" }.joined()
  }

  private func place(of finding: JSONValue) -> String {
    let id = finding["entryId"]?.integerValue.map { String($0) } ?? finding["recordId"]?.stringValue ?? ""
    return TextTable.cell("\(finding["soupName"]?.stringValue ?? "") \(id)")
  }

  private func what(of finding: JSONValue) -> String {
    let fields = (finding["fields"]?.arrayValue ?? []).compactMap(\.stringValue)
    let reason = finding["reason"]?.stringValue ?? ""
    return TextTable.cell(
      "\(reason): \(fields.isEmpty ? "" : fields.joined(separator: ", ") + " ")\(finding["text"]?.stringValue ?? "")")
  }

  /// Lines for entries with local changes, which do not count as differences.
  private var unsent: [[String]] {
    let named = Set(
      ["extra", "different"].flatMap { found[$0]?.arrayValue ?? [] }.map {
        "\($0["soupName"]?.stringValue ?? "") \($0.figure("entryId"))"
      })
    let shown = dirty.filter { !named.contains("\($0["soupName"]?.stringValue ?? "") \($0.figure("entryId"))") }.prefix(
      Self.mostDirty)
    var rows = shown.map { entry in
      ["- \(place(of: entry))", "dirty: " + (entry["action"] == "create" ? "never sent" : "changed here, not sent yet")]
    }
    if dirty.count > Self.mostDirty { rows.append(["…", "more have local changes: tureen dirty lists them"]) }
    return rows
  }

  private func aligned(_ rows: [[String]]) -> [String] {
    let width = rows.map { DisplayWidth.of($0[0]) }.max() ?? 0
    return rows.flatMap { row in
      let head = row[0] + String(repeating: " ", count: width - DisplayWidth.of(row[0]) + 2)
      return WrappedText.lines(head + row[1], width: TerminalWidth.columns, hanging: width + 2)
    }
  }

  private var end: String {
    let level = found["level"]?.stringValue ?? "", moving = found["counts"]?.figure("moving") ?? 0
    if moving > 0 {
      return "not finished: \(moving) record\(moving == 1 ? " was" : "s were") changed meanwhile; run it again"
    }
    if level == "count" {
      return found["equal"] == true ? "as many here as there (count), which proves nothing else" : "the numbers differ (count)"
    }
    let compared = "\(found.figure("compared")) of \(found.figure("server")) compared, \(level)"
    return found["equal"] == true ? "equal (\(compared))" : "equal otherwise (\(compared))"
  }

  private func repaired(_ repaired: JSONValue) -> String {
    let left = repaired.figure("left")
    return "repaired: \(repaired.figure("stored")) stored, \(repaired.figure("removed")) removed"
      + (left > 0 ? ", \(left) left: they have local changes, or no sync owns them" : "")
  }
}
