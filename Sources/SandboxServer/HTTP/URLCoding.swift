import Support

/// Percent encoding and form fields.
package enum URLCoding {
  /// - Parameter plusIsSpace: True for queries and forms, false for paths.
  /// - Returns: The text; malformed escapes stay as they are, and invalid UTF-8 becomes U+FFFD.
  package static func decoded(_ text: some StringProtocol, plusIsSpace: Bool) -> String {
    let bytes = Array(text.utf8)
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count, let high = bytes[index + 1].hexDigitValue,
        let low = bytes[index + 2].hexDigitValue
      {
        out.append(high << 4 | low)
        index += 3
      } else {
        out.append(plusIsSpace && bytes[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : bytes[index])
        index += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  package static func fields(_ text: some StringProtocol) -> [(name: String, value: String)] {
    text.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (decoded(parts[0], plusIsSpace: true), parts.count > 1 ? decoded(parts[1], plusIsSpace: true) : "")
    }
  }

  /// Encodes `name=value&…`; escapes all bytes except letters, digits, `-`, `.` and `_`.
  package static func form(_ fields: [(name: String, value: String)]) -> String {
    fields.map { "\(encoded($0.name))=\(encoded($0.value))" }.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    let hex = Array("0123456789ABCDEF".utf8)
    var out: [UInt8] = []
    for byte in text.utf8 {
      switch byte {
      case _ where byte.isASCIILetter || byte.isASCIIDigit || "-._".utf8.contains(byte): out.append(byte)
      case UInt8(ascii: " "): out.append(UInt8(ascii: "+"))
      default: out += [UInt8(ascii: "%"), hex[Int(byte >> 4)], hex[Int(byte & 15)]]
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  /// Percent-encodes a name for a header or a path, with `%20` for a space.
  package static func escaped(_ text: String) -> String { encoded(text).replacing("+", with: "%20") }

  /// Splits a path into decoded segments; drops empty ones at both ends.
  package static func segments(_ path: some StringProtocol) -> [String] {
    var parts = path.split(separator: "/", omittingEmptySubsequences: false).map { decoded($0, plusIsSpace: false) }
    if parts.first == "" { parts.removeFirst() }
    while parts.last == "" { parts.removeLast() }
    return parts
  }
}
