/// Why a text is not JSON, or not the JSON that was asked for.
public struct ScanError: Error, Sendable, Equatable {
  /// Byte offset of the first byte that cannot stand where it stands.
  public let offset: Int
  public let message: String

  public init(offset: Int, message: String) {
    self.offset = offset
    self.message = message
  }
}

/// What kind of JSON value a slice holds.
public enum ValueKind: UInt8, Sendable {
  /// The path does not lead to a value.
  case missing
  /// The slice is the string's contents, without quotes and without any escape in it.
  case plainString
  /// The slice is the string's contents, without quotes, with at least one backslash escape.
  case escapedString
  case number, `true`, `false`, null, object, array
  /// The path leads into an array before it ends: only a full projection can tell the value.
  case arrayStep
}

/// Reads JSON text forwards, validating every byte and never reading past the end.
///
/// Strings are searched 8 bytes at a time. Nothing is allocated. The whole grammar is checked (RFC 8259, UTF-8 included), so a
/// slice that was walked over is valid JSON text and can be stored as it is.
public struct JSONWalker {
  public let base: UnsafePointer<UInt8>
  public let end: UnsafePointer<UInt8>
  public var p: UnsafePointer<UInt8>
  /// A string that was walked over escapes half of a surrogate pair. It means U+FFFD: see
  /// ``JSONStringContents/replaceLoneSurrogates(in:)``.
  public internal(set) var hasLoneSurrogate = false

  /// Deeper nesting is refused: SQLite's own JSON functions stop at 2,000 levels, people's documents long before.
  public static let maximumDepth = 1000

  /// - Parameter bytes: Must stay valid and unchanged while the walker is used.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? JSONWalker.nothing
    base = start
    p = start
    end = start + bytes.count
  }

  /// A place for empty buffers to point to: they have no base address of their own.
  @usableFromInline nonisolated(unsafe) static let nothing: UnsafePointer<UInt8> = {
    let place = UnsafeMutablePointer<UInt8>.allocate(capacity: 1)
    place.initialize(to: 0)
    return UnsafePointer(place)
  }()

  @inlinable public var offset: Int { p - base }

  @inline(never)
  public func failure(_ message: String) -> ScanError {
    ScanError(offset: p - base, message: p >= end ? "the text ends too early" : message)
  }

  @inlinable @inline(__always)
  public mutating func skipWhitespace() {
    // Nearly always there is none.
    guard p < end, p.pointee <= UInt8(ascii: " ") else { return }
    skipBlanks()
  }

  @inline(never) @usableFromInline
  mutating func skipBlanks() {
    while p < end {
      switch p.pointee {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): p += 1
      default: return
      }
    }
  }

  @inlinable @inline(__always)
  public mutating func expect(_ byte: UInt8, _ message: StaticString) throws(ScanError) {
    guard p < end, p.pointee == byte else { throw failure(message.description) }
    p += 1
  }

  /// The text must hold nothing more than white space.
  public mutating func expectEnd() throws(ScanError) {
    skipWhitespace()
    if p < end { throw failure("unexpected text after the value") }
  }

  /// Steps over a string whose opening quote is already behind; stops behind the closing one.
  /// - Returns: True when the contents hold an escape.
  @inlinable @inline(__always)
  public mutating func skipString() throws(ScanError) -> Bool {
    // A copy that stays in a register; `p` itself is written at the end, and before anything else looks at it.
    let start = p, end = end
    var q = start, escaped = false, high: UInt64 = 0
    while true {
      if q + 8 <= end {
        let w = UnsafeRawPointer(q).loadUnaligned(as: UInt64.self)
        let quote = w ^ 0x2222_2222_2222_2222, backslash = w ^ 0x5c5c_5c5c_5c5c_5c5c
        let ones: UInt64 = 0x0101_0101_0101_0101
        let hit =
          ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash | (w &- 0x2020_2020_2020_2020) & ~w)
          & 0x8080_8080_8080_8080
        high |= w
        if hit == 0 {
          q += 8
          continue
        }
        q += hit.trailingZeroBitCount >> 3
      } else {
        guard q < end else {
          p = q
          throw failure("unterminated string")
        }
        high |= UInt64(q.pointee)
      }
      let c = q.pointee
      if c == UInt8(ascii: "\"") {
        // `high` may hold bytes behind the quote: then the check is made once too often, never too seldom.
        if high & 0x8080_8080_8080_8080 != 0 { try checkUTF8(from: start, to: q) }
        p = q + 1
        return escaped
      }
      p = q
      if c == UInt8(ascii: "\\") {
        escaped = true
        try skipEscape()
        q = p
      } else if c < UInt8(ascii: " ") {
        throw failure("control character in a string")
      } else {
        q += 1
      }
    }
  }

  @inline(never) @usableFromInline
  mutating func skipEscape() throws(ScanError) {
    p += 1
    guard p < end else { throw failure("unterminated string") }
    switch p.pointee {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"),
      UInt8(ascii: "r"), UInt8(ascii: "t"):
      p += 1
    case UInt8(ascii: "u"):
      p += 1
      try skipUnicode()
    default: throw failure("unknown escape in a string")
    }
  }

  /// Steps over the digits of a `\u` escape, and over the second half of a surrogate pair.
  private mutating func skipUnicode() throws(ScanError) {
    let start = p
    for _ in 0..<4 {
      guard p < end, JSONWalker.hexDigit(p.pointee) != nil else { throw failure("bad \\u escape") }
      p += 1
    }
    switch JSONStringContents.unit(UnsafeBufferPointer(start: start, count: end - start)) {
    case .scalar: break
    case .pair: p += 6
    case .loneSurrogate: hasLoneSurrogate = true
    }
  }

  @inlinable
  public static func hexDigit(_ c: UInt8) -> UInt32? {
    switch c {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(c - UInt8(ascii: "0"))
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(c - UInt8(ascii: "A") + 10)
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(c - UInt8(ascii: "a") + 10)
    default: nil
    }
  }

  @inlinable
  public mutating func skipNumber() throws(ScanError) {
    if p < end, p.pointee == UInt8(ascii: "-") { p += 1 }
    guard p < end else { throw failure("bad number") }
    if p.pointee == UInt8(ascii: "0") { p += 1 } else { try skipDigits() }
    if p < end, p.pointee == UInt8(ascii: ".") {
      p += 1
      try skipDigits()
    }
    if p < end, p.pointee | 0x20 == UInt8(ascii: "e") {
      p += 1
      if p < end, p.pointee == UInt8(ascii: "+") || p.pointee == UInt8(ascii: "-") { p += 1 }
      try skipDigits()
    }
  }

  @inlinable
  mutating func skipDigits() throws(ScanError) {
    guard p < end, p.pointee &- UInt8(ascii: "0") < 10 else { throw failure("bad number") }
    repeat { p += 1 } while p < end && p.pointee &- UInt8(ascii: "0") < 10
  }

  @inlinable
  public mutating func skipLiteral(_ text: StaticString) throws(ScanError) {
    for i in 0..<text.utf8CodeUnitCount {
      guard p < end, p.pointee == text.utf8Start[i] else { throw failure("bad literal") }
      p += 1
    }
  }
}
