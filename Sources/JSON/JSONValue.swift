/// Any JSON value. Integers stay 64-bit integers, and objects keep the order of their keys.
///
/// Used for options, states and settings. Records on their way between server, store and script
/// stay text.
public enum JSONValue: Sendable, Equatable {
  case null
  case bool(Bool)
  case integer(Int64)
  case number(Double)
  /// A number that neither a 64-bit integer nor a double writes as its text does, such as `1.10`, `1e3` or
  /// `18446744073709551615`: it keeps the text. Only parsing makes it.
  case decimal(String)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)

  /// Two values are equal if they are of one kind and their texts, numbers and members are the same: texts by their bytes,
  /// numbers by their digits, as far as a double has them.
  public static func == (a: JSONValue, b: JSONValue) -> Bool {
    switch (a, b) {
    case (.null, .null): true
    case (.bool(let a), .bool(let b)): a == b
    case (.integer(let a), .integer(let b)): a == b
    case (.number(let a), .number(let b)): a == b
    case (.string(let a), .string(let b)): a == b
    case (.array(let a), .array(let b)): a == b
    case (.object(let a), .object(let b)): a == b
    case (.decimal, _), (_, .decimal): a.isSameNumber(as: b)
    default: false
    }
  }

  /// Whether both are numbers and have the same digits, in any notation. A double has no more digits than it can hold.
  package func isSameNumber(as other: JSONValue) -> Bool {
    if let digits, let others = other.digits { return digits == others }
    return doubleValue != nil && doubleValue == other.doubleValue
  }

  /// nil for a double, and for other values than numbers.
  private var digits: DecimalText? {
    switch self {
    case .integer(let value): DecimalText(String(value))
    case .decimal(let text): DecimalText(text)
    default: nil
    }
  }

  public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
  public var arrayValue: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }
  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var isNull: Bool { self == .null }

  /// The value as an integer. A number without a fraction, such as `10.0`, counts as one.
  public var integerValue: Int64? {
    switch self {
    case .integer(let value): value
    case .number, .decimal: doubleValue.flatMap { Int64(exactly: $0) }
    default: nil
    }
  }

  public var doubleValue: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    case .decimal(let text): Double(text)
    default: nil
    }
  }

  /// The member with this key; nil if there is none or the value is not an object.
  public subscript(_ key: String) -> JSONValue? { objectValue?[key] }

  /// The name of the value's kind in error messages.
  public var kindName: String {
    switch self {
    case .null: "null"
    case .bool: "boolean"
    case .integer, .number, .decimal: "number"
    case .string: "string"
    case .array: "array"
    case .object: "object"
    }
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int64) { self = .integer(value) }
  public init(floatLiteral value: Double) { self = .number(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
  public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(JSONObject(elements)) }
}

extension JSONValue {
  /// An integer of a stored state or of a server, kept within bounds: see `bounded`.
  package var boundedInteger: Int64? { integerValue?.bounded }
}
