import JSON
import SandboxServer
import Support

/// Texts of requests.
enum Text {
  static func bytes(base64 text: String) -> [UInt8]? { Base64.decodeLenient(text) }

  /// The query of a request: each value is tried as JSON and kept as text when it is none.
  static func parameters(_ query: [(name: String, value: String)]) -> JSONObject {
    var values = JSONObject()
    for (name, text) in query {
      let value = (try? JSONValue(parsing: Array(text.utf8))).map(Values.javaScript)
      values[name] = value ?? .string(text)
    }
    return values
  }

  /// Names that must not stand anywhere in a request.
  private static let prohibited: Set = ["constructor", "__proto__"]

  /// The first prohibited name in a value; nil when there is none.
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
