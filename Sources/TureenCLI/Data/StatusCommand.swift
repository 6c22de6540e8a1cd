import ArgumentParser
import Glibc
import JSON
import LuaBridge
import Tureen

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print what the home holds: org, user, stores, unsent edits and last syncs.",
    usage: "tureen status [<options>]",
    discussion: """
      Changes nothing and sends nothing to the org; tureen whoami does. tureen dirty says why entries are unsent.

      --check is for monitors. LIMITS is a list such as age=2h,conflicts=50 of what to check: 'age', of the last success of each \
      named sync; 'dirty', how long an entry may wait; and numbers of 'failed' syncs, 'refused' entries, 'conflicts' and \
      'newConflicts', those that the last run of their sync has found. Without LIMITS it is \
      age=1d,dirty=1d,failed=0,refused=0,newConflicts=0.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a store or the home cannot be read"), (2, "a limit of --check is exceeded; stderr says which"),
          (64, "wrong usage"), (67, "the org or user is not known"),
          (69, "the file of --output cannot be written"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Option(
    defaultAsFlag: OverviewCheck.standard, help: ArgumentHelp("End with 2 if something is beyond LIMITS.", valueName: "limits"))
  var check: String?

  @Flag(help: "Print gauges for Prometheus.")
  var prometheus = false

  @Option(help: "Write the gauges to this file, which appears when it is complete.", completion: .file(), transform: nonEmpty)
  var output: String?

  @Flag(help: "Print one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if prometheus, json { throw ValidationError("--prometheus and --json exclude one another") }
    if output != nil, !prometheus { throw ValidationError("--output is for --prometheus") }
    if let check {
      do {
        _ = try OverviewCheck(check)
      } catch {
        throw ValidationError("--check: \(error)")
      }
    }
  }

  func run() throws {
    try BridgeCalls.run(place, configDirectory: project.folder, isJSON: json, looksOnly: true) { calls in
      let overview = try calls.overview()
      let target = try output.map { try ByteOutput(replacing: $0) } ?? ByteOutput()
      if prometheus {
        try target.write(OverviewMetrics(overview).text)
      } else {
        try target.write(json ? TerminalText.escapedJSON(overview.text) + "\n" : StatusText(overview).text)
      }
      try target.finish()
      guard let check else { return 0 }
      let found = try OverviewCheck(check).findings(overview, now: TimeText.now)
      guard !found.isEmpty else { return 0 }
      complain("check failed: \(found.joined(separator: "; ")). See: tureen dirty")
      return ExitStatus.recordsRefused
    }
  }
}

/// The contents of `tureen status` for people.
struct StatusText {
  private let overview: JSONValue

  init(_ overview: JSONValue) { self.overview = overview }

  var text: String {
    var lines = [("home", string("home") ?? ""), ("org", org), ("user", user)]
    if let usage = overview["apiUsage"], let used = usage["used"]?.integerValue, let most = usage["max"]?.integerValue {
      let seen = usage["seenAt"]?.integerValue.map { " (\(TimeText.minute($0)))" } ?? ""
      lines.append(("API calls", "\(used) of \(most) used in 24 hours\(seen)"))
    }
    let head = lines.map { name, value in
      name + String(repeating: " ", count: 11 - name.count) + TextTable.cell(value) + "\n"
    }.joined()
    let stores = overview["stores"]?.arrayValue ?? []
    return head + (stores.isEmpty ? "stores     none yet\n" : stores.map(text).joined())
  }

  private func string(_ key: String) -> String? { overview[key]?.stringValue }

  private var org: String {
    let name = string("org") ?? "", address = string("instanceUrl").map { " at \($0)" } ?? ""
    return name + address + (overview["isSandbox"]?.boolValue == true && name != "sandbox" ? ", a sandbox" : "")
  }

  private var user: String {
    guard let session = string("session") else { return string("user") ?? (org == "sandbox" ? "sandbox-user" : "-") }
    return "\(string("user") ?? "-"), \(session)"
  }

  private func text(_ store: JSONValue) -> String {
    let kind = store["isGlobalStore"]?.boolValue == true ? "global store" : "store"
    let wal = store.figure("walBytes")
    let log = wal > 0 ? " and a log of \(ByteSize.text(wal))" : ""
    var text =
      "\n\(kind) \(TextTable.cell(store["storeName"]?.stringValue ?? "")), \(ByteSize.text(store.figure("bytes")))\(log)\n"
    let indented = { (table: String) in table.split(separator: "\n").map { "  \($0)\n" }.joined() }
    let width = TerminalWidth.columns.map { $0 - 2 }
    let soups = store["soups"]?.arrayValue ?? [], syncs = store["syncs"]?.arrayValue?.map { SyncSummary(state: $0) } ?? []
    if !soups.isEmpty {
      // Rare states have a column only where there are any.
      let rare = [("SKIPPED", "skipped"), ("HELD", "held")].filter { _, key in soups.contains { $0.figure(key) > 0 } }
      let figures =
        [
          ("ENTRIES", "entries"), ("UNSENT", "dirty"), ("CONFLICTS", "conflicts"), ("REFUSED", "refused"),
          ("IN DOUBT", "inDoubt"),
        ] + rare
      let columns = [TextTable.Column("SOUP")] + figures.map { TextTable.Column($0.0, isNumeric: true) }
      let rows = soups.map { soup in
        [soup["soup"]?.stringValue ?? ""] + figures.map { "\(soup.figure($0.1))" }
      }
      text += indented(TextTable.text(columns, rows, width: width))
    }
    let shown = syncs.filter { !$0.name.isEmpty || $0.status != "NEW" }
    if !shown.isEmpty {
      let rows = shown.map { sync in [sync.title, sync.status, sync.lastSuccess ?? "-", sync.outcome] }
      let columns = ["SYNC", "STATUS", "LAST SUCCESS", "RESULT"].map { TextTable.Column($0) }
      text += "\n" + indented(TextTable.text(columns, rows, width: width))
    }
    return text
  }
}
