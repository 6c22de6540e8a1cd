/// Parses CSV records (RFC 4180) from a window of bytes. Strict: ambiguous input is an error.
struct CSVReader {
  struct Record: Equatable {
    let fields: [String]
    /// The index after the record.
    let end: Int
    let lineEnding: LineEnding?
  }
  /// Why a text is not valid CSV.
  struct Problem: Error, Equatable { let message: String }

  let delimiter: UInt8

  /// Parses the record at `start`; nil if the window ends inside it.
  ///
  /// - Parameter isLast: True if the window ends with the text, which also ends its last record.
  func record(in bytes: [UInt8], at start: Int, isLast: Bool) throws(Problem) -> Record? {
    var fields: [String] = []
    var index = start
    while true {
      guard let (field, next) = try field(in: bytes, at: index, isLast: isLast) else { return nil }
      fields.append(field)
      if next == bytes.count {
        return isLast ? Record(fields: fields, end: next, lineEnding: nil) : nil
      }
      switch bytes[next] {
      case delimiter: index = next + 1
      case UInt8(ascii: "\n"): return Record(fields: fields, end: next + 1, lineEnding: .lf)
      default:
        // The remaining case is a carriage return, which must precede a line feed.
        guard next + 1 < bytes.count else {
          if isLast { throw Problem(message: "a carriage return is not followed by a line feed") }
          return nil
        }
        guard bytes[next + 1] == UInt8(ascii: "\n") else {
          throw Problem(message: "a carriage return is not followed by a line feed")
        }
        return Record(fields: fields, end: next + 2, lineEnding: .crlf)
      }
    }
  }

  /// Parses a field and returns the index after it, where a delimiter, a line end or the end is.
  private func field(in bytes: [UInt8], at start: Int, isLast: Bool) throws(Problem) -> (String, Int)? {
    if start < bytes.count, bytes[start] == UInt8(ascii: "\"") { return try quoted(in: bytes, at: start + 1, isLast: isLast) }
    var index = start
    while index < bytes.count, !ends(bytes[index]) {
      if bytes[index] == UInt8(ascii: "\"") {
        throw Problem(message: "a quote is in the middle of an unquoted field")
      }
      index += 1
    }
    guard index < bytes.count || isLast else { return nil }
    return (try text(bytes[start..<index]), index)
  }

  private func quoted(in bytes: [UInt8], at start: Int, isLast: Bool) throws(Problem) -> (String, Int)? {
    var contents: [UInt8] = []
    var index = start
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "\"") else {
        contents.append(bytes[index])
        index += 1
        continue
      }
      guard index + 1 < bytes.count else { return isLast ? (try text(contents[...]), index + 1) : nil }
      if bytes[index + 1] == UInt8(ascii: "\"") {
        contents.append(UInt8(ascii: "\""))
        index += 2
      } else {
        guard ends(bytes[index + 1]) else { throw Problem(message: "text follows a closing quote") }
        return (try text(contents[...]), index + 1)
      }
    }
    if isLast { throw Problem(message: "a quote is not closed") }
    return nil
  }

  private func ends(_ byte: UInt8) -> Bool { byte == delimiter || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

  private func text(_ bytes: ArraySlice<UInt8>) throws(Problem) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw Problem(message: "a field is not UTF-8") }
    return text
  }
}

enum LineEnding: String {
  case lf = "LF"
  case crlf = "CRLF"

  var bytes: [UInt8] { self == .lf ? [UInt8(ascii: "\n")] : [UInt8(ascii: "\r"), UInt8(ascii: "\n")] }
}

/// The column delimiter of a job's CSV.
enum ColumnDelimiter: String {
  case backquote = "BACKQUOTE"
  case caret = "CARET"
  case comma = "COMMA"
  case pipe = "PIPE"
  case semicolon = "SEMICOLON"
  case tab = "TAB"

  var byte: UInt8 {
    switch self {
    case .backquote: UInt8(ascii: "`")
    case .caret: UInt8(ascii: "^")
    case .comma: UInt8(ascii: ",")
    case .pipe: UInt8(ascii: "|")
    case .semicolon: UInt8(ascii: ";")
    case .tab: UInt8(ascii: "\t")
    }
  }
}

/// Builds CSV lines; every field is quoted.
struct CSVLine {
  private(set) var bytes: [UInt8] = []
  private let delimiter: UInt8

  init(_ delimiter: ColumnDelimiter) { self.delimiter = delimiter.byte }

  init(_ delimiter: ColumnDelimiter, _ fields: [String]) {
    self.init(delimiter)
    for field in fields { field.utf8.withContiguousStorageIfAvailable { append($0) } ?? append(Array(field.utf8)) }
  }

  mutating func append(_ field: some Sequence<UInt8>) {
    if !bytes.isEmpty { bytes.append(delimiter) }
    bytes.append(UInt8(ascii: "\""))
    for byte in field {
      if byte == UInt8(ascii: "\"") { bytes.append(UInt8(ascii: "\"")) }
      bytes.append(byte)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  func ended(by ending: LineEnding) -> [UInt8] { bytes + ending.bytes }
}
