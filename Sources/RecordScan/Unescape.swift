/// Turns the contents of a JSON string, as they stand between the quotes, into the text they mean.
public enum JSONStringContents {
  /// Appends the text to `out`. Lone surrogates become U+FFFD.
  /// - Parameter contents: Contents that a ``JSONWalker`` has stepped over, so every escape is complete.
  public static func append(_ contents: UnsafeBufferPointer<UInt8>, to out: inout [UInt8]) {
    var i = 0
    while i < contents.count {
      let c = contents[i]
      i += 1
      guard c == 0x5c, i < contents.count else {
        out.append(c)
        continue
      }
      let e = contents[i]
      i += 1
      switch e {
      case 0x62: out.append(0x08)
      case 0x66: out.append(0x0c)
      case 0x6e: out.append(0x0a)
      case 0x72: out.append(0x0d)
      case 0x74: out.append(0x09)
      case 0x75: i = appendUnicode(contents, i, to: &out)
      default: out.append(e)
      }
    }
  }

  /// - Returns: The position behind the escape, which may be a surrogate pair.
  private static func appendUnicode(_ contents: UnsafeBufferPointer<UInt8>, _ at: Int, to out: inout [UInt8]) -> Int {
    guard let first = hex(contents, at) else { return at }
    var next = at + 4, scalar = first
    if first & 0xfc00 == 0xd800, next + 6 <= contents.count, contents[next] == 0x5c, contents[next + 1] == 0x75,
      let second = hex(contents, next + 2), second & 0xfc00 == 0xdc00
    {
      scalar = 0x10000 + (first - 0xd800) << 10 + (second - 0xdc00)
      next += 6
    }
    out.append(contentsOf: String(UnicodeScalar(scalar) ?? "\u{fffd}").utf8)
    return next
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
