/// Writes pieces of JSON text.
public enum JSONText {
  /// Appends `text` as a quoted JSON string. Escapes only what JSON requires.
  public static func appendQuoted(_ text: String, to out: inout [UInt8]) {
    out.append(UInt8(ascii: "\""))
    var text = text
    text.withUTF8 { appendEscaped($0, to: &out) }
    out.append(UInt8(ascii: "\""))
  }

  /// Appends UTF-8 text as the contents of a JSON string, without quotes.
  public static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    var from = 0
    for (i, c) in text.enumerated() where c < UInt8(ascii: " ") || c == UInt8(ascii: "\"") || c == UInt8(ascii: "\\") {
      out.append(contentsOf: text[from..<i])
      from = i + 1
      switch c {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): out.append(contentsOf: [UInt8(ascii: "\\"), c])
      case 0x08: out.append(contentsOf: "\\b".utf8)
      case UInt8(ascii: "\t"): out.append(contentsOf: "\\t".utf8)
      case UInt8(ascii: "\n"): out.append(contentsOf: "\\n".utf8)
      case 0x0c: out.append(contentsOf: "\\f".utf8)
      case UInt8(ascii: "\r"): out.append(contentsOf: "\\r".utf8)
      default:
        let digits = Array("0123456789abcdef".utf8)
        out.append(contentsOf: "\\u00".utf8)
        out.append(contentsOf: [digits[Int(c >> 4)], digits[Int(c & 15)]])
      }
    }
    out.append(contentsOf: text[from...])
  }

  /// Appends an integer without creating a string.
  public static func append(_ value: Int64, to out: inout [UInt8]) {
    if value < 0 { out.append(UInt8(ascii: "-")) }
    let start = out.count
    var rest = value.magnitude
    repeat {
      out.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    } while rest > 0
    out[start...].reverse()
  }

  /// Appends a double in the shortest form that reads back as the same double: `5.0`, never `5`.
  /// Infinity, which a number too large for a double is parsed as, becomes `1e999` and reads back
  /// the same. NaN, which JSON cannot express, becomes `null`.
  public static func append(_ value: Double, to out: inout [UInt8]) {
    let text =
      value.isFinite ? "\(value)" : value.isNaN ? "null" : value > 0 ? "1e999" : "-1e999"
    out.append(contentsOf: text.utf8)
  }
}

extension JSONValue {
  /// Returns compact JSON text.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    append(to: &out)
    return out
  }

  public var text: String { String(decoding: serialized(), as: UTF8.self) }

  /// Appends compact JSON text. The recursion is as deep as the value, which parsing limits.
  public func append(to out: inout [UInt8]) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): JSONText.append(value, to: &out)
    case .number(let value): JSONText.append(value, to: &out)
    case .decimal(let text): out.append(contentsOf: text.utf8)
    case .string(let value): JSONText.appendQuoted(value, to: &out)
    case .array(let elements):
      out.append(UInt8(ascii: "["))
      for (i, element) in elements.enumerated() {
        if i > 0 { out.append(UInt8(ascii: ",")) }
        element.append(to: &out)
      }
      out.append(UInt8(ascii: "]"))
    case .object(let members): members.append(to: &out)
    }
  }
}

extension JSONObject {
  /// Returns compact JSON text with the keys in order.
  public func serialized() -> [UInt8] { JSONValue.object(self).serialized() }

  public var text: String { JSONValue.object(self).text }

  public func append(to out: inout [UInt8]) {
    out.append(UInt8(ascii: "{"))
    for (i, member) in enumerated() {
      if i > 0 { out.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(member.key, to: &out)
      out.append(UInt8(ascii: ":"))
      member.value.append(to: &out)
    }
    out.append(UInt8(ascii: "}"))
  }
}
