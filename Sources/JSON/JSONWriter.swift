/// Pieces of JSON text.
public enum JSONText {
  /// Appends `text` as a JSON string with its quotes. Only what must be escaped is.
  public static func appendQuoted(_ text: String, to out: inout [UInt8]) {
    out.append(0x22)
    var text = text
    text.withUTF8 { appendEscaped($0, to: &out) }
    out.append(0x22)
  }

  /// Appends UTF-8 text as the contents of a JSON string, without quotes.
  public static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    var from = 0
    for (i, c) in text.enumerated() where c < 0x20 || c == 0x22 || c == 0x5c {
      out.append(contentsOf: text[from..<i])
      from = i + 1
      switch c {
      case 0x22, 0x5c: out.append(contentsOf: [0x5c, c])
      case 0x08: out.append(contentsOf: [0x5c, 0x62])
      case 0x09: out.append(contentsOf: [0x5c, 0x74])
      case 0x0a: out.append(contentsOf: [0x5c, 0x6e])
      case 0x0c: out.append(contentsOf: [0x5c, 0x66])
      case 0x0d: out.append(contentsOf: [0x5c, 0x72])
      default:
        let digits = Array("0123456789abcdef".utf8)
        out.append(contentsOf: [0x5c, 0x75, 0x30, 0x30, digits[Int(c >> 4)], digits[Int(c & 15)]])
      }
    }
    out.append(contentsOf: text[from...])
  }

  /// An integer. No text is made of it on the way.
  public static func append(_ value: Int64, to out: inout [UInt8]) {
    if value < 0 { out.append(0x2d) }
    let start = out.count
    var rest = value.magnitude
    repeat {
      out.append(UInt8(truncatingIfNeeded: 48 + rest % 10))
      rest /= 10
    } while rest > 0
    out[start...].reverse()
  }

  /// A double in the shortest form that reads back the same and reads back as a double: `5.0`, never `5`.
  /// An infinity, which is what a number too large for a double is read as, becomes `1e999`: it reads back the same. NaN, for
  /// which JSON has nothing, becomes `null`.
  public static func append(_ value: Double, to out: inout [UInt8]) {
    let text =
      value.isFinite ? "\(value)" : value.isNaN ? "null" : value > 0 ? "1e999" : "-1e999"
    out.append(contentsOf: text.utf8)
  }
}

extension JSONValue {
  /// Compact JSON text.
  public func serialized() -> [UInt8] {
    var out: [UInt8] = []
    append(to: &out)
    return out
  }

  public var text: String { String(decoding: serialized(), as: UTF8.self) }

  /// Appends compact JSON text. Recursion is as deep as the value, which parsing bounds.
  public func append(to out: inout [UInt8]) {
    switch self {
    case .null: out.append(contentsOf: "null".utf8)
    case .bool(let value): out.append(contentsOf: (value ? "true" : "false").utf8)
    case .integer(let value): JSONText.append(value, to: &out)
    case .number(let value): JSONText.append(value, to: &out)
    case .string(let value): JSONText.appendQuoted(value, to: &out)
    case .array(let elements):
      out.append(0x5b)
      for (i, element) in elements.enumerated() {
        if i > 0 { out.append(0x2c) }
        element.append(to: &out)
      }
      out.append(0x5d)
    case .object(let members): members.append(to: &out)
    }
  }
}

extension JSONObject {
  /// Compact JSON text, keys in order.
  public func serialized() -> [UInt8] { JSONValue.object(self).serialized() }

  public var text: String { JSONValue.object(self).text }

  public func append(to out: inout [UInt8]) {
    out.append(0x7b)
    for (i, member) in enumerated() {
      if i > 0 { out.append(0x2c) }
      JSONText.appendQuoted(member.key, to: &out)
      out.append(0x3a)
      member.value.append(to: &out)
    }
    out.append(0x7d)
  }
}
