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
        + ExitStatus.helpOfReading(failed: "there is no such store or soup, or the store cannot be read"))

  @Argument(help: "Soups to list. Without any, all of them.", completion: NameCompletion.soup)
  var soups: [String] = []

  @Flag(help: "Print one JSON object a line. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: json, looksOnly: true
    ) { calls in
      try calls.requireStore(store.project)
      let figures = try chosen(try calls.storeOverview()["soups"]?.arrayValue ?? [])
      let output = ByteOutput()
      if json {
        for soup in figures { try output.write(TerminalText.escapedJSON(soup.text) + "\n") }
      } else if figures.isEmpty {
        complain("the store '\(calls.store.name)' has no soups", .notice)
      } else {
        try output.write(Self.table(figures))
      }
      try output.finish()
      return 0
    }
  }

  private func chosen(_ all: [JSONValue]) throws -> [JSONValue] {
    guard !soups.isEmpty else { return all }
    let names = all.compactMap { $0["soup"]?.stringValue }
    return try soups.map { name in
      guard let soup = all.first(where: { $0["soup"] == .string(name) }) else {
        throw CallFailure(
          domain: "smartstore", code: "noSuchSoup", "soup '\(name)' does not exist\(BridgeCalls.hint(for: name, among: names))")
      }
      return soup
    }
  }

  static func table(_ soups: [JSONValue]) -> String {
    let columns: [TextTable.Column] = [
      .init("SOUP"), .init("ENTRIES", isNumeric: true), .init("DIRTY", isNumeric: true), .init("CONFLICTS", isNumeric: true),
      .init("INDEXES"),
    ]
    let rows = soups.map { soup in
      [soup["soup"]?.stringValue ?? ""] + ["entries", "dirty", "conflicts"].map { "\(soup.figure($0))" } + [indexes(soup)]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  /// `Id, LastName string; Amount floating`
  private static func indexes(_ soup: JSONValue) -> String {
    let specs = (soup["indexes"]?.arrayValue ?? []).map { ($0["path"]?.stringValue ?? "", $0["type"]?.stringValue ?? "") }
    var types: [String] = []
    for (_, type) in specs where !types.contains(type) { types.append(type) }
    return types.map { type in specs.filter { $0.1 == type }.map(\.0).joined(separator: ", ") + " " + type }
      .joined(separator: "; ")
  }
}
