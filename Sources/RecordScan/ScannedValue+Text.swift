extension ScannedValue {
  /// Returns the text of a string value with its escapes resolved; nil for other kinds.
  public func string(in bytes: UnsafeRawBufferPointer) -> String? {
    switch kind {
    case .plainString:
      return String(decoding: slice(in: bytes), as: UTF8.self)
    case .escapedString:
      var text: [UInt8] = []
      slice(in: bytes).withMemoryRebound(to: UInt8.self) { JSONStringContents.append($0, to: &text) }
      return String(decoding: text, as: UTF8.self)
    default:
      return nil
    }
  }

  /// Returns the bytes between the quotes of a string, or the whole text of another value.
  public func slice(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
  }

  /// Appends the value as JSON text, unchanged.
  public func appendJSON(from bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    let isString = kind == .plainString || kind == .escapedString
    if isString { out.append(UInt8(ascii: "\"")) }
    out.append(contentsOf: slice(in: bytes))
    if isString { out.append(UInt8(ascii: "\"")) }
  }
}
