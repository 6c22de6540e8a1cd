import JSON

/// Describes the value of an argument. Values are checked against it before an action's handler gets them.
struct Shape: Sendable {
  enum Kind: String, Sendable {
    case any = "a value", string = "a string", integer = "an integer", number = "a number", boolean = "a boolean"
    case object = "an object", array = "an array", fieldlist = "an array of field names or a string of them with commas"
  }

  struct Field: Sendable {
    let name: String
    let shape: Shape
    let isRequired: Bool
  }

  let kind: Kind
  /// The members of an object that are checked.
  var fields: [Field] = []
  /// The shape of an array's elements; empty for other kinds. It is an array because a struct cannot contain itself.
  var element: [Shape] = []

  static let any = Shape(kind: .any)
  static let string = Shape(kind: .string)
  static let integer = Shape(kind: .integer)
  static let number = Shape(kind: .number)
  static let boolean = Shape(kind: .boolean)
  static let fieldlist = Shape(kind: .fieldlist, element: [.string])
  static func object(_ fields: [Field]) -> Shape { Shape(kind: .object, fields: fields) }
  static func array(_ element: Shape) -> Shape { Shape(kind: .array, element: [element]) }
  static let anyObject = Shape.object([])

  /// Checks a value and returns it as the handler gets it: an empty object becomes an empty list where a list is expected (in
  /// Lua they look the same), and a number like `10.0` becomes an integer where an integer is expected. Keys that the shape does
  /// not name are kept: the store and the sync engine check the keys of what they read, for all their callers.
  /// - Parameter path: The name of the value in errors, such as `entries[3]`. Positions count from 1, as in Lua.
  /// - Throws: `invalidArguments`, naming the path.
  func checked(_ value: JSONValue, at path: String) throws(BridgeError) -> JSONValue {
    switch kind {
    case .any: return value
    case .string where value.stringValue != nil: return value
    case .boolean where value.boolValue != nil: return value
    case .number where value.doubleValue != nil: return value
    case .integer:
      if let integer = value.integerValue { return .integer(integer) }
    case .object:
      if let object = value.objectValue { return .object(try Self.checked(object, fields, at: path)) }
    case .fieldlist where value.stringValue != nil: return value
    case .array, .fieldlist:
      if let object = value.objectValue, object.isEmpty { return .array([]) }
      if let array = value.arrayValue { return .array(try checkedElements(array, at: path)) }
    default: break
    }
    throw ActionCall.wrong(path, kind.rawValue, value)
  }

  private func checkedElements(_ array: [JSONValue], at path: String) throws(BridgeError) -> [JSONValue] {
    guard let element = element.first, element.kind != .any else { return array }
    var result = array
    for i in array.indices { result[i] = try element.checked(array[i], at: "\(path)[\(i + 1)]") }
    return result
  }

  /// Checks the members of an object. - Parameter path: Empty for the arguments object itself.
  static func checked(_ object: JSONObject, _ fields: [Field], at path: String) throws(BridgeError) -> JSONObject {
    var result = object
    for field in fields {
      let name = path.isEmpty ? field.name : "\(path).\(field.name)"
      guard let value = object[field.name], !value.isNull else {
        if field.isRequired { throw ActionCall.wrong(name, field.shape.kind.rawValue, object[field.name]) }
        continue
      }
      result[field.name] = try field.shape.checked(value, at: name)
    }
    return result
  }
}

extension Shape.Field {
  static func required(_ name: String, _ shape: Shape) -> Self { Self(name: name, shape: shape, isRequired: true) }
  static func optional(_ name: String, _ shape: Shape) -> Self { Self(name: name, shape: shape, isRequired: false) }
}

/// Describes the arguments of one action. `scripts/dev/spec` generates the rules from bridge-spec/actions.
struct ArgumentRules: Sendable {
  /// All arguments, including those that select the store.
  let fields: [Shape.Field]
  /// Arguments of which at least one is required; empty for no such rule.
  let oneOf: [String]
  /// The allowed keys; nil to allow any.
  private let keys: KnownKeys?

  init(_ fields: [Shape.Field] = [], oneOf: [String] = [], ignoring ignored: [String] = [], isOpen: Bool = false) {
    self.fields = fields
    self.oneOf = oneOf
    keys = isOpen ? nil : KnownKeys(fields.map(\.name), ignoring: ignored)
  }

  /// Returns the rules without one argument, which is then ignored.
  func excluding(_ name: String) -> ArgumentRules {
    ArgumentRules(fields.filter { $0.name != name }, oneOf: oneOf, ignoring: [name])
  }

  /// Checks the arguments and returns them as the handler gets them.
  /// - Throws: `invalidArguments`, naming the key.
  func checked(_ arguments: JSONObject) throws(BridgeError) -> JSONObject {
    if let unknown = keys?.unknown(in: arguments) {
      let none = fields.isEmpty ? "; the action takes no arguments" : ""
      throw .bridge(.invalidArguments, "argument '\(unknown.key)' \(unknown.complaint)\(none)")
    }
    let result = try Shape.checked(arguments, fields, at: "")
    if !oneOf.isEmpty, oneOf.allSatisfy({ arguments[$0]?.isNull ?? true }) { throw missing() }
    return result
  }

  private func missing() -> BridgeError {
    // The native SDK's message.
    if oneOf == ["syncId", "syncName"] { return .bridge(.invalidArguments, "Neither syncId nor syncName were specified") }
    let others = oneOf.dropFirst().map { "'\($0)'" }.joined(separator: " or ")
    return .bridge(.invalidArguments, "argument '\(oneOf[0])' is missing, expected it or \(others)")
  }
}
