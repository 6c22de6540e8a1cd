/// Reads CSV (RFC 4180) record by record. An invalid record is reported and does not affect later records.
///
/// Lines end with a line feed, a carriage return or both. Empty lines and a byte order mark are skipped.
package struct CSVReader {
  package struct Problem: Error, Equatable {
    package let message: String
  }

  package struct Record: Equatable {
    /// The number of the record's first line, starting at 1.
    package let line: Int
    package let fields: Result<[String], Problem>
  }

  private let separator: UInt8
  private var input: ByteReader
  private var line = 1
  private var isAtStart = true
  /// The first problem of the current record.
  private var problem: String?

  package init(_ input: ByteReader, separator: UInt8 = UInt8(ascii: ",")) {
    self.input = input
    self.separator = separator
  }

  /// Returns the next record; nil at the end.
  /// - Throws: The input's error.
  package mutating func next() throws -> Record? {
    if isAtStart { try skipMark() }
    while let byte = try input.peek(), Self.endsLine(byte) { try skipLineEnd() }
    guard try input.peek() != nil else { return nil }
    let start = line
    var fields: [String] = []
    problem = nil
    var goesOn = true
    while goesOn {
      fields.append(try field())
      goesOn = try input.peek() == separator
      if goesOn { try input.skip() }
    }
    if let byte = try input.peek(), Self.endsLine(byte) { try skipLineEnd() }
    return Record(line: start, fields: problem.map { .failure(Problem(message: $0)) } ?? .success(fields))
  }

  private mutating func skipMark() throws {
    isAtStart = false
    for byte in [0xEF, 0xBB, 0xBF] as [UInt8] {
      guard try input.peek() == byte else { return }
      try input.skip()
    }
  }

  /// Reads a field up to the separator or the end of the line.
  private mutating func field() throws -> String {
    var bytes: [UInt8] = []
    if try input.peek() == UInt8(ascii: "\"") {
      try quoted(&bytes)
      // Text after the closing quote is invalid; the loop below skips it, so that the next field begins at the separator.
      if let byte = try input.peek(), !endsField(byte) { note("a field has text after its closing quote") }
    }
    while let byte = try input.peek(), !endsField(byte) {
      if byte == UInt8(ascii: "\"") {
        note("a field that is not quoted contains a quote; quote the field and double the quote")
      }
      bytes.append(byte)
      try input.skip()
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      note("field is not UTF-8; save the file as UTF-8")
      return ""
    }
    return text
  }

  private mutating func quoted(_ bytes: inout [UInt8]) throws {
    let start = line
    try input.skip()
    while let byte = try input.peek() {
      guard byte == UInt8(ascii: "\"") else {
        bytes.append(byte)
        try countLine(byte)
        continue
      }
      try input.skip()
      guard try input.peek() == UInt8(ascii: "\"") else { return }
      bytes.append(byte)
      try input.skip()
    }
    note("the quote that opens in line \(start) is not closed")
  }

  private mutating func note(_ message: String) { problem = problem ?? message }

  private func endsField(_ byte: UInt8) -> Bool { byte == separator || Self.endsLine(byte) }

  private static func endsLine(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r") }

  /// Skips a byte inside quotes and counts line ends.
  private mutating func countLine(_ byte: UInt8) throws {
    try input.skip()
    let followedByFeed = try byte == UInt8(ascii: "\r") && input.peek() == UInt8(ascii: "\n")
    if Self.endsLine(byte), !followedByFeed { line += 1 }
  }

  private mutating func skipLineEnd() throws {
    if try input.peek() == UInt8(ascii: "\r") { try input.skip() } else { return try countFeed() }
    if try input.peek() == UInt8(ascii: "\n") { try input.skip() }
    line += 1
  }

  private mutating func countFeed() throws {
    try input.skip()
    line += 1
  }
}

/// Provides the bytes of an input that is read in chunks.
package struct ByteReader {
  private let read: () throws -> [UInt8]
  private var chunk: [UInt8] = []
  private var position = 0
  private var isAtEnd = false

  /// - Parameter read: Returns the next bytes; an empty array at the end.
  package init(_ read: @escaping () throws -> [UInt8]) { self.read = read }

  package init(_ bytes: [UInt8]) {
    var rest = bytes
    read = {
      defer { rest = [] }
      return rest
    }
  }

  package mutating func peek() throws -> UInt8? {
    if position < chunk.count { return chunk[position] }
    guard !isAtEnd else { return nil }
    chunk = try read()
    position = 0
    isAtEnd = chunk.isEmpty
    return chunk.first
  }

  /// Skips the byte that ``peek()`` has returned.
  package mutating func skip() throws { position += 1 }

  /// Returns the next line without its line feed; nil at the end.
  package mutating func line() throws -> [UInt8]? {
    guard try peek() != nil else { return nil }
    var line: [UInt8] = []
    while try peek() != nil {
      if let end = chunk[position...].firstIndex(of: UInt8(ascii: "\n")) {
        line += chunk[position..<end]
        position = end + 1
        return line
      }
      line += chunk[position...]
      position = chunk.count
    }
    return line
  }

  /// Returns the remaining bytes.
  package mutating func rest() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while try peek() != nil {
      bytes += chunk[position...]
      position = chunk.count
    }
    return bytes
  }
}
