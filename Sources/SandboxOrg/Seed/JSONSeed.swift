import JSON

/// Reads a JSON file of records, holding one record in memory at a time.
struct JSONSeed {
  let reader: ByteReader

  /// - Parameter add: Receives each record, its object's name and its first line.
  func run(_ add: (JSONObject, String, Int) throws -> Void) throws {
    switch try token() {
    case UInt8(ascii: "{"): try objects(add)
    case UInt8(ascii: "["): try records(type: nil, add)
    default: throw reader.failure("must start with '{' or '['")
    }
    guard try token() == nil else { throw reader.failure("there is text after the end of the records") }
  }

  /// Consumes the next byte that is not white space.
  private func token() throws(SandboxError) -> UInt8? {
    while let byte = try reader.take() {
      if ![UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r")].contains(byte) { return byte }
    }
    return nil
  }

  private func objects(_ add: (JSONObject, String, Int) throws -> Void) throws {
    var next = try token()
    if next == UInt8(ascii: "}") { return }
    while true {
      guard next == UInt8(ascii: "\"") else { throw reader.failure("expected the name of an object in quotation marks") }
      var name: [UInt8] = []
      while let byte = try reader.take(), byte != UInt8(ascii: "\"") {
        name.append(byte)
        guard name.count <= 80, byte != UInt8(ascii: "\\") else {
          throw reader.failure("the name of an object is too long, or contains a '\\'")
        }
      }
      guard try token() == UInt8(ascii: ":") else { throw reader.failure("':' is missing") }
      guard try token() == UInt8(ascii: "[") else { throw reader.failure("the records of an object must be a list") }
      try records(type: String(decoding: name, as: UTF8.self), add)
      next = try token()
      if next == UInt8(ascii: "}") { return }
      guard next == UInt8(ascii: ",") else { throw reader.failure("',' or '}' is missing") }
      next = try token()
    }
  }

  private func records(type: String?, _ add: (JSONObject, String, Int) throws -> Void) throws {
    var next = try token()
    if next == UInt8(ascii: "]") { return }
    while true {
      guard next == UInt8(ascii: "{") else { throw reader.failure("a record must be an object: '{' is missing") }
      let line = reader.line
      let record = try self.record(line)
      guard let type = type ?? record["attributes"]?["type"]?.stringValue else {
        throw reader.failure("a record of a list needs \"attributes\": {\"type\": …}", line: line)
      }
      try add(record, type, line)
      next = try token()
      if next == UInt8(ascii: "]") { return }
      guard next == UInt8(ascii: ",") else { throw reader.failure("',' or ']' is missing") }
      next = try token()
    }
  }

  /// Reads the rest of an object after its opening brace.
  private func record(_ line: Int) throws(SandboxError) -> JSONObject {
    var bytes: [UInt8] = [UInt8(ascii: "{")]
    var depth = 1
    var isInText = false, isEscaped = false
    while depth > 0 {
      guard let byte = try reader.take() else { throw reader.failure("the record has no end", line: line) }
      bytes.append(byte)
      guard bytes.count <= Tuning.seedRecordBytes else {
        throw reader.failure("the record is larger than \(Tuning.seedRecordBytes) bytes", line: line)
      }
      if isInText {
        if !isEscaped, byte == UInt8(ascii: "\"") { isInText = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else if byte == UInt8(ascii: "\"") {
        isInText = true
      } else if byte == UInt8(ascii: "{") || byte == UInt8(ascii: "[") {
        depth += 1
      } else if byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") {
        depth -= 1
      }
    }
    do throws(JSONError) {
      return try JSONValue(parsing: bytes).objectValue ?? [:]
    } catch {
      let place = error.position(in: bytes)
      throw reader.failure("not valid JSON: \(error.message)", line: line + place.line - 1)
    }
  }
}
