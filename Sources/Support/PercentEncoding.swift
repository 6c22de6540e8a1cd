/// Percent-encodes everything but the unreserved characters of RFC 3986. `+` becomes `%2B`: servers
/// read a bare `+` in a query as a blank, which would break a time stamp's offset.
public enum PercentEncoding {
  /// Encodes `text` as one path segment, or as a name or value in a query or form. Encodes `/`,
  /// too.
  public static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes += escape(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Encodes a query or an `application/x-www-form-urlencoded` body, such as `a=1&b=2`.
  public static func form(_ pairs: [(name: String, value: String)]) -> String {
    pairs.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }

  /// Returns `%` and two hexadecimal digits.
  package static func escape(_ byte: UInt8) -> [UInt8] {
    [UInt8(ascii: "%"), hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 15)]]
  }

  /// Decodes text; `+` stays a plus. Returns nil for a bad escape and for bytes that are not UTF-8.
  package static func decode(_ text: some StringProtocol) -> String? {
    var bytes: [UInt8] = [], rest = Array(text.utf8)[...]
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "%") else {
        bytes.append(byte)
        continue
      }
      guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else { return nil }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return String(validating: bytes, as: UTF8.self)
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }
}
