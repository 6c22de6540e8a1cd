/// Indents JSON text for `X-PrettyPrint: 1`.
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
        inString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      let next = index + 1 < compact.count ? compact[index + 1] : 0
      switch byte {
      case UInt8(ascii: "\""):
        inString = true
        out.append(byte)
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        out.append(byte)
        depth += 1
        // Empty objects and arrays stay on their line.
        if next != UInt8(ascii: "}"), next != UInt8(ascii: "]") { newLine(depth, &out) }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if out.last != UInt8(ascii: "{"), out.last != UInt8(ascii: "[") { newLine(depth, &out) }
        out.append(byte)
      case UInt8(ascii: ","):
        out.append(byte)
        newLine(depth, &out)
      case UInt8(ascii: ":"): out.append(contentsOf: [UInt8(ascii: " "), UInt8(ascii: ":"), UInt8(ascii: " ")])
      default: out.append(byte)
      }
    }
    return out
  }

  private static func newLine(_ depth: Int, _ out: inout [UInt8]) {
    out.append(UInt8(ascii: "\n"))
    out.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * max(0, depth)))
  }
}
