import JSON

/// Describes the arguments of a plug-in's actions. They are checked before the plug-in gets a call.
///
/// The JSON form is `{"service"?, "summary"?, "types"?, "actions": {name: action}}`. An action has the form of the files in
/// `bridge-spec/actions`: `summary`, `arguments`, `oneOf`, `ignored`, `open`, `result`, `errors`. Arguments that are not listed
/// are refused, unless the action is `open`.
public struct PluginSpec: Sendable {
  /// The rules by action.
  let rules: [String: ArgumentRules]

  /// The names of the actions, sorted.
  var actions: [String] { rules.keys.sorted() }

  /// - Parameters:
  ///   - text: JSON text of the form above.
  ///   - service: The plug-in's name, which `service` must match; nil accepts any.
  /// - Throws: ``BridgeError`` `invalidArguments`, naming the key.
  public init(parsing text: String, service: String? = nil) throws(BridgeError) {
    let value: JSONValue
    do {
      value = try JSONValue(parsing: Array(text.utf8))
    } catch {
      throw .bridge(.invalidArguments, "spec: not JSON: \(error.message) at offset \(error.offset)")
    }
    try self.init(value, service: service)
  }

  /// Reads the spec from a value. - Throws: ``BridgeError`` `invalidArguments`, naming the key.
  public init(_ value: JSONValue, service: String? = nil) throws(BridgeError) {
    let spec = try Self.object(value, at: "spec", keys: ["service", "summary", "types", "actions"])
    if let named = spec["service"], let service, named.stringValue != service {
      throw .bridge(.invalidArguments, "spec: 'service' must be '\(service)', the name that is registered")
    }
    let reader = SpecReader(types: try Self.object(spec["types"] ?? .object([:]), at: "spec.types"))
    var rules: [String: ArgumentRules] = [:]
    for (name, action) in try Self.object(spec["actions"] ?? .null, at: "spec.actions") {
      rules[name] = try reader.rules(action, at: "spec.actions.\(name)")
    }
    self.rules = rules
  }

  /// Bytes of a name in a spec.
  private static let nameLimit = 255

  /// Returns the object of a value. - Parameter keys: The allowed keys; nil allows any.
  static func object(_ value: JSONValue, at path: String, keys: [String]? = nil) throws(BridgeError) -> JSONObject {
    guard let object = value.objectValue else {
      throw .bridge(.invalidArguments, "\(path) must be an object, got \(value.kindName)")
    }
    if let long = object.keys.first(where: { $0.utf8.count > nameLimit }) {
      throw .bridge(.invalidArguments, "\(path): the name '\(long.prefix(100))…' is longer than \(nameLimit) bytes")
    }
    if let keys, let unknown = KnownKeys(keys).unknown(in: object) {
      throw .bridge(.invalidArguments, "\(path): the key '\(unknown.key)' \(unknown.complaint)")
    }
    return object
  }
}

/// Reads the actions of a spec.
private struct SpecReader {
  private static let actionKeys = [
    "service", "action", "lua", "summary", "arguments", "oneOf", "ignored", "open", "result", "errors", "example",
  ]
  private static let valueKeys = [
    "type", "elements", "values", "fields", "required", "default", "minimum", "maximum", "maxLength", "meaning", "nullable",
  ]
  private static let plain: [String: Shape] = [
    "string": .string, "integer": .integer, "number": .number, "boolean": .boolean, "any": .any, "fieldlist": .fieldlist,
  ]
  /// The depth below which arguments are not checked. A type may refer to itself.
  private static let depthLimit = 16

  /// The most shapes of a spec: types that refer to each other become one for each place where they
  /// are used.
  private static let shapeLimit = 10_000

  /// The types that the spec defines.
  let types: JSONObject
  private let shapes = Counter()

  init(types: JSONObject) { self.types = types }

  private final class Counter { var count = 0 }

  func rules(_ value: JSONValue, at path: String) throws(BridgeError) -> ArgumentRules {
    let action = try PluginSpec.object(value, at: path, keys: Self.actionKeys)
    let listed = try PluginSpec.object(action["arguments"] ?? .object([:]), at: "\(path).arguments")
    let fields = try fields(listed, at: "\(path).arguments", depth: 0)
    let oneOf = try names(action["oneOf"], at: "\(path).oneOf")
    if let unknown = oneOf.first(where: { listed[$0] == nil }) {
      throw .bridge(.invalidArguments, "\(path).oneOf names '\(unknown)', which is not an argument")
    }
    return ArgumentRules(
      fields, oneOf: oneOf, ignoring: try names(action["ignored"], at: "\(path).ignored"),
      isOpen: action["open"]?.boolValue ?? false)
  }

  private func fields(_ members: JSONObject, at path: String, depth: Int) throws(BridgeError) -> [Shape.Field] {
    var fields: [Shape.Field] = []
    for (name, value) in members {
      let member = try PluginSpec.object(value, at: "\(path).\(name)", keys: Self.valueKeys)
      let shape = try shape(member, at: "\(path).\(name)", depth: depth)
      let isRequired = member["required"]?.boolValue ?? false
      fields.append(isRequired ? .required(name, shape) : .optional(name, shape))
    }
    return fields
  }

  private func shape(_ value: JSONObject, at path: String, depth: Int) throws(BridgeError) -> Shape {
    guard let type = value["type"]?.stringValue else { throw .bridge(.invalidArguments, "\(path): 'type' is missing") }
    guard depth < Self.depthLimit else { return .any }
    shapes.count += 1
    guard shapes.count <= Self.shapeLimit else {
      throw .bridge(
        .invalidArguments,
        "\(path): the spec describes more than \(Self.shapeLimit) values; use 'any' in types that contain themselves"
      )
    }
    if let shape = Self.plain[type] { return shape }
    switch type {
    case "object":
      let members = try PluginSpec.object(value["fields"] ?? .object([:]), at: "\(path).fields")
      return .object(try fields(members, at: "\(path).fields", depth: depth + 1))
    case "array":
      guard let elements = value["elements"] else { throw .bridge(.invalidArguments, "\(path): 'elements' is missing") }
      let element = elements.objectValue ?? ["type": elements]
      return .array(try shape(element, at: "\(path).elements", depth: depth + 1))
    default:
      guard let named = types[type] else {
        let known = Self.plain.keys.sorted() + ["object", "array"] + types.keys
        let hint = NearestName.hint(for: type, among: known)
        throw .bridge(.invalidArguments, "\(path): the type '\(type)' is unknown\(hint)")
      }
      let members = try PluginSpec.object(named["fields"] ?? .object([:]), at: "spec.types.\(type).fields")
      return .object(try fields(members, at: "spec.types.\(type).fields", depth: depth + 1))
    }
  }

  private func names(_ value: JSONValue?, at path: String) throws(BridgeError) -> [String] {
    guard let value else { return [] }
    guard let names = value.arrayValue, names.allSatisfy({ $0.stringValue != nil }) else {
      throw .bridge(.invalidArguments, "\(path) must be an array of names, got \(value.kindName)")
    }
    return names.compactMap(\.stringValue)
  }
}
