/// Why a text is not valid JSON, or not the expected JSON.
public struct ScanError: Error, Sendable, Equatable {
  /// The offset of the first invalid byte.
  public let offset: Int
  public let message: String

  public init(offset: Int, message: String) {
    self.offset = offset
    self.message = message
  }
}

/// The kind of a scanned JSON value.
public enum ValueKind: UInt8, Sendable {
  /// The path leads to no value.
  case missing
  /// The slice is the string's contents, without quotes and without escapes.
  case plainString
  /// The slice is the string's contents, without quotes and with at least one backslash escape.
  case escapedString
  case number, `true`, `false`, null, object, array
  /// The path enters an array before its last step: only a full projection finds the value.
  case arrayStep
}

/// Walks through JSON text, validating every byte and never reading past the end.
///
/// Strings are scanned 8 bytes at a time, and nothing is allocated. The whole grammar is checked
/// (RFC 8259, UTF-8 included), so a slice that the walker has passed is valid JSON text and can be
/// stored unchanged.
public struct JSONWalker {
  public let base: UnsafePointer<UInt8>
  public let end: UnsafePointer<UInt8>
  public var p: UnsafePointer<UInt8>
  /// Whether a string contained an escaped half of a surrogate pair. Such a half stands for U+FFFD:
  /// see ``JSONStringContents/replaceLoneSurrogates(in:)``.
  public internal(set) var hasLoneSurrogate = false

  /// The deepest nesting that is accepted. SQLite's JSON functions stop at 2,000 levels; real
  /// documents stay far below.
  public static let maximumDepth = 1000

  /// How deep containers may be nested in this text; at most ``maximumDepth``.
  public var depthLimit: Int

  /// - Parameter bytes: Must stay valid and unchanged while the walker is used.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer) {
    let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) ?? JSONWalker.nothing
    base = start
    p = start
    end = start + bytes.count
    depthLimit = JSONWalker.maximumDepth
  }

  /// A valid pointer for empty buffers, which have no base address.
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
    // Usually there is none.
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

  /// Throws unless only white space is left.
  public mutating func expectEnd() throws(ScanError) {
    skipWhitespace()
    if p < end { throw failure("unexpected text after the value") }
  }

  /// Steps over a string after its opening quote and stops after the closing one.
  /// - Returns: True if the contents have an escape.
  @inlinable @inline(__always)
  public mutating func skipString() throws(ScanError) -> Bool {
    // A copy that stays in a register; `p` is written back at the end and before other code reads
    // it.
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
        // `high` may include bytes after the quote. Then the check is made needlessly, but it is
        // never skipped wrongly.
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
