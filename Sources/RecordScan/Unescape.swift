/// Decodes the contents of JSON strings.
public enum JSONStringContents {
  /// Appends the decoded text to `out`. Lone surrogates become U+FFFD.
  /// - Parameter contents: The text between the quotes. A ``JSONWalker`` must have passed it, so
  ///   that every escape is complete.
  public static func append(_ contents: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    var i = 0
    while i < contents.count {
      let c = contents[i]
      i += 1
      guard c == UInt8(ascii: "\\"), i < contents.count else {
        out.append(c)
        continue
      }
      let e = contents[i]
      i += 1
      switch e {
      case UInt8(ascii: "b"): out.append(0x08)
      case UInt8(ascii: "f"): out.append(0x0c)
      case UInt8(ascii: "n"): out.append(UInt8(ascii: "\n"))
      case UInt8(ascii: "r"): out.append(UInt8(ascii: "\r"))
      case UInt8(ascii: "t"): out.append(UInt8(ascii: "\t"))
      case UInt8(ascii: "u"): i = appendUnicode(contents, i, to: &out)
      default: out.append(e)
      }
    }
  }

  /// Replaces every escaped lone surrogate by U+FFFD, in place: both escapes take six bytes.
  /// Decoders with strict Unicode rules reject a text that contains such a half.
  /// - Parameter text: JSON text that a ``JSONWalker`` has passed.
  public static func replaceLoneSurrogates(in text: UnsafeMutableRawBufferPointer) {
    let bytes = UnsafeBufferPointer(text.bindMemory(to: UInt8.self))
    var i = 0
    while i + 1 < bytes.count {
      guard bytes[i] == UInt8(ascii: "\\") else {
        i += 1
        continue
      }
      guard bytes[i + 1] == UInt8(ascii: "u") else {
        i += 2
        continue
      }
      let unit = unit(UnsafeBufferPointer(rebasing: bytes[(i + 2)...]))
      if unit == .loneSurrogate { text[(i + 2)..<(i + 6)].copyBytes(from: "fffd".utf8) }
      i += unit.isPair ? 12 : 6
    }
  }

  /// The meaning of a `\u` escape, together with a following one if they form a surrogate pair.
  enum Unit: Equatable {
    case scalar(UInt32)
    /// A surrogate pair: the escape of its second half takes six more bytes.
    case pair(UInt32)
    case loneSurrogate

    var isPair: Bool { if case .pair = self { true } else { false } }
  }

  /// Decodes one escape.
  /// - Parameter digits: Text that begins with four hexadecimal digits.
  static func unit(_ digits: UnsafeBufferPointer<UInt8>) -> Unit {
    guard let first = hex(digits, 0) else { return .loneSurrogate }
    guard first & 0xf800 == 0xd800 else { return .scalar(first) }
    guard first & 0xfc00 == 0xd800, digits.count >= 10, digits[4] == UInt8(ascii: "\\"), digits[5] == UInt8(ascii: "u"),
      let second = hex(digits, 6), second & 0xfc00 == 0xdc00
    else { return .loneSurrogate }
    return .pair(0x10000 + (first - 0xd800) << 10 + (second - 0xdc00))
  }

  /// Decodes the escape whose digits start at `at`.
  /// - Returns: The position after the escape, or after both halves of a surrogate pair.
  private static func appendUnicode(_ contents: UnsafeBufferPointer<UInt8>, _ at: Int, to out: inout [UInt8]) -> Int {
    guard at + 4 <= contents.count else { return at }
    let unit = unit(UnsafeBufferPointer(rebasing: contents[at...]))
    let scalar: UInt32 =
      switch unit {
      case .scalar(let value), .pair(let value): value
      case .loneSurrogate: 0xfffd
      }
    out.append(contentsOf: String(UnicodeScalar(scalar) ?? "\u{fffd}").utf8)
    return at + (unit.isPair ? 10 : 4)
  }

  private static func hex(_ contents: UnsafeBufferPointer<UInt8>, _ at: Int) -> UInt32? {
    guard at + 4 <= contents.count else { return nil }
    var value: UInt32 = 0
    for i in at..<at + 4 {
      guard let digit = JSONWalker.hexDigit(contents[i]) else { return nil }
      value = value << 4 | digit
    }
    return value
  }
}
