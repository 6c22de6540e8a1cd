import JSON

/// The options of a column in a schema, other than its type.
struct ColumnRule: Sendable {
  let isRequired: Bool
  /// The value for new objects that do not set the column.
  let defaultValue: JSONValue?

  /// Reads a field of a schema; nil if it has only a type.
  ///
  /// - Throws: ``ParseError`` 111 for a default of another type.
  init?(schema value: JSONValue, _ type: ColumnType, _ name: String) throws(ParseError) {
    guard value["required"] != nil || value["defaultValue"] != nil else { return nil }
    if case .relation = type {
      throw ParseError(.incorrectType, "The 'required' and 'defaultValue' options are not applicable for Relation: \(name)")
    }
    isRequired = value["required"] == true
    defaultValue = value["defaultValue"].flatMap { $0.isNull ? Optional.none : $0 }
    guard let defaultValue, let found = try ColumnType.of(defaultValue), found != type else { return }
    throw ParseError(
      .incorrectType, "schema mismatch for \(name) default value; expected \(type.text) but got \(found.text)")
  }

  func added(to schema: JSONValue) -> JSONObject {
    var object = schema.objectValue ?? [:]
    if isRequired { object["required"] = true }
    object["defaultValue"] = defaultValue
    return object
  }

  /// Adds default values to the body of a new object.
  ///
  /// - Returns: The defaults that were used, for the response.
  /// - Throws: ``ParseError`` 142 for a required column without a value.
  static func fill(_ body: inout JSONObject, of known: ParseClass) throws(ParseError) -> JSONObject {
    var taken = JSONObject()
    for (name, _) in known.columns {
      guard let rule = known.rules[name] else { continue }
      let isMissing = body[name] == nil || body[name]?["__op"] == "Delete"
      if isMissing, let value = rule.defaultValue {
        body[name] = value
        taken[name] = try Values.stored(value)
      } else {
        try rule.check(body[name], name)
      }
    }
    return taken
  }

  /// - Throws: ``ParseError`` 142 for a required column without a value.
  func check(_ value: JSONValue?, _ name: String) throws(ParseError) {
    guard isRequired, value == nil || value == .null || value == "" || value?["__op"] == "Delete" else { return }
    throw ParseError(.validationError, "\(name) is required")
  }
}
