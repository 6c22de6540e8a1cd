import JSON

/// Headers as the cache's database keeps them: a JSON array of names and values, one after the other.
enum CachedHeaders {
  static func text(_ headers: [CachedResponse.Header]) -> String {
    JSONValue.array(headers.flatMap { [.string($0.name), .string($0.value)] }).text
  }

  /// Nil for anything else than ``text(_:)`` makes.
  static func read(_ text: String) -> [(name: String, value: String)]? {
    guard let list = (try? JSONValue(parsing: text))?.arrayValue, list.count % 2 == 0 else { return nil }
    let texts = list.compactMap(\.stringValue)
    guard texts.count == list.count else { return nil }
    return stride(from: 0, to: texts.count, by: 2).map { (name: texts[$0], value: texts[$0 + 1]) }
  }
}
