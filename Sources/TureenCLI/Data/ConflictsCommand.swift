import ArgumentParser
import Glibc
import JSON
import MobileSync
import Tureen

struct ConflictsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "conflicts", abstract: "List or resolve conflicts: entries that both sides changed.",
    subcommands: [ConflictsListCommand.self, ConflictsResolveCommand.self], defaultSubcommand: ConflictsListCommand.self)
}

struct ConflictsListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List conflicts, or show one field by field.",
    usage: "tureen conflicts [<options>] [<soup> [<entry>]]",
    discussion: """
      With an entry: what each field was before, is here, and is on the server. Changes nothing and sends nothing.
      """
        + ExitStatus.helpOfReading(failed: "there is no such store, soup or conflict, or the store cannot be read"))

  @Argument(help: "The soup. Without it, all of the store.", completion: NameCompletion.soup)
  var soup: String?

  @Argument(help: "The entry's number.")
  var entry: Int64?

  @Option(
    name: .customLong("svg"), help: ArgumentHelp("With an entry: draw its conflict into this file.", valueName: "file"),
    completion: .file(extensions: ["svg"]), transform: nonEmpty)
  var picture: String?

  @Flag(help: "Print one JSON array, as getConflicts answers. The error is JSON on stderr.")
  var json = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    if picture != nil, entry == nil { throw ValidationError("--svg takes the number of an entry") }
  }

  func run() throws {
    try BridgeCalls.run(
      place, configDirectory: store.project.folder, store: store.reference, isJSON: json, looksOnly: true
    ) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      if let soup { _ = try calls.indexSpecs(of: soup) }
      var arguments: JSONObject = [:]
      arguments["soupName"] = soup.map { .string($0) }
      arguments["entryId"] = entry.map { .integer($0) }
      let found = try calls.value("mobilesync", "getConflicts", arguments), all = found.arrayValue ?? []
      if let picture, let one = all.first { try PictureFile.write(ConflictText(one, options: []).picture, to: picture) }
      let output = ByteOutput()
      if json {
        try output.write(TerminalText.escapedJSON(found.text) + "\n")
      } else if let soup, let entry {
        guard let one = all.first else {
          throw CallFailure(domain: "sync", code: "noSuchConflict", "entry \(entry) of soup \(soup) has no conflict")
        }
        let finder = try calls.syncs().first { $0.id == one["syncId"]?.integerValue }
        try output.write(ConflictText(one, options: store.given + place.given, by: finder?.name).text)
      } else if all.isEmpty {
        complain("there are no conflicts", .notice)
      } else {
        try output.write(ConflictText.table(all))
      }
      try output.finish()
      return 0
    }
  }
}

/// A conflict for people.
struct ConflictText {
  private let conflict: JSONValue
  private let options: [String]
  /// The name of the sync that found it last.
  private let finder: String?

  init(_ conflict: JSONValue, options: [String], by finder: String? = nil) {
    self.conflict = conflict
    self.options = options
    self.finder = finder
  }

  private static func names(_ conflict: JSONValue, _ key: String) -> [String] {
    (conflict[key]?.arrayValue ?? []).compactMap(\.stringValue)
  }

  static func what(_ conflict: JSONValue) -> String { ConflictDecision.description(of: conflict) }

  static func table(_ all: [JSONValue]) -> String {
    let columns: [TextTable.Column] = [
      .init("SOUP"), .init("ENTRY", isNumeric: true), .init("WHAT"), .init("CONFLICT"), .init("FOUND"),
    ]
    let rows = all.map { one in
      let title = one["local"]?.objectValue.flatMap { RecordTitle.title(of: $0) } ?? "(no title)"
      return [
        one["soupName"]?.stringValue ?? "", "\(one.figure("entryId"))", title, what(one), Ago.text(one.figure("detectedAt")),
      ]
    }
    return TextTable.text(columns, rows, width: TerminalWidth.columns)
  }

  var text: String {
    let soup = conflict["soupName"]?.stringValue ?? "", id = conflict.figure("entryId")
    let title = conflict["local"]?.objectValue.flatMap { RecordTitle.title(of: $0) }.map { " (\($0))" } ?? ""
    let found = Ago.text(conflict.figure("detectedAt")) + (finder.map { " by \($0)" } ?? "")
    let head = "\(soup) \(id)\(title), found \(found): \(Self.what(conflict))"
    var text = WrappedText.lines(TextTable.cell(head), width: TerminalWidth.columns, hanging: 2).map { $0 + "\n" }.joined()
    let rows = fields.map { name in
      [name] + ["base", "local", "server"].map { Self.cell(conflict[$0]?[name]) }
    }
    if !rows.isEmpty {
      text += TextTable.text(
        ["FIELD", "BEFORE", "HERE", "SERVER"].map { TextTable.Column($0) }, rows, width: TerminalWidth.columns)
    }
    let command = (["tureen", "conflicts", "resolve", soup, "\(id)"].map(CommandText.quoted)).joined(separator: " ")
    func line(_ label: String, _ option: String) -> String {
      TextTable.cell(label + ([command, option] + options).joined(separator: " ")) + "\n"
    }
    text += line("keep yours   ", "--mine")
    if conflict["kind"]?.stringValue != "unknown" { text += line("take theirs  ", "--theirs") }
    if conflict["kind"]?.stringValue == "changed", let field = Self.names(conflict, "fields").first {
      text += line("by field     ", "--field \(CommandText.quoted(field))=theirs")
    }
    return text
  }

  /// The conflict as an SVG file.
  var picture: String {
    let open = Set(Self.names(conflict, "fields"))
    let shown = fields.map { name in
      ConflictPicture.Field(
        name: name, values: ["base", "local", "server"].map { Self.cell(conflict[$0]?[name]) }, isOpen: open.contains(name))
    }
    let title = conflict["local"]?.objectValue.flatMap { RecordTitle.title(of: $0) }.map { "\($0): " } ?? ""
    return ConflictPicture(conflict, title: title + Self.what(conflict), shown).text
  }

  /// The fields that one of the sides changed; those in conflict first.
  private var fields: [String] {
    var names = Self.names(conflict, "fields")
    for name in Self.names(conflict, "localChanges") + Self.names(conflict, "remoteChanges") where !names.contains(name) {
      names.append(name)
    }
    return names
  }

  private static func cell(_ value: JSONValue?) -> String { value.map { $0.stringValue ?? ($0.isNull ? "" : $0.text) } ?? "" }
}
