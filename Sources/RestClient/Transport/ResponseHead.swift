/// The head of a response, which begins with the status line. Collects the lines as they arrive.
struct ResponseHead {
  private(set) var bytes: [UInt8] = []
  /// Bytes of the trailer fields behind a chunked body, which are not kept.
  private var trailerCount = 0
  /// Whether the empty line of the final response has arrived.
  private(set) var isComplete = false
  /// The fields of a complete head, in order. A line that continues the one before it is joined with it.
  private(set) var fields: [(name: String, value: String)] = []

  var isEmpty: Bool { bytes.isEmpty }

  /// Adds a line with its line break.
  ///
  /// - Returns: False if there are more than `limit` bytes.
  mutating func take(_ line: UnsafeRawBufferPointer, limit: Int) -> Bool {
    guard !isComplete else {
      trailerCount += line.count
      return bytes.count + trailerCount <= limit
    }
    // The lines before another status line are those of an interim response.
    if line.starts(with: "HTTP/".utf8) { bytes.removeAll(keepingCapacity: true) }
    guard bytes.count + line.count <= limit else { return false }
    bytes += line
    isComplete = line.count <= 2 && !(100..<200).contains(status)
    if isComplete { fields = parsedFields() }
    return true
  }

  /// The status in the status line; 0 if there is none, and for another version of HTTP.
  var status: Int {
    guard bytes.starts(with: "HTTP/1.".utf8) else { return 0 }
    guard let blank = bytes.firstIndex(of: UInt8(ascii: " ")) else { return 0 }
    let digits = bytes[(blank + 1)...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    return digits.count == 3 ? digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : 0
  }

  private func parsedFields() -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    bytes.withUnsafeBufferPointer { bytes in
      var start = (bytes.firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count) + 1
      while start < bytes.count {
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
        let line = bytes[start..<end]
        start = end + 1
        if let first = line.first, ResponseHead.isBlank(first) {
          let more = ResponseHead.text(line)
          if let last = fields.indices.last, !more.isEmpty { fields[last].value += " " + more }
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
          fields.append((ResponseHead.text(line[..<colon]), ResponseHead.text(line[(colon + 1)...])))
        }
      }
    }
    return fields
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  private static func text(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> String {
    var (start, end) = (bytes.startIndex, bytes.endIndex)
    while start < end, isBlank(bytes[start]) { start += 1 }
    while end > start, isBlank(bytes[end - 1]) || bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }

  /// Whether the body of a complete head is compressed in a way that we undo. Any other is passed on as it is.
  var isCompressed: Bool {
    let codings = fields.filter { $0.name.equalsIgnoringCase("content-encoding") }.map { $0.value.lowercased() }
    return codings.count == 1 && ["gzip", "x-gzip", "deflate"].contains(codings[0])
  }

  /// Whether the head says where the body ends, so that a body that ended early is not taken for a whole one.
  var isDelimited: Bool { length != .none || fields.contains { $0.name.equalsIgnoringCase("transfer-encoding") } }

  /// What `Content-Length` of a complete head says.
  enum Length: Equatable {
    case none
    case bytes(Int)
    /// Two values that differ, or one that is not a length. Which bytes belong to the response is unclear then.
    case unclear
  }

  var length: Length {
    var found = Length.none
    for field in fields where field.name.equalsIgnoringCase("content-length") {
      for part in field.value.split(separator: ",", omittingEmptySubsequences: false) {
        let digits = part.drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed()
        guard !digits.isEmpty, digits.allSatisfy({ ("0"..."9").contains($0) }), let length = Int(String(digits)) else {
          return .unclear
        }
        guard found == .none || found == .bytes(length) else { return .unclear }
        found = .bytes(length)
      }
    }
    return found
  }
}
