import JSON
import Support

/// The format of a file with records.
package enum ImportFormat: String, Sendable, CaseIterable { case csv, json, jsonl }

/// The reason why a line of a file, or the whole file, cannot be imported.
package struct ImportProblem: Error, Equatable, Sendable {
  package let message: String
  /// The line's number, starting at 1; nil for the whole file.
  package var line: Int?

  package init(_ message: String, line: Int? = nil) {
    self.message = message
    self.line = line
  }
}

/// A record of a file whose values are not yet converted to their types.
package struct ImportRecord: Sendable {
  package enum Value: Sendable, Equatable {
    /// A cell of a CSV file.
    case cell(String)
    case json(JSONValue)
  }

  /// The number of the record's first line, starting at 1.
  package let line: Int
  /// The values by name, or in CSV by path.
  package var members: [(name: String, value: Value)]

  package init(line: Int, members: [(name: String, value: Value)]) {
    self.line = line
    self.members = members
  }

  package subscript(_ name: String) -> Value? { members.first { $0.name == name }?.value }
}

/// Reads the records of a file one by one. A line that cannot be read is reported with its number and skipped.
package struct ImportFile {
  private enum Source {
    case csv(CSVReader, columns: [String])
    case lines(ByteReader, line: Int)
    case array(ArrayReader)
  }

  private var source: Source
  /// The columns of a CSV file; none for JSON.
  package let columns: [String]

  /// - Throws: ``ImportProblem`` about the whole file; the input's error.
  package init(_ input: ByteReader, format: ImportFormat, separator: UInt8 = UInt8(ascii: ",")) throws {
    var input = input
    if let first = try input.peek(), first == 0xFF || first == 0xFE {
      throw ImportProblem("the file is not UTF-8 but UTF-16; save it as UTF-8")
    }
    switch format {
    case .csv:
      var reader = CSVReader(input, separator: separator)
      guard let header = try reader.next() else { throw ImportProblem("the file is empty; its first line must name the columns") }
      columns = try Self.columns(header)
      source = .csv(reader, columns: columns)
    case .jsonl:
      columns = []
      source = .lines(input, line: 0)
    case .json:
      columns = []
      source = .array(try ArrayReader(input.rest()))
    }
  }

  private static func columns(_ header: CSVReader.Record) throws -> [String] {
    guard case .success(let names) = header.fields else {
      if case .failure(let problem) = header.fields { throw ImportProblem("the header: \(problem.message)", line: header.line) }
      return []
    }
    var seen: IdSet = []
    for (i, name) in names.enumerated() {
      guard !name.isEmpty else { throw ImportProblem("column \(i + 1) of the header has no name", line: header.line) }
      guard seen.insert(name).inserted else {
        throw ImportProblem("the header has the column '\(name)' twice", line: header.line)
      }
    }
    if names.count == 1, let other = [";", "\t", "|"].first(where: { names[0].contains($0) }) {
      let shown = other == "\t" ? "a tab" : "'\(other)'"
      throw ImportProblem(
        "the header is one column, '\(names[0])'; if \(shown) separates the columns, say so with --separator",
        line: header.line)
    }
    return names
  }

  /// Returns the next record or the problem of the next line; nil at the end.
  /// - Throws: ``ImportProblem`` if the rest of the file cannot be read; the input's error.
  package mutating func next() throws -> Result<ImportRecord, ImportProblem>? {
    switch source {
    case .csv(var reader, let columns):
      let record = try reader.next()
      source = .csv(reader, columns: columns)
      return record.map { Self.record($0, columns) }
    case .lines(var reader, var number):
      defer { source = .lines(reader, line: number) }
      while let line = try reader.line() {
        number += 1
        if !line.allSatisfy(\.isASCIIWhitespace) { return Self.object(line[...], line: number) }
      }
      return nil
    case .array(var reader):
      defer { source = .array(reader) }
      return try reader.next()
    }
  }

  private static func record(_ record: CSVReader.Record, _ columns: [String]) -> Result<ImportRecord, ImportProblem> {
    switch record.fields {
    case .failure(let problem): return .failure(ImportProblem(problem.message, line: record.line))
    case .success(let fields):
      guard fields.count == columns.count else {
        let count = "\(fields.count) field\(fields.count == 1 ? "" : "s")"
        return .failure(ImportProblem("the line has \(count), the header has \(columns.count)", line: record.line))
      }
      return .success(ImportRecord(line: record.line, members: zip(columns, fields).map { ($0, .cell($1)) }))
    }
  }

  /// Reads a record from the text of a JSON object.
  static func object(_ text: ArraySlice<UInt8>, line: Int) -> Result<ImportRecord, ImportProblem> {
    do {
      let value = try JSONValue(parsing: Array(text))
      guard let object = value.objectValue else {
        return .failure(ImportProblem("a record must be a JSON object, not \(value.kindName)", line: line))
      }
      if let key = DoubledKey.find(in: Array(text)) {
        return .failure(ImportProblem("the member '\(key)' is there twice", line: line))
      }
      return .success(ImportRecord(line: line, members: object.map { ($0.key, .json($0.value)) }))
    } catch {
      return .failure(ImportProblem("not JSON: \(error.message)", line: line))
    }
  }
}

/// Reads the objects of a JSON array.
private struct ArrayReader {
  private var scanner: ElementScanner
  private let bytes: [UInt8]
  private var counted = 0
  private var line = 1

  init(_ bytes: [UInt8]) throws {
    self.bytes = bytes
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    guard let open = bytes[start...].firstIndex(where: { !$0.isASCIIWhitespace }), bytes[open] == UInt8(ascii: "[") else {
      throw ImportProblem("the file must contain one JSON array of objects; for one object per line use --jsonl")
    }
    scanner = ElementScanner(bytes, at: open + 1)
  }

  mutating func next() throws -> Result<ImportRecord, ImportProblem>? {
    guard scanner.beginsElement() else {
      guard scanner.position < bytes.count else { throw ImportProblem("the array is not closed; the file is not complete") }
      guard bytes[(scanner.position + 1)...].allSatisfy(\.isASCIIWhitespace) else {
        throw ImportProblem("there is text after the array", line: currentLine())
      }
      return nil
    }
    let line = currentLine()
    let record = ImportFile.object(scanner.skipValue(), line: line)
    // After an element that is not JSON, the start of the next element is not known.
    if case .failure(let problem) = record, problem.message.hasPrefix("not JSON") { throw problem }
    return record
  }

  private mutating func currentLine() -> Int {
    line += bytes[counted..<scanner.position].count { $0 == UInt8(ascii: "\n") }
    counted = scanner.position
    return line
  }
}
