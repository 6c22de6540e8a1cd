import JSON

/// The responses to earlier requests of a composite call, and the references `@{id.path}` to parts
/// of them.
struct CompositeReferences {
  private enum Answer {
    case text([UInt8])
    case value(JSONValue)
    case failed
  }
  private enum Step: Equatable {
    case member(String)
    case element(Int)
  }

  private var answers: [String: Answer] = [:]

  mutating func add(_ id: String, _ reply: ServerReply) { answers[id] = reply.isFailure ? .failed : .text(reply.body) }

  /// - Throws: ``SandboxError`` `PROCESSING_HALTED` for an unresolvable reference.
  mutating func resolve(_ request: inout Subrequest) throws(SandboxError) {
    for index in request.segments.indices { request.segments[index] = try resolved(request.segments[index]) }
    for index in request.query.indices { request.query[index].value = try resolved(request.query[index].value) }
    for (name, value) in request.headers { request.headers[name] = try resolved(value) }
    if let body = request.body { request.body = try resolved(body) }
  }

  private mutating func resolved(_ value: JSONValue) throws(SandboxError) -> JSONValue {
    switch value {
    case .string(let text): return .string(try resolved(text))
    case .array(let elements):
      var out: [JSONValue] = []
      for element in elements { out.append(try resolved(element)) }
      return .array(out)
    case .object(let members):
      var out = members
      for (key, member) in members { out[key] = try resolved(member) }
      return .object(out)
    default: return value
    }
  }

  /// Replaces every `@{…}` in a text. An opening without an end is plain text.
  mutating func resolved(_ text: String) throws(SandboxError) -> String {
    let bytes = Array(text.utf8)
    guard bytes.contains(UInt8(ascii: "@")) else { return text }
    var out: [UInt8] = []
    var index = 0
    while index < bytes.count {
      if bytes[index] == UInt8(ascii: "@"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: "{"),
        let end = bytes[index...].firstIndex(of: UInt8(ascii: "}"))
      {
        out += try value(of: String(decoding: bytes[(index + 2)..<end], as: UTF8.self)).utf8
        index = end + 1
      } else {
        out.append(bytes[index])
        index += 1
      }
    }
    return String(decoding: out, as: UTF8.self)
  }

  private mutating func value(of reference: String) throws(SandboxError) -> String {
    let id = String(reference.prefix { $0 != "." && $0 != "[" })
    guard let steps = Self.steps(reference.dropFirst(id.count)), var value = root(id) else { throw Self.broken(reference, id) }
    for step in steps {
      switch step {
      case .member(let name):
        guard let member = value[name] else { throw Self.broken(reference, id) }
        value = member
      case .element(let position):
        guard let list = value.arrayValue, list.indices.contains(position) else { throw Self.broken(reference, id) }
        value = list[position]
      }
    }
    switch value {
    case .string(let text): return text
    case .bool, .integer, .number, .decimal: return value.text
    case .null, .array, .object: throw Self.broken(reference, id)
    }
  }

  /// Returns a response, which is parsed on first use.
  private mutating func root(_ id: String) -> JSONValue? {
    switch answers[id] {
    case .value(let value)?: return value
    case .text(let text)?:
      let value = (try? JSONValue(parsing: text)) ?? .null
      answers[id] = .value(value)
      return value
    case .failed?, nil: return nil
    }
  }

  /// Parses a path such as `.records[0].Id`; nil if it is invalid.
  private static func steps(_ path: Substring) -> [Step]? {
    var steps: [Step] = []
    var rest = path
    while let first = rest.popFirst() {
      if first == "." {
        let name = rest.prefix { $0 != "." && $0 != "[" }
        guard !name.isEmpty else { return nil }
        steps.append(.member(String(name)))
        rest = rest.dropFirst(name.count)
      } else {
        let digits = rest.prefix { $0 != "]" }
        guard first == "[", let position = Int(digits), position >= 0, digits.count < rest.count else { return nil }
        steps.append(.element(position))
        rest = rest.dropFirst(digits.count + 1)
      }
    }
    return steps
  }

  private static func broken(_ reference: String, _ id: String) -> SandboxError {
    SandboxError(
      status: 400, code: "PROCESSING_HALTED",
      message: "Invalid reference specified. No value for \(reference) found in \(id)")
  }
}
