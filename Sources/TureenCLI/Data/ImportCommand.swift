import ArgumentParser
import Glibc
import JSON
import Tureen

struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Store records of a CSV or JSON file in a soup for the next sync up.",
    usage: "tureen import [<options>] <soup> <file> --external-id <path>",
    discussion: """
      Without --apply nothing is stored: the command reports how many entries it would create and change, and which lines are \
      bad. With --apply it stores the changes, unless a line is bad.

      The path of --external-id has the same value in a record and its entry. An entry gets the values of the record and keeps \
      its other fields; if it already has all values, it is not marked. A record without an entry becomes a new entry. If the \
      command is killed, run it again: it continues where it stopped.

      In CSV the type of a cell is the one in --types, else that of the field in the entry, else that of the field in other \
      entries, else that of its index, else text. An empty cell sets the field to null.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a line is bad, there is no such store, soup or index, or storing failed"), (64, "wrong usage"),
          (66, "the file cannot be read"), (67, "the org or user is not known"),
          (75, "the store is busy; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"),
          (130, "interrupted; run it again to finish"),
        ]))

  @Argument(help: "The soup.", completion: NameCompletion.soup)
  var soup: String

  @Argument(help: "The file; '-' reads standard input.", completion: .file())
  var file: String

  @Option(help: "The indexed path that has the same value in a record and its entry.")
  var externalId: String

  @Flag(help: "Store the changes.")
  var apply = false

  @Flag(help: "Skip bad lines and store the others.")
  var skipBad = false

  @Flag(exclusivity: .exclusive)
  var format: FileFormat?

  @Option(help: "Types of columns, such as Amount=number,Active=boolean. Types are text, number, boolean and json.")
  var types: String?

  @Option(help: "The server's type of new records, such as Contact. Without it the type of the soup's entries.")
  var recordType: String?

  @Option(help: "The character that separates the columns of a CSV file; 'tab' is a tab.")
  var separator = ","

  @Flag(help: "Leave the field as it is if its cell is empty.")
  var keepEmpty = false

  @Flag(help: "Print the report as one JSON object. The error is JSON on stderr.")
  var reportJson = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    _ = try separatorByte()
    _ = try givenTypes()
    if format == nil, FileFormat(path: file) == nil {
      throw ValidationError("the name '\(file)' does not tell its format; add --csv, --json or --jsonl")
    }
  }

  func run() throws {
    let format = format ?? FileFormat(path: file) ?? .jsonl
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, isJSON: reportJson) { calls in
      try calls.requireStore(store.project)
      _ = try calls.indexSpecs(of: soup)
      let input = try InputFile(file)
      func open() throws -> ImportFile {
        try ImportFile(input.reader(), format: format.records, separator: separatorByte())
      }
      do {
        let columns = try open().columns
        let run = ImportRun(calls: calls, soup: soup, rules: try rules(calls, columns))
        var report = try run.run(open(), isApplied: false)
        if apply, report.problems.isEmpty || skipBad { report = try run.run(open(), isApplied: true) }
        try say(report, input)
        return report.problems.isEmpty || report.isApplied && skipBad ? 0 : ExitStatus.callFailed
      } catch let problem as ImportProblem {
        throw CommandFailure("\(input.name)\(problem.line.map { ":\($0)" } ?? ""): \(problem.message)")
      }
    }
  }

  // MARK: Rules

  private func rules(_ calls: BridgeCalls, _ columns: [String]) throws -> ImportRules {
    let specs = try calls.indexSpecs(of: soup)
    guard specs.contains(where: { $0.path == externalId }) else {
      throw CallFailure(
        domain: "smartstore", code: "pathNotIndexed",
        "soup '\(soup)' has no index on '\(externalId)', by which its entries could be found"
          + NearestName.hint(for: externalId, among: specs.map(\.path).filter { !OwnField.contains($0) }))
    }
    var rules = try calls.importRules(soup, externalIdPath: externalId, columns: columns, specs: specs)
    rules.keepsEmpty = keepEmpty
    rules.givenTypes = try givenTypes()
    if let recordType { rules.recordType = recordType }
    guard !columns.isEmpty else { return rules }
    guard columns.contains(externalId) else {
      throw CommandFailure(
        "\(file) has no column '\(externalId)' (--external-id)\(NearestName.hint(for: externalId, among: columns))")
    }
    for name in rules.givenTypes.keys.sorted() where !columns.contains(name) {
      throw CommandFailure(
        "--types: \(file) has no column '\(name)'\(NearestName.hint(for: name, among: columns))", status: ExitStatus.usage)
    }
    warnOfNewColumns(calls, columns, rules)
    return rules
  }

  /// A column that no entry has is probably mistyped if there is a similar name.
  private func warnOfNewColumns(_ calls: BridgeCalls, _ columns: [String], _ rules: ImportRules) {
    guard let names = try? calls.memberNames(of: soup), !names.isEmpty else { return }
    for column in columns where rules.foundTypes[column] == nil && !OwnField.contains(column) {
      let first = String(column.prefix { $0 != "." })
      if !names.contains(first), let near = NearestName.find(first, among: names.filter { !columns.contains($0) }) {
        complain("warning: no entry of '\(soup)' has '\(first)'; did you mean '\(near)'?")
      }
    }
  }

  private func givenTypes() throws -> IdMap<CellType> {
    var result: IdMap<CellType> = [:]
    for part in (types ?? "").split(separator: ",") {
      guard let sign = part.lastIndex(of: "=") else {
        throw ValidationError("--types: '\(part)' is not COLUMN=TYPE")
      }
      let word = String(part[part.index(after: sign)...])
      guard let type = CellType(rawValue: word) else {
        throw ValidationError(
          "--types: unknown type '\(word)'\(NearestName.hint(for: word, among: CellType.allCases.map(\.rawValue)))")
      }
      result[String(part[..<sign])] = type
    }
    return result
  }

  private func separatorByte() throws -> UInt8 {
    let text = separator == "tab" || separator == "\\t" ? "\t" : separator
    guard text.utf8.count == 1, let byte = text.utf8.first, byte < 0x80, !"\"\r\n".utf8.contains(byte) else {
      throw ValidationError("--separator: '\(separator)' is not one character; use ',', ';', '|' or tab")
    }
    return byte
  }

  // MARK: Report

  /// The number of bad lines that are shown; the rest are only counted.
  private static let shownProblems = 20

  private func say(_ report: ImportReport, _ input: InputFile) throws {
    let output = ByteOutput()
    if reportJson {
      try output.write(TerminalText.escapedJSON(JSONValue.object(report.json).text) + "\n")
      return try output.finish()
    }
    for problem in report.problems.prefix(Self.shownProblems) {
      complain("\(input.name)\(problem.line.map { ":\($0)" } ?? ""): \(problem.message)")
    }
    if report.problems.count > Self.shownProblems {
      complain("\(report.problems.count - Self.shownProblems) more bad lines")
    }
    let counts = [
      ("created", report.created), ("updated", report.updated), ("unchanged", report.unchanged), ("bad", report.problems.count),
    ].map { "\($0.1) \($0.0)" }.joined(separator: ", ")
    try output.write("\(report.records) record\(report.records == 1 ? "" : "s"): \(counts)\n")
    try output.finish()
    complain(advice(report))
  }

  private func advice(_ report: ImportReport) -> String {
    if report.isApplied {
      return report.created + report.updated > 0 ? "the next sync up of '\(soup)' sends the changes" : "nothing had to be stored"
    }
    if apply { return "nothing was stored: correct the bad lines, or skip them with --skip-bad" }
    return report.created + report.updated > 0 ? "nothing was stored; --apply stores the changes" : "nothing would change"
  }
}
