import JSON

/// Signals of results: cheap stand-ins for code coverage.
enum FuzzSignal {
  /// Returns a message without its values: the text before its first and after its last quote, with numbers as `0` and everything
  /// but letters as `_`.
  static func shape(_ message: String) -> String {
    let bytes = Array(message.utf8), quotes = Array("'\"{<".utf8), ends = Array("'\"}>".utf8)
    let first = bytes.firstIndex(where: quotes.contains) ?? bytes.count
    let last = bytes.lastIndex(where: ends.contains).map { $0 + 1 } ?? bytes.count
    let rest = bytes.dropFirst(max(first, last))
    return plain(bytes[..<first].prefix(80)) + "|" + plain(rest.prefix(60))
  }

  private static func plain(_ bytes: some Sequence<UInt8>) -> String {
    var out: [UInt8] = []
    for byte in bytes {
      let isLetter = (0x61...0x7a).contains(byte | 0x20), isDigit = (0x30...0x39).contains(byte)
      let shown = isLetter ? byte : UInt8(ascii: isDigit ? "0" : "_")
      if isLetter || out.last != shown { out.append(shown) }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Returns the kinds of a value and of the values inside it, down to two levels, without counts.
  static func shape(_ value: JSONValue, depth: Int = 0) -> String {
    func inside(_ values: some Sequence<JSONValue>) -> String {
      depth < 2 ? Set(values.prefix(12).map { shape($0, depth: depth + 1) }).sorted().joined() : ""
    }
    switch value {
    case .object(let members): return "{" + inside(members.map(\.value)) + "}"
    case .array(let elements): return "[" + inside(elements) + "]"
    case .null: return "0"
    case .bool: return "b"
    case .integer: return "i"
    case .number, .decimal: return "n"
    case .string: return "s"
    }
  }

  /// Returns the magnitude of a count: results of 5 and of 6 rows are alike, 5 and 500 are not.
  static func magnitude(_ count: Int) -> Int { Int.bitWidth - count.leadingZeroBitCount }

  /// FNV-1a, 64 bits: the same in every run.
  static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
