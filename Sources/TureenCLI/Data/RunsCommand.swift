import ArgumentParser
import Glibc
import JSON
import SmartStore
import Tureen

struct RunsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runs",
    abstract: "List what the runs of syncs did: the result, who ran them, and what they cost.",
    usage: "tureen runs [<options>] [<sync> | <run>]",
    discussion: """
      With the number of a run: its requests and steps in the order of time, and the records by what happened to them. Times are \
      UTC. 'DONE, look' means that records are left that a person has to look at: refused, in conflict, in doubt or skipped. A \
      run whose process died is ABANDONED.

      A store keeps about 500 runs, and the requests of the last 100. Changes nothing and sends nothing.
      """
        + ExitStatus.helpOfReading(failed: "there is no such store, sync or run, or the store cannot be read"))

  /// The formats of the list.
  enum Format: String, EnumerableFlag {
    case json, jsonl

    static func help(for value: Format) -> ArgumentHelp? {
      switch value {
      case .json: "Print one JSON object, as getRuns answers. The error is JSON on stderr."
      case .jsonl: "Print each run or request as one JSON object a line. The error is JSON on stderr."
      }
    }
  }

  @Argument(help: "The name of a sync, or the number of a run.", completion: NameCompletion.sync)
  var syncOrRun: String?

  @Option(help: "Only runs that began since then: a time such as 90s, 15m, 2h, 3d or 1h30m.")
  var since: String?

  @Flag(help: "Only runs that failed, ended early, or left records to look at; with --requests, only failed requests.")
  var failed = false

  @Flag(help: "List requests: when, where to, what came back, and how long it took.")
  var requests = false

  @Option(
    name: .customLong("svg"), help: ArgumentHelp("With the number of a run: draw it into this file.", valueName: "file"),
    completion: .file(extensions: ["svg"]), transform: nonEmpty)
  var picture: String?

  @Option(help: "The most runs or requests to list.")
  var limit = 100

  @Flag(exclusivity: .exclusive)
  var format: Format?

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if let since, JobInterval(since) == nil { throw ValidationError("--since: '\(since)' is not \(JobInterval.shape)") }
    guard (1...1000).contains(limit) else { throw ValidationError("--limit must be from 1 to 1000") }
    guard picture == nil || (syncOrRun.flatMap { Int64($0) } != nil && !requests) else {
      throw ValidationError("--svg takes the number of a run; tureen runs lists them")
    }
  }

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: format != nil, looksOnly: true
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      let found = try calls.value("mobilesync", "getRuns", arguments)
      if let picture, let run = found["runs"]?.arrayValue?.first { try PictureFile.write(RunPicture(run).text, to: picture) }
      try print(found)
      return 0
    }
  }

  private var arguments: JSONObject {
    var arguments: JSONObject = ["limit": .integer(Int64(limit))]
    if let number = syncOrRun.flatMap({ Int64($0) }) {
      arguments["run"] = .integer(number)
    } else {
      arguments["syncName"] = syncOrRun.map { .string($0) }
    }
    arguments["since"] = since.flatMap { JobInterval($0) }.map { .integer(TimeText.now - $0.milliseconds) }
    if failed { arguments["failed"] = true }
    if requests { arguments["requests"] = true }
    return arguments
  }

  private func print(_ found: JSONValue) throws {
    let output = ByteOutput(), list = (requests ? found["requests"] : found["runs"])?.arrayValue ?? []
    switch format {
    case .json: try output.write(TerminalText.escapedJSON(found.text) + "\n")
    case .jsonl: for one in list { try output.write(TerminalText.escapedJSON(one.text) + "\n") }
    case nil where list.isEmpty:
      let isOff = found["history"]?.stringValue == HistoryLevel.off.rawValue
      complain(
        isOff ? "no history is kept: it is off in the settings" : "the history has no such \(requests ? "requests" : "runs")")
    case nil where requests: try output.write(RunText.requests(list))
    case nil where list.first?["events"] != nil: try output.write(RunText(list[0]).detail)
    case nil: try output.write(RunText.table(list))
    }
    try output.finish()
  }
}

/// A run for people.
struct RunText {
  private let run: JSONValue

  /// - Parameter run: An element of the result of `getRuns`.
  init(_ run: JSONValue) { self.run = run }

  private func string(_ key: String) -> String { run[key]?.stringValue ?? "" }

  /// `contactsUp`, `#12`, or `contactsDown ghosts`
  var sync: String {
    let name = run["name"]?.stringValue ?? "#\(run.figure("syncId"))"
    return ["syncDown", "syncUp"].contains(string("kind")) ? name : "\(name) \(string("kind"))"
  }

  var by: String { ActorText.title(run["by"]) }

  var took: String {
    run["endedAt"]?.integerValue.map { DurationText.text($0 - run.figure("startedAt")) } ?? ""
  }

