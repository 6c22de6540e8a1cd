/// Base64 as files travel in JSON: padding may be missing, line ends inside are skipped.
enum Base64 {
  private static let values: [UInt8] = {
    var table = [UInt8](repeating: 0xFF, count: 256)
    let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    for (index, byte) in alphabet.utf8.enumerated() { table[Int(byte)] = UInt8(index) }
    return table
  }()

  /// nil when there is a character that does not belong there.
  static func decoded(_ text: String) -> [UInt8]? {
    var out: [UInt8] = []
    out.reserveCapacity(text.utf8.count / 4 * 3)
    var bits: UInt32 = 0
    var count = 0
    var isAtEnd = false
    for byte in text.utf8 {
      if byte == 0x0A || byte == 0x0D { continue }
      if byte == 0x3D {
        isAtEnd = true
        continue
      }
      let value = values[Int(byte)]
      guard value != 0xFF, !isAtEnd else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 1
      if count % 4 == 0 {
        out.append(UInt8(bits >> 16 & 0xFF))
        out.append(UInt8(bits >> 8 & 0xFF))
        out.append(UInt8(bits & 0xFF))
        bits = 0
      }
    }
    switch count % 4 {
    case 0: break
    case 2: out.append(UInt8(bits >> 4 & 0xFF))
    case 3:
      out.append(UInt8(bits >> 10 & 0xFF))
      out.append(UInt8(bits >> 2 & 0xFF))
    default: return nil
    }
    return out
  }
}
