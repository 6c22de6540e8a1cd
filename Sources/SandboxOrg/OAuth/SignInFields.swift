import JSON

/// Reads typed members of an object; errors name the member with its path.
struct SignInFields {
  let object: JSONObject
  private let place: String

  init(_ json: JSONValue, _ place: String, _ known: [String]) throws(SandboxError) {
    self.place = place
    guard let object = json.objectValue else { throw Self.error("\(place) must be an object") }
    self.object = object
    for member in object where !known.contains(member.key) {
      throw Self.error("\(place) has an unknown key '\(member.key)'; known are \(known.joined(separator: ", "))")
    }
  }

  func array(_ key: String) throws(SandboxError) -> [JSONValue] {
    guard let value = object[key] else { return [] }
    guard let array = value.arrayValue else { throw wrong(key, "must be a list") }
    return array
  }

  func text(_ key: String) throws(SandboxError) -> String? {
    guard let value = object[key], !value.isNull else { return nil }
    guard let text = value.stringValue else { throw wrong(key, "must be a string") }
    return text
  }

  func required(_ key: String) throws(SandboxError) -> String {
    guard let text = try text(key), !text.isEmpty else { throw wrong(key, "is missing") }
    return text
  }

  func flag(_ key: String) throws(SandboxError) -> Bool? {
    guard let value = object[key] else { return nil }
    guard let flag = value.boolValue else { throw wrong(key, "must be true or false") }
    return flag
  }

  func seconds(_ key: String) throws(SandboxError) -> Int64? {
    guard let value = object[key] else { return nil }
    guard let seconds = value.integerValue, (1...Int64(ServerTuning.faultSeconds)).contains(seconds) else {
      throw wrong(key, "must be a number of seconds, 1 to \(ServerTuning.faultSeconds)")
    }
    return seconds
  }

  /// Reads one of the names of an enumeration.
  func choice<Value: RawRepresentable & CaseIterable>(_ key: String) throws(SandboxError) -> Value?
  where Value.RawValue == String {
    guard let text = try text(key) else { return nil }
    guard let value = Value(rawValue: text) else { throw wrong(key, "must be one of \(Self.names(of: Value.self))") }
    return value
  }

  func choices<Value: RawRepresentable & CaseIterable & Hashable>(_ key: String) throws(SandboxError) -> Set<Value>?
  where Value.RawValue == String {
    guard let texts = try texts(key) else { return nil }
    let values = texts.compactMap { Value(rawValue: $0) }
    guard values.count == texts.count else { throw wrong(key, "must be a list of \(Self.names(of: Value.self))") }
    return Set(values)
  }

  private static func names<Value: RawRepresentable & CaseIterable>(of type: Value.Type) -> String
  where Value.RawValue == String { type.allCases.map(\.rawValue).joined(separator: ", ") }

  func texts(_ key: String) throws(SandboxError) -> [String]? {
    guard object[key] != nil else { return nil }
    var texts: [String] = []
    for value in try array(key) {
      guard let text = value.stringValue else { throw wrong(key, "must be a list of strings") }
      texts.append(text)
    }
    return texts
  }

  func place(of key: String) -> String { "\(place).\(key)" }

  func wrong(_ key: String, _ reason: String) -> SandboxError { Self.error("\(place): '\(key)' \(reason)") }

  private static func error(_ message: String) -> SandboxError {
    SandboxError(status: 0, code: "BAD_SIGN_IN_DATA", message: message)
  }
}