  /// `DONE, look: 4 sent, 2 refused`, or why it failed.
  var result: String {
    switch string("status") {
    case "RUNNING":
      let pid = run["by"]?["pid"]?.integerValue.map { " in process \($0)" } ?? ""
      return "running\(pid) on \(run["by"]?["host"]?.stringValue ?? "")"
    case "ABANDONED": return "ABANDONED: its process ended in the middle"
    case "FAILED":
      let why = run["error"]?["message"]?.stringValue ?? "FAILED: \(run["error"]?["code"]?.stringValue ?? "")"
      return figures.isEmpty ? why : "\(why); \(figures)"
    case "STOPPED": return "STOPPED" + (figures.isEmpty ? "" : ": \(figures)")
    case _ where run["verified"] != nil: return verified
    default: return (run["look"]?.boolValue == true ? "DONE, look: " : "") + (figures.isEmpty ? "nothing new" : figures)
    }
  }

  /// What a comparison with the server came to.
  private var verified: String {
    let verified = run["verified"], level = verified?["level"]?.stringValue ?? ""
    let mended = figures.isEmpty ? "" : "; \(figures)"
    if verified?["complete"] != true { return "not finished (\(level))" }
    return verified?["equal"] == true ? "equal (\(level))\(mended)" : "different (\(level))\(mended)"
  }

  private var figures: String {
    let words = [
      ("succeeded", "sent"), ("stored", "stored"), ("removed", "removed"), ("merged", "merged"), ("failed", "refused"),
      ("conflicting", "in conflict"), ("inDoubt", "in doubt"), ("flagged", "unusable"),
    ]
    guard let counts = run["counts"] else { return "" }
    var parts = words.compactMap { key, word in counts.figure(key) > 0 ? "\(counts.figure(key)) \(word)" : nil }
    // A conflict counts as skipped, too.
    let skipped = counts.figure("skipped") - counts.figure("conflicting")
    if skipped > 0 { parts.append("\(skipped) skipped") }
    return parts.joined(separator: ", ")
  }

  // MARK: Lists

