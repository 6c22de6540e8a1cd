import JSON
import RestClient

/// A header that a target sends in addition to the connection's.
struct HeaderField: Sendable, Equatable {
  let name: String
  let value: Value

  enum Value: Sendable, Equatable {
    case text(String)
    case secret(Source)
  }

  /// The source of a secret. The secret is read when needed, and never appears in a state, a log or
  /// an error.
  enum Source: Sendable, Equatable {
    case environment(String)
    case file(String)
    case command([String])
  }

  var isSecret: Bool { if case .secret = value { true } else { false } }

  /// Reads the headers under a key.
  static func read(_ key: String, _ reader: TargetReader) throws(RestTargetError) -> [HeaderField] {
    guard let object = try reader.object(key) else { return [] }
    var headers: [HeaderField] = []
    for (name, value) in object {
      guard isToken(name) else { throw reader.error(key, "holds '\(name)', which is not a valid header name") }
      guard !managed.contains(name.lowercased()) else {
        throw reader.error(key, "cannot set '\(name)', which the client sets itself")
      }
      headers.append(HeaderField(name: name, value: try self.value(value, name, key, reader)))
    }
    return headers
  }

  /// Headers that the HTTP client sets for each request.
  private static let managed = ["host", "content-length", "connection", "transfer-encoding"]

  static func isToken(_ name: String) -> Bool {
    !name.isEmpty && name.utf8.allSatisfy { (0x21...0x7e).contains($0) && !"\"(),/:;<=>?@[\\]{}".utf8.contains($0) }
  }

  private static func value(
    _ value: JSONValue, _ name: String, _ key: String, _ reader: TargetReader
  ) throws(RestTargetError) -> Value {
    if let text = value.stringValue {
      guard !text.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 || $0 == 0x7f }) else {
        throw reader.error(key, "holds '\(name)', whose value contains a control character")
      }
      return .text(text)
    }
    guard let source = value.objectValue, source.count == 1, let member = source.first(where: { _ in true }) else {
      throw reader.error(key, "holds '\(name)', which must be text or one of {\"env\"}, {\"file\"}, {\"command\"}")
    }
    switch (member.key, member.value) {
    case ("env", .string(let name)) where !name.isEmpty: return .secret(.environment(name))
    case ("file", .string(let path)) where !path.isEmpty: return .secret(.file(path))
    case ("command", .array(let words)):
      let texts = words.compactMap(\.stringValue)
      guard !texts.isEmpty, texts.count == words.count else { break }
      return .secret(.command(texts))
    default: break
    }
    throw reader.error(
      key, "holds '\(name)', which must be text, {\"env\": NAME}, {\"file\": PATH} or {\"command\": [PROGRAM, ...]}")
  }
}

/// The headers of a request for one record, with templates expanded. Secrets are resolved by the
/// connection.
struct RecordHeaders: Sendable {
  private(set) var texts: [TextPair] = []
  private(set) var secrets: [ConnectionSettings.Header] = []

  init(_ fields: [HeaderField], _ values: TemplateValues) throws(URITemplate.Problem) {
    for field in fields {
      guard case .text(let text) = field.value else {
        secrets.append(field.setting)
        continue
      }
      texts.append(TextPair(name: field.name, value: try URITemplate(text, for: .text).expanded { values[$0] }))
    }
  }
}
