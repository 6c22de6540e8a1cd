import JSON

/// Keeps answers small although a record may have megabytes: people see the beginning of a long text and its size.
enum Clipping {
  /// Returns a record with its long texts cut, if it is a large one.
  static func record(_ value: JSONValue) -> JSONValue {
    value.serialized().count <= Limits.recordBytes ? value : cut(value, Limits.textBytes)
  }

  /// Returns a value with texts of at most `most` bytes.
  static func cut(_ value: JSONValue, _ most: Int) -> JSONValue {
    switch value {
    case .string(let text): return .string(cut(text, most))
    case .array(let elements):
      let kept = elements.prefix(Limits.rows).map { cut($0, most) }
      return .array(elements.count > kept.count ? kept + [.string("… (\(elements.count) elements)")] : kept)
    case .object(let object): return .object(JSONObject(object.map { ($0.key, cut($0.value, most)) }))
    default: return value
    }
  }

  private static func cut(_ text: String, _ most: Int) -> String {
    let count = text.utf8.count
    guard count > most else { return text }
    var end = text.utf8.index(text.startIndex, offsetBy: most)
    // Not within a character.
    while end > text.startIndex, end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
    return String(text[..<end]) + "… (\(count) bytes)"
  }
}
