/// JSON text as people read it.
public enum JSONLayout {
  /// The same text with line breaks and two spaces a level; every number and string stays as it is spelled.
  /// - Parameter text: Valid JSON, compact or not.
  public static func indented(_ text: [UInt8]) -> [UInt8] {
    var layout = Writer()
    var isInString = false, isEscaped = false
    for (i, byte) in text.enumerated() {
      if isInString {
        layout.out.append(byte)
        if isEscaped { isEscaped = false } else if byte == 0x5C { isEscaped = true } else if byte == 0x22 { isInString = false }
        continue
      }
      switch byte {
      case 0x20, 0x09, 0x0A, 0x0D: continue
      case 0x22:
        isInString = true
        layout.out.append(byte)
      case 0x7B, 0x5B: layout.open(byte, isEmpty: isClosed(text, after: i))
      case 0x7D, 0x5D: layout.close(byte)
      case 0x2C: layout.comma()
      case 0x3A: layout.out += [0x3A, 0x20]
      default: layout.out.append(byte)
      }
    }
    return layout.out
  }

  /// Whether a bracket's partner follows at once.
  private static func isClosed(_ text: [UInt8], after i: Int) -> Bool {
    let next = text[(i + 1)...].first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
    return next == 0x7D || next == 0x5D
  }

  private struct Writer {
    var out: [UInt8] = []
    private var depth = 0
    private var isInEmpty = false

    private mutating func breakLine() { out += [0x0A] + [UInt8](repeating: 0x20, count: depth * 2) }

    mutating func open(_ byte: UInt8, isEmpty: Bool) {
      out.append(byte)
      isInEmpty = isEmpty
      if isEmpty { return }
      depth += 1
      breakLine()
    }

    mutating func close(_ byte: UInt8) {
      if !isInEmpty {
        depth -= 1
        breakLine()
      }
      isInEmpty = false
      out.append(byte)
    }

    mutating func comma() {
      out.append(0x2C)
      breakLine()
    }
  }
}
