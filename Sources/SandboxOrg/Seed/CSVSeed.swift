import JSON

/// Reads a CSV file with the records of one object (RFC 4180, UTF-8). The first line names the
/// fields; an empty cell leaves the field at its default.
struct CSVSeed {
  let reader: ByteReader
  let object: ObjectSchema
  let schema: OrgSchema

  /// The target of a column: a field, or the external id of a parent.
  private struct Column {
    let name: String
    var key: String?
  }

  /// - Parameter add: Receives each record and its first line.
  func run(_ add: (JSONObject, Int) throws -> Void) throws {
    guard let head = try row() else { throw reader.failure("the line with the field names is missing") }
    let columns = try head.map(column)
    while true {
      let line = reader.line
      guard let cells = try row() else { return }
      // Skip empty lines.
      if cells == [""] { continue }
      guard cells.count == columns.count else {
        throw reader.failure("\(cells.count) cells for \(columns.count) columns", line: line)
      }
      var record = JSONObject()
      for (column, cell) in zip(columns, cells) where !cell.isEmpty {
        record[column.name] = column.key.map { .object([$0: .string(cell)]) } ?? .string(cell)
      }
      try add(record, line)
    }
  }

  private func column(_ name: String) throws(SandboxError) -> Column {
    let parts = name.split(separator: ".", maxSplits: 1).map(String.init)
    if parts.count == 2 {
      guard let reference = object.relationship(parts[0]) else {
        throw reader.failure("\(object.name) has no relationship '\(parts[0])'", line: 1)
      }
      let isKey = reference.referenceTo.contains { schema.object($0)?.field(parts[1])?.isIdLookup == true }
      guard isKey else { throw reader.failure("'\(parts[1])' is not a field to find records of \(parts[0])", line: 1) }
      return Column(name: parts[0], key: parts[1])
    }
    guard let field = object.field(name) else { throw reader.failure("\(object.name) has no field '\(name)'", line: 1) }
    return Column(name: field.name)
  }

  /// Reads the cells of the next row; nil at the end of the file.
  private func row() throws(SandboxError) -> [String]? {
    guard try reader.peek() != nil else { return nil }
    let line = reader.line
    var cells: [String] = []
    while true {
      let (text, isLast) = try cell(line)
      cells.append(text)
      if isLast { return cells }
    }
  }

  private func cell(_ line: Int) throws(SandboxError) -> (text: String, isLast: Bool) {
    var bytes: [UInt8] = []
    let isQuoted = try reader.peek() == UInt8(ascii: "\"")
    if isQuoted { bytes = try quoted(line) }
    while let byte = try reader.take() {
      if byte == UInt8(ascii: ",") { return (try text(bytes, line), false) }
      if byte == UInt8(ascii: "\n") { return (try text(bytes, line), true) }
      if byte == UInt8(ascii: "\r"), try reader.peek() == UInt8(ascii: "\n") { continue }
      guard !isQuoted else { throw reader.failure("there is text after a closing quotation mark", line: line) }
      bytes.append(byte)
      try bound(bytes, line)
    }
    return (try text(bytes, line), true)
  }

  /// Reads a quoted cell; a doubled quotation mark stands for one.
  private func quoted(_ line: Int) throws(SandboxError) -> [UInt8] {
    var bytes: [UInt8] = []
    _ = try reader.take()
    while let byte = try reader.take() {
      if byte == UInt8(ascii: "\"") {
        guard try reader.peek() == UInt8(ascii: "\"") else { return bytes }
        _ = try reader.take()
      }
      bytes.append(byte)
      try bound(bytes, line)
    }
    throw reader.failure("a cell has no closing quotation mark", line: line)
  }

  private func bound(_ bytes: [UInt8], _ line: Int) throws(SandboxError) {
    guard bytes.count <= Tuning.seedRecordBytes else {
      throw reader.failure("a cell is larger than \(Tuning.seedRecordBytes) bytes", line: line)
    }
  }

  private func text(_ bytes: [UInt8], _ line: Int) throws(SandboxError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw reader.failure("a cell is not UTF-8 text", line: line)
    }
    return text
  }
}
