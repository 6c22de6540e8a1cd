import ArgumentParser
import JSON
import Tureen

struct StoreListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the stores of all users, in the home and in the database of $TUREEN_STORE.",
    usage: "tureen store list [<options>] [<place>]",
    discussion: """
      ENTRIES does not count the states of syncs. A store that tureen store copy has not finished has no figures. The key of \
      encrypted stores is the one in $TUREEN_STORE_KEY, $TUREEN_STORE_KEY_FILE or $TUREEN_STORE_KEY_COMMAND.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a store cannot be read; the others are listed"), (64, "wrong usage"),
          (75, "the database is unreachable or busy; try again later"),
          (78, "a setting is wrong, or an org.json file; the message names it"),
        ]))

  @Argument(
    help: "List only this place: 'home', 'database', the folder of a home, or postgres://user@host/database.",
    completion: .directory)
  var place: String?

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @Option(help: "The folder of stores, sessions and the sandbox org.", completion: .directory, transform: nonEmpty)
  var home: String?

  func run() throws {
    var options = StorePlaceOptions()
    (options.home, options.org, options.user) = (home, nil, nil)
    try options.run(asJSON: json, looksOnly: true) { catalog in
      let chosen = try place.map { try StorePlace($0, home: catalog.home, argument: "the place", mayBeNew: false) }
      var stores: [ListedStore] = []
      for place in chosen.map({ [$0] }) ?? catalog.places { stores += try catalog.stores(in: place) }
      let output = ByteOutput()
      if json {
        for store in stores { try output.write(TerminalText.escapedJSON(store.json.text) + "\n") }
      } else if stores.isEmpty {
        complain("there are no stores yet", .notice)
      } else {
        try output.write(Self.table(stores))
      }
      try output.finish()
      for store in stores { if let problem = store.problem { complain("store '\(store.name)': \(problem)") } }
      return stores.contains { $0.problem != nil } ? ExitStatus.storeFailed : 0
    }
  }

  private static func table(_ stores: [ListedStore]) -> String {
    let columns: [TextTable.Column] = [
      .init("STORE"), .init("ORG"), .init("USER"), .init("ENGINE"), .init("SIZE", isNumeric: true),
      .init("SOUPS", isNumeric: true), .init("ENTRIES", isNumeric: true), .init("STATE"),
    ]
    func number(_ value: Int64?) -> String { value.map { "\($0)" } ?? "-" }
    let rows = stores.map { store in
      [
        store.name, store.org ?? "(global)", store.user ?? "", store.place.engine, store.bytes.map(ByteSize.text) ?? "-",
        number(store.soups), number(store.entries),
        store.isUnfinished ? "unfinished copy" : store.problem == nil ? "" : "cannot be read",
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }
}
