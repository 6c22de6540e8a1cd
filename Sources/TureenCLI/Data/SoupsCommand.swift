import ArgumentParser
import Glibc
import JSON
import Tureen

struct SoupsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soups",
    abstract: "List the soups of a store with their entries and indexes.",
    usage: "tureen soups [<options>] [<soups> ...]",
    discussion: """
      DIRTY counts the entries that were created, updated or deleted here and that the next sync up sends. CONFLICTS counts \
      those of them that the server has changed as well.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or soup, or the store cannot be read"), (64, "wrong usage"),
          (67, "the org or user is not known"), (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Argument(help: "Soups to list. Without any, all of them.", completion: NameCompletion.soup)
  var soups: [String] = []

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, isJSON: json) { calls in
      try calls.requireStore(store.project)
      let names = try soups.isEmpty ? calls.soupNames() : soups
      let output = ByteOutput(), figures = try names.map { try calls.figures(of: $0) }
      if json {
        for soup in figures { try output.write(JSONValue.object(soup.json).text + "\n") }
      } else if figures.isEmpty {
        complain("the store '\(calls.store.name)' has no soups")
      } else {
        try output.write(Self.table(figures))
      }
      try output.finish()
      return 0
    }
  }

  static func table(_ soups: [SoupFigures]) -> String {
    let columns: [TextTable.Column] = [
      .init("SOUP"), .init("ENTRIES", isNumeric: true), .init("DIRTY", isNumeric: true), .init("CONFLICTS", isNumeric: true),
      .init("INDEXES"),
    ]
    let rows = soups.map { soup in
      [soup.name, "\(soup.entries)", "\(soup.dirty)", "\(soup.conflicts)", indexes(soup.indexes)]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  /// `Id, LastName string; Amount floating`
  private static func indexes(_ specs: [(path: String, type: String)]) -> String {
    var types: [String] = []
    for spec in specs where !types.contains(spec.type) { types.append(spec.type) }
    return types.map { type in specs.filter { $0.type == type }.map(\.path).joined(separator: ", ") + " " + type }
      .joined(separator: "; ")
  }
}
