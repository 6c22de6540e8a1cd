import Glibc
import Tureen

/// Writes rows to the output, page by page.
struct RowOutput {
  private let output: ByteOutput
  private let format: RowFormat
  private let isTerminal: Bool
  private var formatter: RowFormatter?
  private var text: [UInt8] = []

  /// - Parameter format: Nil chooses a table on a terminal, else CSV.
  init(_ format: OutputFormat?, to output: ByteOutput = ByteOutput()) {
    self.output = output
    isTerminal = isatty(STDOUT_FILENO) == 1
    self.format = format?.rows ?? (isTerminal ? .table : .csv)
  }

  var hasBegun: Bool { formatter != nil }

  mutating func begin(_ columns: [String]) {
    formatter = RowFormatter(format, columns: columns, width: TerminalWidth.columns)
  }

  mutating func row(_ cells: [ResultCell]) throws {
    formatter?.row(cells, to: &text)
    if text.count >= 1 << 16 { try pass() }
  }

  /// Shows the rows written so far.
  mutating func pageEnds() throws {
    try pass()
    if isTerminal { try output.flush() }
  }

  mutating func end() throws {
    formatter?.end(to: &text)
    try pass()
    try output.finish()
    if let names = formatter?.leftOut, !names.isEmpty {
      complain(
        "the terminal is too narrow for \(names.count) more column\(names.count == 1 ? "" : "s") "
          + "(\(names.joined(separator: ", "))); name fewer, or use --jsonl")
    }
  }

  /// A record must not control the terminal. A table has escaped its cells already.
  private mutating func pass() throws {
    defer { text.removeAll(keepingCapacity: true) }
    guard isTerminal, format != .table else { return try output.write(text) }
    let shown = String(decoding: text, as: UTF8.self)
    try output.write(format == .csv ? TerminalText.escaped(shown) : TerminalText.escapedJSON(shown))
  }
}
