/// The key of an object's member as written in the text. Valid as long as the text is.
public struct ScannedKey {
  /// The bytes between the quotes.
  public let raw: UnsafeBufferPointer<UInt8>
  /// Whether the key contains escapes: `"\u0049d"` means `Id`.
  public let isEscaped: Bool

  /// The key with its escapes resolved, in UTF-8.
  public var meaning: [UInt8] {
    guard isEscaped else { return Array(raw) }
    var out: [UInt8] = []
    JSONStringContents.append(raw, to: &out)
    return out
  }

  /// Returns whether the key, with its escapes resolved, equals `wanted`.
  @inline(__always)
  public static func == (key: ScannedKey, wanted: [UInt8]) -> Bool {
    if key.isEscaped { return key.meaning == wanted }
    guard key.raw.count == wanted.count else { return false }
    for i in 0..<wanted.count where key.raw[i] != wanted[i] { return false }
    return true
  }
}

extension JSONWalker {
  /// Steps over a key and its colon.
  @inline(__always)
  public mutating func key() throws(ScanError) -> ScannedKey {
    try expect(UInt8(ascii: "\""), "a key is missing")
    let start = p
    let isEscaped = try skipString()
    let raw = UnsafeBufferPointer(start: start, count: p - start - 1)
    skipWhitespace()
    try expect(UInt8(ascii: ":"), "':' is missing")
    return ScannedKey(raw: raw, isEscaped: isEscaped)
  }

  /// Returns whether the bytes are well-formed UTF-8.
  public static func isUTF8(_ bytes: UnsafeRawBufferPointer) -> Bool {
    let walker = JSONWalker(bytes)
    return (try? walker.checkUTF8(from: walker.base, to: walker.end)) != nil
  }

  /// Returns whether the bytes are exactly one JSON object, apart from white space around it.
  public static func isObject(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var walker = JSONWalker(bytes)
    guard let value = try? walker.skipValue(depth: 0), value.kind == .object else { return false }
    return (try? walker.expectEnd()) != nil
  }
}
