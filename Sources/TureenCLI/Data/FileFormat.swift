import ArgumentParser
import Support
import Tureen

/// The format of a file with records.
enum FileFormat: String, EnumerableFlag {
  case csv, json, jsonl

  static func help(for value: FileFormat) -> ArgumentHelp? {
    switch value {
    case .csv: "CSV with a header; objects inside a record are columns such as Account.Name."
    case .json: "One JSON array of objects."
    case .jsonl: "One JSON object a line."
    }
  }

  /// The format for a file's extension; nil for an unknown one.
  init?(path: String) {
    switch path.lowercased().split(separator: ".").last {
    case "csv": self = .csv
    case "json": self = .json
    case "jsonl", "ndjson": self = .jsonl
    default: return nil
    }
  }

  var records: ImportFormat { ImportFormat(rawValue: rawValue) ?? .jsonl }
}
