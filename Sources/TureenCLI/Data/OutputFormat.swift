import ArgumentParser
import Glibc
import Tureen

/// The format of rows.
enum OutputFormat: String, EnumerableFlag {
  case table, csv, json, jsonl

  static func help(for value: OutputFormat) -> ArgumentHelp? {
    switch value {
    case .table: "Print a table. This is the default on a terminal, and is as wide as it."
    case .csv: "Print CSV with a header. This is the default elsewhere."
    case .json: "Print one JSON array of objects."
    case .jsonl: "Print one JSON object a line."
    }
  }

  var rows: RowFormat { RowFormat(rawValue: rawValue) ?? .jsonl }
}

enum TerminalWidth {
  /// The width of the terminal at standard output; nil if it is not a terminal.
  static var ofTerminal: Int? {
    var size = winsize()
    return ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : nil
  }

  /// The width of the terminal, else `$COLUMNS`; nil for no limit.
  static var columns: Int? {
    if let columns = ofTerminal { return columns }
    return getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
  }
}
