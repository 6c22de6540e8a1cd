import JSON

/// A value of a schema file with its path, for messages such as `schema.json:
/// objects[0].fields[2].type: 'strng' is not a known field type`.
struct SchemaNode {
  let file: String
  let path: String
  let value: JSONValue

  func mistake(_ text: String) -> SandboxError { Self.mistake(file, path, text) }

  static func mistake(_ file: String, _ path: String, _ text: String) -> SandboxError {
    SandboxError(
      status: 0, code: "INVALID_SCHEMA_FILE", message: path.isEmpty ? "\(file): \(text)" : "\(file): \(path): \(text)")
  }

  /// - Throws: If the value is not an object, or has other keys.
  func allow(_ keys: [String]) throws(SandboxError) {
    guard let object = value.objectValue else { throw mistake("must be an object, not \(value.kindName)") }
    for key in object.keys where !keys.contains(key) {
      throw mistake("'\(key)' is not known here; known: \(keys.joined(separator: ", "))")
    }
  }

  private func member(_ key: String, _ value: JSONValue) -> SchemaNode {
    SchemaNode(file: file, path: path.isEmpty ? key : "\(path).\(key)", value: value)
  }

  func optional(_ key: String) throws(SandboxError) -> SchemaNode? {
    guard let found = value[key], !found.isNull else { return nil }
    return member(key, found)
  }

  func required(_ key: String) throws(SandboxError) -> SchemaNode {
    guard let node = try optional(key) else { throw mistake("'\(key)' is missing") }
    return node
  }

  /// Returns the elements of a list; none if the key is missing.
  func list(_ key: String) throws(SandboxError) -> [SchemaNode] {
    guard let node = try optional(key) else { return [] }
    guard let elements = node.value.arrayValue else { throw node.mistake("must be a list, not \(node.value.kindName)") }
    return elements.enumerated().map { SchemaNode(file: file, path: "\(node.path)[\($0)]", value: $1) }
  }

  func string() throws(SandboxError) -> String {
    guard let text = value.stringValue, !text.isEmpty else { throw mistake("must be text that is not empty") }
    return text
  }

  func boolean() throws(SandboxError) -> Bool {
    guard let flag = value.boolValue else { throw mistake("must be true or false, not \(value.kindName)") }
    return flag
  }

  func integer(_ range: ClosedRange<Int>) throws(SandboxError) -> Int {
    guard let number = value.integerValue.flatMap({ Int(exactly: $0) }), range.contains(number) else {
      throw mistake("must be a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Reads one of several words.
  func word<T: RawRepresentable & CaseIterable>(_ type: T.Type, _ what: String) throws(SandboxError) -> T
  where T.RawValue == String {
    let text = try string()
    guard let found = T(rawValue: text) else {
      throw mistake("'\(text)' is not a known \(what); use one of \(T.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    return found
  }

  func flag(_ key: String) throws(SandboxError) -> Bool { try optional(key)?.boolean() ?? false }
}
