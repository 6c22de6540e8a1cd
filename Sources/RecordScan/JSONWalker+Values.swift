extension JSONWalker {
  /// Steps over one value of any kind.
  /// - Parameter depth: The number of containers that are open around the value.
  /// - Returns: The kind and the slice of the value; for a string, the slice lies between the
  ///   quotes.
  @inlinable
  public mutating func skipValue(depth: Int) throws(ScanError) -> (kind: ValueKind, start: Int, count: Int) {
    skipWhitespace()
    guard p < end else { throw failure("a value is missing") }
    let start = p - base
    let kind: ValueKind
    switch p.pointee {
    case UInt8(ascii: "\""):
      p += 1
      let escaped = try skipString()
      return (escaped ? .escapedString : .plainString, start + 1, p - base - start - 2)
    case UInt8(ascii: "{"):
      try skipContainer(depth: depth)
      kind = .object
    case UInt8(ascii: "["):
      try skipContainer(depth: depth)
      kind = .array
    case UInt8(ascii: "t"):
      try skipLiteral("true")
      kind = .true
    case UInt8(ascii: "f"):
      try skipLiteral("false")
      kind = .false
    case UInt8(ascii: "n"):
      try skipLiteral("null")
      kind = .null
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      try skipNumber()
      kind = .number
    default: throw failure("a value cannot start here")
    }
    return (kind, start, p - base - start)
  }

  /// Steps over an object or an array. ``depthLimit`` bounds the recursion.
  @usableFromInline
  mutating func skipContainer(depth: Int) throws(ScanError) {
    guard depth < depthLimit else { throw failure("nested deeper than \(depthLimit) levels") }
    let isObject = p.pointee == UInt8(ascii: "{"), close: UInt8 = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    p += 1
    skipWhitespace()
    if p < end, p.pointee == close {
      p += 1
      return
    }
    while true {
      if isObject {
        skipWhitespace()
        try expect(UInt8(ascii: "\""), "a key is missing")
        _ = try skipString()
        skipWhitespace()
        try expect(UInt8(ascii: ":"), "':' is missing")
      }
      _ = try skipValue(depth: depth + 1)
      skipWhitespace()
      guard p < end else { throw failure("unterminated") }
      if p.pointee == close {
        p += 1
        return
      }
      try expect(UInt8(ascii: ","), "',' is missing")
    }
  }

  /// Throws unless the bytes are well-formed UTF-8 (no surrogates, no overlong forms).
  @inline(never) @usableFromInline
  func checkUTF8(from start: UnsafePointer<UInt8>, to stop: UnsafePointer<UInt8>) throws(ScanError) {
    var q = start
    while q < stop {
      let c = q.pointee
      if c < 0x80 {
        q += 1
        continue
      }
      let length = JSONWalker.utf8Length(q, stop)
      guard length > 0 else { throw ScanError(offset: q - base, message: "invalid UTF-8") }
      q += length
    }
  }

  /// Returns the length of the multi-byte sequence at `q`; 0 if it is invalid.
  static func utf8Length(_ q: UnsafePointer<UInt8>, _ stop: UnsafePointer<UInt8>) -> Int {
    let c = q.pointee
    let length = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2
    guard c >= 0xc2, c <= 0xf4, stop - q >= length else { return 0 }
    for i in 1..<length where q[i] & 0xc0 != 0x80 { return 0 }
    switch (c, q[1]) {
    case (0xe0, ..<0xa0), (0xed, 0xa0...), (0xf0, ..<0x90), (0xf4, 0x90...): return 0
    default: return length
    }
  }
}
