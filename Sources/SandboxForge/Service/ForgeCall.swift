import JSON
import SandboxServer

/// A request whose caller is known.
struct ForgeCall {
  let request: ServerRequest
  /// The values of the route's placeholders.
  let parameters: [String: String]
  /// nil without a token.
  let caller: Account?
  let settings: ForgeSettings
  let now: Int64

  func parameter(_ name: String) -> String { parameters[name] ?? "" }
  func id(_ name: String) -> Int64? { Int64(parameter(name)) }

  /// The API's base URL, as this client addresses it.
  var base: String { request.origin + request.mountPath }

  /// - Throws: ``ForgeError`` 401.
  func user() throws -> Account {
    guard let caller else { throw ForgeError.requiresAuthentication }
    return caller
  }

  /// Parses the body.
  ///
  /// - Throws: ``ForgeError`` 400.
  func body() throws -> JSONObject {
    guard let value = try? JSONValue(parsing: request.body) else { throw ForgeError.notJSON }
    guard let object = value.objectValue else { throw ForgeError.notAnObject }
    return object
  }

  /// Returns a query parameter that is a timestamp.
  ///
  /// - Throws: ``ForgeError`` 422 if it cannot be read.
  func moment(_ name: String, of resource: String) throws -> Int64? {
    guard let text = request.parameter(name), !text.isEmpty else { return nil }
    guard let seconds = ForgeTime.seconds(parsing: text) else {
      throw ForgeError.invalid([.init(resource: resource, field: name, code: .invalid)])
    }
    return seconds
  }

  /// Returns a query parameter that must be one of several words.
  ///
  /// - Throws: ``ForgeError`` 422.
  func choice<T: RawRepresentable>(_ name: String, _ fallback: T, of resource: String) throws -> T where T.RawValue == String {
    guard let text = request.parameter(name), !text.isEmpty else { return fallback }
    guard let value = T(rawValue: text) else {
      throw ForgeError.invalid([.init(resource: resource, field: name, code: .invalid)])
    }
    return value
  }
}

/// Reads the members of a body and collects all problems with them.
struct BodyReader {
  let values: JSONObject
  let resource: String
  private(set) var problems: [ForgeError.Item] = []

  init(_ values: JSONObject, _ resource: String) {
    self.values = values
    self.resource = resource
  }

  func has(_ name: String) -> Bool { values[name] != nil }

  mutating func add(_ field: String, _ code: ForgeError.Item.Code, _ message: String? = nil) {
    problems.append(.init(resource: resource, field: field, code: code, message: message))
  }

  /// Reads a text or null (`.some(nil)`); nil if the member is missing or invalid.
  mutating func text(_ name: String, upTo limit: Int = Tuning.bodyCharacters) -> String?? {
    guard let value = values[name] else { return nil }
    if value.isNull { return .some(nil) }
    guard let text = value.stringValue, text.count <= limit else {
      add(name, .invalid)
      return nil
    }
    return .some(text)
  }

  mutating func flag(_ name: String) -> Bool? {
    guard let value = values[name], !value.isNull else { return nil }
    if value.boolValue == nil { add(name, .invalid) }
    return value.boolValue
  }

  /// Reads an array of strings or of objects with a `name`.
  mutating func names(_ name: String) -> [String]? {
    guard let value = values[name], !value.isNull else { return nil }
    let names = value.arrayValue?.map { $0.stringValue ?? $0["name"]?.stringValue }
    guard let names, !names.contains(nil) else {
      add(name, .invalid)
      return nil
    }
    return names.compactMap { $0 }
  }

  /// - Throws: ``ForgeError`` 422 with all problems.
  func check() throws {
    guard problems.isEmpty else { throw ForgeError.invalid(problems) }
  }
}
