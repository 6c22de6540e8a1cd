import JSON

/// A record's value in the form of a request body. Included objects become pointers, and values
/// that the server would reject are errors.
struct OutgoingValue {
  /// nil for a relation marker, which is not sent.
  let json: JSONValue?
  /// Pointers to objects that have only a local id so far.
  let unresolved: [ParsePointer]

  /// - Throws: ``ParseProblem`` for values that the server rejects with 105, 111 or 121.
  init(_ value: JSONValue) throws(ParseProblem) {
    if case .relation? = try TypedValue.read(value) {
      (json, unresolved) = (nil, [])
      return
    }
    var walk = Walk()
    json = try walk.outgoing(value)
    unresolved = walk.unresolved
  }

  private struct Walk {
    var unresolved: [ParsePointer] = []

    mutating func outgoing(_ value: JSONValue) throws(ParseProblem) -> JSONValue {
      if let typed = try TypedValue.read(value) { return try outgoing(typed, value) }
      switch value {
      case .array(let items):
        var sent: [JSONValue] = []
        for item in items { sent.append(try outgoing(item)) }
        return .array(sent)
      case .object(let members):
        var sent = JSONObject()
        for (key, member) in members {
          try Walk.check(key)
          sent[key] = try outgoing(member)
        }
        return .object(sent)
      default: return value
      }
    }

    /// Dates and bytes keep their spelling, so that a value that was read is sent back unchanged.
    private mutating func outgoing(_ typed: TypedValue, _ value: JSONValue) throws(ParseProblem) -> JSONValue {
      switch typed {
      case .pointer(let pointer), .included(let pointer, _):
        if pointer.isLocal, !unresolved.contains(pointer) { unresolved.append(pointer) }
        return pointer.json
      case .relation:
        throw ParseProblem(description: "a relation is nested in another value; it must be a field of its own")
      case .file(let name, _): return TypedValue.file(name: name, url: nil).json
      case .date, .point, .polygon, .bytes: return value
      }
    }

    private static func check(_ key: String) throws(ParseProblem) {
      guard !key.contains("$"), !key.contains(".") else {
        throw ParseProblem(description: "key '\(key)' inside an object is not valid: it must not contain '$' or '.'")
      }
      guard key != "constructor", key != "__proto__" else {
        throw ParseProblem(description: "key '\(key)' inside an object is not valid: Parse Server rejects this name")
      }
    }
  }
}

extension JSONValue {
  /// Whether two values mean the same on the server. Numbers are compared by value.
  func isSame(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.array(let a), .array(let b)): return a.count == b.count && zip(a, b).allSatisfy { $0.isSame(as: $1) }
    case (.object(let a), .object(let b)):
      return a.count == b.count && a.allSatisfy { key, value in b[key].map { value.isSame(as: $0) } ?? false }
    case (.integer(let a), .integer(let b)): return a == b
    default:
      if let a = doubleValue, let b = other.doubleValue { return a == b }
      return self == other
    }
  }
}
