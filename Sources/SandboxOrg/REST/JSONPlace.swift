import JSON
import Support

/// Finds values in the text of a JSON object. The text has been parsed before: nothing is checked here.
enum JSONPlace {
  /// The offset of the value of a member of the outermost object; the last one, if the key stands there several times.
  static func value(of member: String, in text: [UInt8]) -> Int? {
    var found: Int?
    var depth = 0, index = 0, isKey = false, key: [UInt8] = []
    while index < text.count {
      let byte = text[index]
      switch byte {
      case UInt8(ascii: "\""):
        let end = stringEnd(text, index)
        if depth == 1, isKey { key = Array(text[index..<end]) }
        index = end
        continue
      case UInt8(ascii: ":") where depth == 1 && isKey:
        isKey = false
        if name(key) == member { found = text[(index + 1)...].firstIndex { !isSpace($0) } }
      case UInt8(ascii: ",") where depth == 1: isKey = true
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 { isKey = true }
      case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
      default: break
      }
      index += 1
    }
    return found
  }

  /// Line and column of an offset, counted from 1.
  static func position(_ offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let before = text.prefix(offset)
    let lineStart = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
    return (before.count { $0 == UInt8(ascii: "\n") } + 1, offset - lineStart + 1)
  }

  /// The offset behind the closing quotation mark.
  private static func stringEnd(_ text: [UInt8], _ start: Int) -> Int {
    var index = start + 1
    while index < text.count, text[index] != UInt8(ascii: "\"") { index += text[index] == UInt8(ascii: "\\") ? 2 : 1 }
    return min(index + 1, text.count)
  }

  private static func name(_ quoted: [UInt8]) -> String? { (try? JSONValue(parsing: quoted))?.stringValue }

  private static func isSpace(_ byte: UInt8) -> Bool { byte.isASCIIWhitespace }
}
