/// Percent-encoding by RFC 3986: everything but unreserved characters is encoded. `+` becomes `%2B`, because servers
/// read a bare `+` in a query as a blank and a time stamp's offset would be lost.
public enum PercentEncoding {
  /// `text` for use as one path segment, or as a name or value in a query or a form. `/` is encoded too.
  public static func encode(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 16)
    for byte in text.utf8 {
      if isUnreserved(byte) {
        bytes.append(byte)
      } else {
        bytes.append(UInt8(ascii: "%"))
        bytes.append(hexDigits[Int(byte >> 4)])
        bytes.append(hexDigits[Int(byte & 15)])
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// `a=1&b=2`, encoded: a query, or an `application/x-www-form-urlencoded` body.
  public static func form(_ pairs: [(name: String, value: String)]) -> String {
    pairs.map { encode($0.name) + "=" + encode($0.value) }.joined(separator: "&")
  }

  private static let hexDigits = Array("0123456789ABCDEF".utf8)

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
    default: false
    }
  }
}
