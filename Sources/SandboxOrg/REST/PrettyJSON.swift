/// Indents JSON text, as `X-PrettyPrint: 1` asks for.
enum PrettyJSON {
  /// - Parameter compact: JSON text without white space outside strings.
  static func indented(_ compact: [UInt8]) -> [UInt8] {
    var out: [UInt8] = []
    out.reserveCapacity(compact.count * 3 / 2)
    var depth = 0
    var inString = false
    var isEscaped = false
    for (index, byte) in compact.enumerated() {
      if inString {
        out.append(byte)
        inString = isEscaped || byte != 0x22
        isEscaped = !isEscaped && byte == 0x5C
        continue
      }
      let next = index + 1 < compact.count ? compact[index + 1] : 0
      switch byte {
      case 0x22:
        inString = true
        out.append(byte)
      case 0x7B, 0x5B:
        out.append(byte)
        depth += 1
        // Empty ones stay on their line.
        if next != 0x7D, next != 0x5D { newLine(depth, &out) }
      case 0x7D, 0x5D:
        depth -= 1
        if out.last != 0x7B, out.last != 0x5B { newLine(depth, &out) }
        out.append(byte)
      case 0x2C:
        out.append(byte)
        newLine(depth, &out)
      case 0x3A: out.append(contentsOf: [0x20, 0x3A, 0x20])
      default: out.append(byte)
      }
    }
    return out
  }

  private static func newLine(_ depth: Int, _ out: inout [UInt8]) {
    out.append(0x0A)
    out.append(contentsOf: repeatElement(0x20, count: 2 * max(0, depth)))
  }
}
