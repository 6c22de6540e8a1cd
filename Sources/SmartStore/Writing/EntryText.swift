import JSON
import RecordScan

/// Edits the text of entries without parsing it into values.
package enum EntryText {
  /// Copies an object, dropping some first-level members and adding others at its end.
  /// - Throws: ``StoreError`` `.invalidEntry` if `text` is not a JSON object.
  static func rewrite(_ text: [UInt8], dropping: IdSet, adding: JSONObject = [:]) throws -> [UInt8] {
    try text.withUnsafeBytes { try rewrite($0, dropping: dropping, adding: adding) }
  }

  /// Copies an object, dropping some first-level members and adding others at its end.
  package static func rewrite(
    _ text: UnsafeRawBufferPointer, dropping: IdSet, adding: JSONObject = [:]
  ) throws -> [UInt8] {
    var out: [UInt8] = [UInt8(ascii: "{")]
    out.reserveCapacity(text.count + 64)
    try appendMembers(text, dropping: Set(dropping.map { Array($0.utf8) }), to: &out)
    for (key, value) in adding {
      if out.count > 1 { out.append(UInt8(ascii: ",")) }
      JSONText.appendQuoted(key, to: &out)
      out.append(UInt8(ascii: ":"))
      value.append(to: &out)
    }
    out.append(UInt8(ascii: "}"))
    return out
  }

  /// Appends the members of the object in `text`, separated by commas, without its braces.
  package static func appendMembers(_ text: UnsafeRawBufferPointer, dropping: Set<[UInt8]>, to out: inout [UInt8]) throws {
    var walker = JSONWalker(text), isFirst = true
    walker.skipWhitespace()
    try walker.expect(UInt8(ascii: "{"), "an entry must be an object")
    walker.skipWhitespace()
    if walker.p < walker.end, walker.p.pointee == UInt8(ascii: "}") { return }
    while true {
      walker.skipWhitespace()
      let start = walker.offset
      let key = try walker.key()
      _ = try walker.skipValue(depth: 1)
      if !dropping.contains(key.meaning) {
        if !isFirst { out.append(UInt8(ascii: ",")) }
        isFirst = false
        out.append(contentsOf: text[start..<walker.offset])
      }
      walker.skipWhitespace()
      guard walker.p < walker.end else { throw walker.failure("unterminated object") }
      if walker.p.pointee == UInt8(ascii: "}") { return }
      try walker.expect(UInt8(ascii: ","), "',' is missing")
    }
  }
}
