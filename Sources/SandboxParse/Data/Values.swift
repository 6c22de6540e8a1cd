import JSON
import Support

/// Stored values: numbers as in JavaScript, and special types in one canonical form.
enum Values {
  /// Converts numbers to doubles; integral ones are written without a fraction. Integers above 2^53
  /// lose digits.
  static func javaScript(_ value: JSONValue) -> JSONValue {
    switch value {
    case .integer(let number): number.magnitude <= 1 << 53 ? value : whole(Double(number))
    case .number(let number): whole(number)
    case .decimal: whole(value.doubleValue ?? 0)
    case .array(let items): .array(items.map(javaScript))
    case .object(let members): .object(JSONObject(members.map { ($0.key, javaScript($0.value)) }))
    default: value
    }
  }

  static func number(_ value: Double) -> JSONValue { whole(value) }

  private static func whole(_ number: Double) -> JSONValue {
    // JSON.stringify has no other form for an infinity.
    guard number.isFinite else { return .null }
    guard number.magnitude < 9e18, number.rounded() == number else { return .number(number) }
    return .integer(Int64(saturating: number))
  }

  /// Converts a value to its stored form.
  ///
  /// - Throws: ``ParseError`` 1 for an invalid polygon, 121 for an invalid key inside an object.
  static func stored(_ value: JSONValue) throws(ParseError) -> JSONValue {
    switch value {
    case .array(let items):
      var kept: [JSONValue] = []
      for item in items { kept.append(try stored(item)) }
      return .array(kept)
    case .object(let object):
      if let type = object["__type"]?.stringValue, let known = try special(object, type) { return known }
      var kept = JSONObject()
      for (key, member) in object {
        guard !key.contains("$"), !key.contains(".") else {
          throw ParseError(.invalidNestedKey, "Nested keys should not contain the '$' or '.' characters")
        }
        kept[key] = try stored(member)
      }
      return .object(kept)
    default: return value
    }
  }

  /// Converts a value with a `__type` to its canonical form; nil if it is stored unchanged.
  private static func special(_ object: JSONObject, _ type: String) throws(ParseError) -> JSONValue? {
    switch type {
    case "Date": return ParseTime.milliseconds(of: .object(object)).map(ParseTime.date)
    case "Pointer":
      guard let target = object["className"], let id = object["objectId"] else { return nil }
      return ["__type": "Pointer", "className": target, "objectId": id]
    case "File": return object["name"].map { ["__type": "File", "name": $0] }
    case "GeoPoint": return GeoPoint(.object(object))?.json
    case "Bytes": return object["base64"].map { ["__type": "Bytes", "base64": $0] }
    case "Polygon": return try GeoArea.ring(object["coordinates"] ?? .null)
    default: return nil
    }
  }

  static func pointer(_ className: String, _ id: String) -> JSONValue {
    ["__type": "Pointer", "className": .string(className), "objectId": .string(id)]
  }

  // MARK: Comparing

  /// Returns a text that is the same for equal values.
  static func key(_ value: JSONValue) -> String {
    if value["__type"] == "Pointer" {
      return "\(value["className"]?.stringValue ?? "")$\(value["objectId"]?.stringValue ?? "")"
    }
    return value.text
  }

  /// Returns whether one value precedes the other; nil unless both have the same ordered type.
  static func isLess(_ a: JSONValue, _ b: JSONValue) -> Bool? {
    if let a = a.stringValue, let b = b.stringValue { return precedes(a, b) }
    if let a = a.doubleValue, let b = b.doubleValue { return a < b }
    if let a = ParseTime.milliseconds(of: a), let b = ParseTime.milliseconds(of: b) { return a < b }
    if let a = a.boolValue, let b = b.boolValue { return !a && b }
    return nil
  }

  /// Compares bytes, like a database without a collation.
  static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

  /// Sort order of lists: types in MongoDB's order, then values.
  static func comesBefore(_ a: JSONValue?, _ b: JSONValue?) -> Bool {
    let ranks = (rank(a), rank(b))
    if ranks.0 != ranks.1 { return ranks.0 < ranks.1 }
    guard let a, let b else { return false }
    if let less = isLess(a, b) { return less }
    return ranks.0 >= 3 && precedes(key(a), key(b))
  }

  private static func rank(_ value: JSONValue?) -> Int {
    switch value {
    case nil, .null?: 0
    case .integer?, .number?, .decimal?: 1
    case .string?: 2
    case .object(let object)?: object["__type"] == "Date" ? 6 : object["__type"] == "Pointer" ? 2 : 3
    case .array?: 4
    case .bool?: 5
    }
  }
}
