import JSON

extension JSONValue {
  /// The value with its numbers as a script holds them: as integers of 64 bits and doubles. Integers have no negative zero, so
  /// `-0` is a double.
  public var asScriptsHoldIt: JSONValue {
    switch self {
    case .decimal("-0"): .number(-0.0)
    case .decimal(let digits): Array(digits.utf8).withUnsafeBytes { JSONValue.number(parsing: $0) }
    case .array(let elements): .array(elements.map(\.asScriptsHoldIt))
    case .object(let members): .object(JSONObject(members.map { ($0.key, $0.value.asScriptsHoldIt) }))
    default: self
    }
  }
}
