import Support

/// Formats JSON text for people.
public enum JSONLayout {
  /// Returns the text with line breaks and an indentation of two spaces per level. Numbers and
  /// strings keep their spelling.
  /// - Parameter text: Valid JSON, compact or not.
  public static func indented(_ text: [UInt8]) -> [UInt8] {
    var layout = Writer()
    var isInString = false, isEscaped = false
    for (i, byte) in text.enumerated() {
      if isInString {
        layout.out.append(byte)
        if !isEscaped, byte == UInt8(ascii: "\"") { isInString = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case let blank where blank.isASCIIWhitespace: continue
      case UInt8(ascii: "\""):
        isInString = true
        layout.out.append(byte)
      case UInt8(ascii: "{"), UInt8(ascii: "["): layout.open(byte, isEmpty: isClosed(text, after: i))
      case UInt8(ascii: "}"), UInt8(ascii: "]"): layout.close(byte)
      case UInt8(ascii: ","): layout.comma()
      case UInt8(ascii: ":"): layout.out += ": ".utf8
      default: layout.out.append(byte)
      }
    }
    return layout.out
  }

  /// Returns whether the bracket at `i` is closed at once.
  private static func isClosed(_ text: [UInt8], after i: Int) -> Bool {
    let next = text[(i + 1)...].first { !$0.isASCIIWhitespace }
    return next == UInt8(ascii: "}") || next == UInt8(ascii: "]")
  }

  private struct Writer {
    var out: [UInt8] = []
    private var depth = 0
    private var isInEmpty = false

    private mutating func breakLine() { out += [UInt8(ascii: "\n")] + [UInt8](repeating: UInt8(ascii: " "), count: depth * 2) }

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
      out.append(UInt8(ascii: ","))
      breakLine()
    }
  }
}
