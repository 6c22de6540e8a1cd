import JSON
import SandboxServer
import Support

/// Decodes the texts of requests.
enum Text {
  static func bytes(base64 text: String) -> [UInt8]? { Base64.decodeLenient(text) }

  /// Reads the query of a request: each value is parsed as JSON, or kept as text if it is not valid
  /// JSON.
  static func parameters(_ query: [(name: String, value: String)]) -> JSONObject {
    var values = JSONObject()
    for (name, text) in query {
      let value = (try? JSONValue(parsing: Array(text.utf8))).map(Values.javaScript)
      values[name] = value ?? .string(text)
    }
    return values
  }

  /// Reads the query of a request without parsing values.
  static func plainParameters(_ query: [(name: String, value: String)]) -> JSONObject {
    query.reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }
  }

  /// Keys that must not occur anywhere in a request.
  private static let prohibited: Set = ["constructor", "__proto__"]

  /// Returns the first prohibited key in a value; nil if there is none.
  static func prohibitedKey(in value: JSONValue) -> String? {
    switch value {
    case .object(let object):
      for (key, member) in object {
        if prohibited.contains(key) { return key }
        if let found = prohibitedKey(in: member) { return found }
      }
      return nil
    case .array(let items): return items.lazy.compactMap(prohibitedKey).first
    default: return nil
    }
  }
}
