/// Base64 (RFC 4648, with padding): bytes that are no text, inside JSON.
enum Base64 {
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 0xff, count: 256)
    for (i, digit) in digits.enumerated() { values[Int(digit)] = UInt8(i) }
    return values
  }()

  static func encode(_ bytes: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity((bytes.count + 2) / 3 * 4)
    var i = 0
    while i < bytes.count {
      let left = bytes.count - i
      let bits = Int(bytes[i]) << 16 | (left > 1 ? Int(bytes[i + 1]) << 8 : 0) | (left > 2 ? Int(bytes[i + 2]) : 0)
      out.append(digits[bits >> 18])
      out.append(digits[bits >> 12 & 63])
      out.append(left > 1 ? digits[bits >> 6 & 63] : 0x3d)
      out.append(left > 2 ? digits[bits & 63] : 0x3d)
      i += 3
    }
    return out
  }

  /// The bytes that text stands for; nil when it is no base64.
  static func decode(_ text: String) -> [UInt8]? {
    guard text.utf8.count % 4 == 0 else { return nil }
    var out: [UInt8] = [], bits: UInt32 = 0, count = 0, padding = 0
    out.reserveCapacity(text.utf8.count / 4 * 3)
    for c in text.utf8 {
      if c == 0x3d {
        padding += 1
        continue
      }
      let value = values[Int(c)]
      guard value != 0xff, padding == 0 else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 1
      // Of each four digits the first completes no byte.
      if count % 4 != 1 { out.append(UInt8(truncatingIfNeeded: bits >> [0, 0, 4, 2][count % 4])) }
    }
    return padding <= 2 && count % 4 != 1 ? out : nil
  }
}
