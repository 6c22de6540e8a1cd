import ArgumentParser
import Glibc
import JSON
import Tureen

struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export",
    abstract: "Write the records of a soup as CSV or JSON.",
    usage: "tureen export [<options>] <soup>",
    discussion: """
      The option or the file's extension decides the format; the default is one JSON object a line. tureen import reads all three.

      Records have the fields of the server. Fields that Tureen adds, and entries that are marked for deletion, are left out \
      without --own-fields. In CSV null and a missing field are both an empty cell, and a list is JSON.
      """
        + ExitStatus.help([
          (0, "done"), (1, "there is no such store or soup, or the store cannot be read"), (64, "wrong usage"),
          (67, "the org or user is not known"), (69, "the output cannot be written, such as on a full disk"),
          (78, "a configuration file is wrong; the message names file, line and key"), (130, "interrupted"),
        ]))

  @Argument(help: "The soup.", completion: NameCompletion.soup)
  var soup: String

  @Option(help: "Write to this file. It appears, or replaces an older one, when it is complete.", completion: .file())
  var output: String?

  @Flag(exclusivity: .exclusive)
  var format: FileFormat?

  @Flag(help: "Also write the fields that Tureen adds, such as _soupEntryId and __local__.")
  var ownFields = false

  @OptionGroup var store: StoreOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(place, configDirectory: store.project.folder, store: store.reference, looksOnly: true) { calls in
      try calls.requireStore(store.project, mayBeNew: false)
      _ = try calls.indexSpecs(of: soup)
      let target = try output.map { try ByteOutput(replacing: $0) } ?? ByteOutput()
      let count = try write(SoupPages(calls: calls, soup: soup), to: target)
      try target.finish()
      if let output { complain("\(count) record\(count == 1 ? "" : "s") written to \(output)") }
      return 0
    }
  }

  private var isShownRaw: Bool { output != nil || isatty(STDOUT_FILENO) != 1 }

  private func write(_ pages: SoupPages, to target: ByteOutput) throws -> Int {
    var count = 0, text: [UInt8] = []
    func pass() throws {
      // A record must not control the terminal.
      let shown = isShownRaw ? text : Array(escaped(String(decoding: text, as: UTF8.self)).utf8)
      try target.write(shown)
      text.removeAll(keepingCapacity: true)
    }
    let format = chosenFormat
    let columns = format == .csv ? try columns(pages) : []
    if format == .csv, !columns.isEmpty { CSVText.append(columns, to: &text) }
    let places = IdMap(columns.enumerated().map { ($0.element, $0.offset) }) { first, _ in first }
    try pages.forEachEntry { entry in
      guard ownFields || !Self.isDeleted(entry) else { return }
      if format == .json { text.append(contentsOf: (count == 0 ? "[\n" : ",\n").utf8) }
      count += 1
      if format == .csv {
        var cells = [String](repeating: "", count: columns.count)
        entry.forEachLeaf(withOwnFields: ownFields) { path, value in
          if let place = places[path] { cells[place] = value.text }
        }
        CSVText.append(cells, to: &text)
      } else {
        if ownFields { entry.append(to: &text) } else { entry.appendRecord(to: &text) }
        if format == .jsonl { text.append(UInt8(ascii: "\n")) }
      }
      if text.count > 1 << 16 { try pass() }
    }
    if format == .json { text.append(contentsOf: (count == 0 ? "[]\n" : "\n]\n").utf8) }
    try pass()
    return count
  }

  private var chosenFormat: FileFormat { format ?? output.flatMap(FileFormat.init(path:)) ?? .jsonl }

  private func escaped(_ text: String) -> String {
    chosenFormat == .csv ? TerminalText.escaped(text) : TerminalText.escapedJSON(text)
  }

  /// Returns every path that occurs in a record. Reads the whole soup once.
  private func columns(_ pages: SoupPages) throws -> [String] {
    var columns = EntryColumns()
    try pages.forEachEntry { entry in
      if ownFields || !Self.isDeleted(entry) { columns.note(entry, withOwnFields: ownFields) }
    }
    return columns.names
  }

  private static func isDeleted(_ entry: EntryText) -> Bool {
    var isDeleted = false
    entry.forEachMember { key, value in
      if key.elementsEqual("\"__locally_deleted__\"".utf8) { isDeleted = value.elementsEqual("true".utf8) }
    }
    return isDeleted
  }
}
