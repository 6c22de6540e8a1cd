import RecordScan

extension ScannedValue {
  /// The text of a string value, escapes undone; nil for every other kind.
  package func string(in bytes: UnsafeRawBufferPointer) -> String? {
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

  /// What lies between the quotes of a string, or the whole text of another value.
  package func slice(in bytes: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
  }

  /// Appends the value as the JSON text it was.
  package func appendJSON(from bytes: UnsafeRawBufferPointer, to out: inout [UInt8]) {
    let isString = kind == .plainString || kind == .escapedString
    if isString { out.append(UInt8(ascii: "\"")) }
    out.append(contentsOf: slice(in: bytes))
    if isString { out.append(UInt8(ascii: "\"")) }
  }
}
