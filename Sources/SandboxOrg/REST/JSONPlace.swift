import JSON
import Support

/// Finds values in a JSON text. The text has been parsed before: nothing is checked here.
enum JSONPlace {
  enum Step: Equatable {
    case member(String)
    case element(Int)
  }

  /// The offset of the value that the steps lead to from the outermost one; nil when there is none.
  static func value(at path: [Step], in text: [UInt8]) -> Int? {
    var offset = text.firstIndex { !isSpace($0) }
    for step in path {
      guard let start = offset else { return nil }
      offset = value(step, of: start, in: text)
    }
    return offset
  }

  /// Of members with one key the last one counts.
  private static func value(_ step: Step, of start: Int, in text: [UInt8]) -> Int? {
    var found: Int?
    var depth = 0, index = start, isKey = false, key: [UInt8] = [], elements = -1
    func noteElement(behind index: Int) {
      elements += 1
      if step == .element(elements) { found = text[(index + 1)...].firstIndex { !isSpace($0) } }
    }
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
        if let name = name(key), step == .member(name) { found = text[(index + 1)...].firstIndex { !isSpace($0) } }
      case UInt8(ascii: ",") where depth == 1:
        isKey = text[start] == UInt8(ascii: "{")
        if !isKey { noteElement(behind: index) }
      case UInt8(ascii: "{"), UInt8(ascii: "["):
        depth += 1
        if depth == 1 {
          isKey = byte == UInt8(ascii: "{")
          if !isKey { noteElement(behind: index) }
        }
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        depth -= 1
        if depth == 0 { return found }
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