  static func table(_ runs: [JSONValue]) -> String {
    let columns: [TextTable.Column] = [
      .init("RUN", isNumeric: true), .init("STARTED"), .init("SYNC"), .init("BY"), .init("TOOK", isNumeric: true),
      .init("RESULT"),
    ]
    let rows = runs.map { run in
      let text = RunText(run)
      return [
        "\(run.figure("run"))", TimeText.day(run.figure("startedAt")), text.sync, text.by, text.took, text.result,
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  static func requests(_ requests: [JSONValue]) -> String {
    let columns: [TextTable.Column] = [
      .init("TIME"), .init("RUN", isNumeric: true), .init("SERVER"), .init("METHOD"), .init("STATUS", isNumeric: true),
      .init("MS", isNumeric: true), .init("BYTES", isNumeric: true), .init("PATH"),
    ]
    let rows = requests.map { request in
      [
        TimeText.second(request.figure("at")), "\(request.figure("run"))", request["server"]?.stringValue ?? "",
        request["method"]?.stringValue ?? "", status(request), "\(request.figure("ms"))", "\(request.figure("bytes"))",
        (request["path"]?.stringValue ?? "") + attempt(request),
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  private static func status(_ request: JSONValue) -> String {
    request["status"]?.integerValue.map { "\($0)" } ?? "-"
  }

  private static func attempt(_ request: JSONValue) -> String {
    request.figure("attempt") > 1 ? " (attempt \(request.figure("attempt")))" : ""
  }

  // MARK: One run

  var detail: String {
    let status = string("status") == "DONE" && run["look"]?.boolValue == true ? "DONE, look" : string("status")
    let by = run["by"]
    var lines = [
      ("run \(run.figure("run"))", "\(sync): \(status)"),
      ("by", "\(self.by), process \(by?.figure("pid") ?? 0) on \(by?["host"]?.stringValue ?? "")"),
      ("started", TimeText.minute(run.figure("startedAt")) + (took.isEmpty ? "" : ", took \(took)")),
    ]
    if !["RUNNING", "ABANDONED"].contains(string("status")) { lines.append(("result", result)) }
    if let counts = run["counts"], counts.figure("requests") > 0 {
      let retries = counts.figure("retries")
      let again = retries > 0 ? ", \(retries) repeated" : ""
      lines.append(("requests", "\(counts.figure("requests"))\(again), \(ByteSize.text(counts.figure("bytes")))"))
    }
    if let job = run["job"]?.stringValue { lines.append(("job", job)) }
    if let plan = run["plan"]?.stringValue { lines.append(("plan", plan)) }
    if let info = run["limitInfo"]?.stringValue { lines.append(("limits", info)) }
    for warning in run["warnings"]?.arrayValue ?? [] { lines.append(("warning", warning.stringValue ?? "")) }
    let failures = (run["errors"]?.arrayValue ?? []).map { "\($0["code"]?.stringValue ?? "") \(times($0.figure("count")))" }
    if !failures.isEmpty { lines.append(("failed", failures.joined(separator: ", "))) }
    let width = lines.map(\.0.count).max() ?? 0
    let head = lines.map { name, value in
      name + String(repeating: " ", count: width - name.count + 2) + TextTable.cell(value) + "\n"
    }.joined()
    return head + events + entries
  }

  private func times(_ count: Int64) -> String { count == 1 ? "once" : count == 2 ? "twice" : "\(count) times" }

  private var events: String {
    let all = (run["events"]?.arrayValue ?? []).filter { $0["kind"]?.stringValue != "end" }
    guard !all.isEmpty else { return "" }
    let start = run.figure("startedAt")
    let columns: [TextTable.Column] = [
      .init("AFTER", isNumeric: true), .init("WHAT"), .init("STATUS", isNumeric: true), .init("MS", isNumeric: true),
      .init("BYTES", isNumeric: true), .init("WHERE"),
    ]
    let rows = all.map { event in
      let after = DurationText.text(max(0, event.figure("at") - start))
      guard event["kind"]?.stringValue == "request" else {
        return [
          after, "\(event["kind"]?.stringValue ?? "") written", "", "", "",
          "\(event.figure("rows")) records of \(event["soupName"]?.stringValue ?? "?")",
        ]
      }
      return [
        after, event["method"]?.stringValue ?? "", Self.status(event), "\(event.figure("ms"))", "\(event.figure("bytes"))",
        (event["server"]?.stringValue ?? "") + (event["path"]?.stringValue ?? "") + Self.attempt(event),
      ]
    }
    let omitted = run.figure("omitted")
    let rest = omitted > 0 ? "\(omitted) more were counted and not kept\n" : ""
    return "\n" + TextTable.text(columns, rows, width: TerminalWidth.columns) + rest
  }

  /// Records of a cause that are named.
  private static let named = 10

  private var entries: String {
    let groups = run["entries"]?.arrayValue ?? []
    guard !groups.isEmpty else { return "" }
    return "\n"
      + groups.map { group in
        let records = group["records"]?.arrayValue ?? [], count = group.figure("count")
        let cause = DirtyText.word(group["cause"]?.stringValue ?? "")
        let shown = records.prefix(Self.named).map { record in
          let fields = (record["fields"]?.arrayValue ?? []).compactMap(\.stringValue).joined(separator: " ")
          let parts = [
            "\(record["soupName"]?.stringValue ?? "") \(record.figure("entryId"))", fields, record["reason"]?.stringValue ?? "",
          ]
          let text = parts.filter { !$0.isEmpty }.joined(separator: "  ")
          return WrappedText.lines("  " + TextTable.cell(text), width: TerminalWidth.columns, hanging: 4)
            .map { $0 + "\n" }.joined()
        }
        let left = count - Int64(shown.count)
        return "\(cause): \(count)\n" + shown.joined() + (left > 0 ? "  and \(left) more\n" : "")
      }.joined()
  }
}

/// Who did something.
enum ActorText {
  static func title(_ actor: JSONValue?) -> String {
    guard let actor, let kind = actor["kind"]?.stringValue else { return "" }
    let name = actor["name"]?.stringValue
    switch kind {
    case "cli": return "tureen \(name ?? "")"
    case "exec", "repl", "import": return "tureen \(kind)"
    case "inspector": return "tureen inspect"
    case "job": return name ?? "a worker"
    default: return name ?? kind
    }
  }
}

/// How long something took.
enum DurationText {
  /// `79 ms`, `1.2 s`, `3 min`, `2 h`
  static func text(_ milliseconds: Int64) -> String {
    switch milliseconds {
    case ..<1000: "\(max(0, milliseconds)) ms"
    case ..<60_000: "\(milliseconds / 1000).\(milliseconds % 1000 / 100) s"
    case ..<7_200_000: "\(milliseconds / 60_000) min"
    default: "\(milliseconds / 3_600_000) h"
    }
  }
}

extension TimeText {
  private static func parts(_ milliseconds: Int64) -> tm {
    var seconds = time_t(milliseconds / 1000), parts = tm()
    gmtime_r(&seconds, &parts)
    return parts
  }

  private static func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }

  /// `Thu 13:00` for the last six days, else `2026-11-26 13:00`
  static func day(_ milliseconds: Int64, now: Int64 = TimeText.now) -> String {
    let parts = parts(milliseconds), time = "\(two(parts.tm_hour)):\(two(parts.tm_min))"
    guard abs(now - milliseconds) < 6 * 86_400_000 else {
      return "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday)) \(time)"
    }
    return "\(["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][Int(parts.tm_wday)]) \(time)"
  }

  /// `Thu 13:00:05`
  static func second(_ milliseconds: Int64) -> String {
    "\(day(milliseconds)):\(two(parts(milliseconds).tm_sec))"
  }
}
