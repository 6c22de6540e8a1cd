import JSON

/// What an action accepts: checked before its handler sees it, and the one place that says what is required.
indirect enum Shape: Sendable {
  case any, string, integer, boolean
  case object([Field])
  case array(Shape)

  struct Field: Sendable {
    let name: String
    let shape: Shape
    var isRequired = true
  }

  /// Any object.
  static let anyObject = Shape.object([])

  /// The value as the handler gets it: an empty object where a list belongs is an empty list (in Lua they look the
  /// same), a number like `10.0` where an integer belongs is an integer. Keys the shape does not name stay.
  /// - Parameter path: How an error names the value: `entries[3]`. Positions count from 1, as the script's do.
  /// - Throws: `invalidArguments`, naming the path.
  func checked(_ value: JSONValue, at path: String) throws(BridgeError) -> JSONValue {
    switch self {
    case .any: return value
    case .string:
      guard value.stringValue != nil else { throw ActionCall.wrong(path, "a string", value) }
      return value
    case .boolean:
      guard value.boolValue != nil else { throw ActionCall.wrong(path, "a boolean", value) }
      return value
    case .integer:
      guard let integer = value.integerValue else { throw ActionCall.wrong(path, "an integer", value) }
      return .integer(integer)
    case .object(let fields):
      guard let object = value.objectValue else { throw ActionCall.wrong(path, "an object", value) }
      return .object(try Self.checked(object, fields, at: path))
    case .array(let element):
      if let object = value.objectValue, object.isEmpty { return .array([]) }
      guard let array = value.arrayValue else { throw ActionCall.wrong(path, "an array", value) }
      return .array(try element.checkedElements(array, at: path))
    }
  }

  private func checkedElements(_ array: [JSONValue], at path: String) throws(BridgeError) -> [JSONValue] {
    if case .any = self { return array }
    var result = array
    for i in array.indices { result[i] = try checked(array[i], at: "\(path)[\(i + 1)]") }
    return result
  }

  /// The members of an object, checked. - Parameter path: "" for the arguments themselves.
  static func checked(_ object: JSONObject, _ fields: [Field], at path: String) throws(BridgeError) -> JSONObject {
    var result = object
    for field in fields {
      let name = path.isEmpty ? field.name : "\(path).\(field.name)"
      guard let value = object[field.name], !value.isNull else {
        if field.isRequired { throw ActionCall.wrong(name, field.shape.expectation, object[field.name]) }
        continue
      }
      result[field.name] = try field.shape.checked(value, at: name)
    }
    return result
  }

  private var expectation: String {
    switch self {
    case .any: "a value"
    case .string: "a string"
    case .integer: "an integer"
    case .boolean: "a boolean"
    case .object: "an object"
    case .array: "an array"
    }
  }
}

extension Shape.Field {
  static func required(_ name: String, _ shape: Shape) -> Self { Self(name: name, shape: shape) }
  static func optional(_ name: String, _ shape: Shape) -> Self { Self(name: name, shape: shape, isRequired: false) }
}
