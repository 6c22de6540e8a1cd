import ArgumentParser
import Glibc
import JSON
import Tureen

struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Run a SELECT over a store, or SOQL on the org, and print the rows.",
    usage: "tureen query [<options>] <sql> [<values> ...]",
    discussion: """
      SQL is smart SQL: {contacts} is a soup, {contacts:LastName} the value at a path, {contacts:_soup} the whole entry. It \
      only reads. '-' reads it from standard input. A column is named after its alias, else after its path. With --org-query \
      the statement is SOQL and the org answers it.

      Each VALUE replaces a '?' in the SQL. A number, true, false, null or text in double quotes is read as JSON, anything \
      else as text.

      Rows are read in pages, so that a result of any size needs little memory. Programs that write meanwhile may move rows \
      between pages.
      """
        + ExitStatus.help([
          (0, "done"), (1, "the query failed; the message says why"), (64, "wrong usage"),
          (67, "a sign-in is needed or was refused, or the org or user is not known"),
          (69, "standard output cannot be written, such as on a full disk"),
          (75, "the org is unreachable or busy; try again later"),
          (78, "a configuration file is wrong; the message names file, line and key"), (130, "interrupted"),
        ]))

  @Argument(help: "The SELECT; '-' reads it from standard input.")
  var sql: String

  @Argument(help: "Values for the placeholders '?', in order.")
  var values: [String] = []

  @Flag(exclusivity: .exclusive)
  var format: OutputFormat?

  @Flag(help: "Send the statement to the org as SOQL.")
  var orgQuery = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if orgQuery, !values.isEmpty { throw ValidationError("--org-query takes no values; write them into the SOQL") }
  }

  func run() throws {
    let statement = sql == "-" ? String(decoding: try ExecCommand.standardInput(), as: UTF8.self) : sql
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: format == .json || format == .jsonl,
      looksOnly: !orgQuery
    ) { calls in
      var rows = RowOutput(format)
      if orgQuery {
        try OrgQuery(calls: calls, soql: statement).run(&rows)
      } else {
        try calls.requireStore(store.project, mayBeNew: false)
        try runSmart(SmartQuery(calls: calls, sql: statement, arguments: values.map(Self.value)), &rows)
      }
      try rows.end()
      return 0
    }
  }

  private func runSmart(_ query: SmartQuery, _ rows: inout RowOutput) throws {
    let list = SelectList(query.sql)
    do {
      try query.forEachRow { cells in
        if !rows.hasBegun { rows.begin(try query.columns(list, count: cells.count)) }
        try rows.row(cells)
      } pageEnds: {
        try rows.pageEnds()
      }
    } catch let failure as CallFailure {
      throw query.explained(failure, list)
    }
    if !rows.hasBegun { rows.begin(try query.columns(list, count: nil)) }
    for warning in query.warnings(list) { complain(warning) }
  }

  /// Parses a JSON scalar; everything else is text, such as `007` and `ab`.
  static func value(_ text: String) -> JSONValue {
    guard let value = try? JSONValue(parsing: text), value.arrayValue == nil, value.objectValue == nil else {
      return .string(text)
    }
    return value
  }
}
