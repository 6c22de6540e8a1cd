import JSON

/// Converts headers to and from the form in the cache database: a JSON array of alternating names
/// and values.
enum CachedHeaders {
  static func text(_ headers: [CachedResponse.Header]) -> String {
    JSONValue.array(headers.flatMap { [.string($0.name), .string($0.value)] }).text
  }

  /// Returns nil for text that ``text(_:)`` did not produce.
  static func read(_ text: String) -> [(name: String, value: String)]? {
    guard let list = (try? JSONValue(parsing: text))?.arrayValue, list.count % 2 == 0 else { return nil }
    let texts = list.compactMap(\.stringValue)
    guard texts.count == list.count else { return nil }
    return stride(from: 0, to: texts.count, by: 2).map { (name: texts[$0], value: texts[$0 + 1]) }
  }
}
