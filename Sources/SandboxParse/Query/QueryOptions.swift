import JSON
import Support

/// The options of a read, besides its condition.
struct QueryOptions {
  private static let known: Set = [
    "where", "order", "limit", "skip", "keys", "excludeKeys", "include", "includeAll", "count", "readPreference",
    "includeReadPreference", "subqueryReadPreference", "explain", "hint", "comment", "redirectClassNameForKey",
  ]
  private static let knownOfOne: Set = [
    "keys", "excludeKeys", "include", "readPreference", "includeReadPreference", "subqueryReadPreference",
  ]

  var condition = JSONObject()
  var order: [(path: [String], isDescending: Bool)] = []
  var limit = Tuning.pageObjects
  var skip = 0
  var counts = false
  /// nil for all columns.
  var keys: [[String]]?
  var excluded: [String] = []
  var include: [[String]] = []
  var includesAll = false
  /// The pointer column whose target class is queried instead.
  var redirect: String?

  /// - Throws: ``ParseError`` 102 for an unknown parameter; an unexpected error if `where` is not
  ///   JSON.
  init(_ given: JSONObject) throws(ParseError) {
    for name in given.keys where !Self.known.contains(name) {
      throw ParseError(.invalidQuery, "Invalid parameter for query: \(name)")
    }
    condition = try Self.condition(given["where"])
    // As in JavaScript, unusable values are ignored.
    if let value = Self.number(given["limit"]) { limit = max(0, value) }
    if let value = Self.number(given["skip"]) { skip = max(0, value) }
    counts = Self.isTrue(given["count"])
    redirect = given["redirectClassNameForKey"]?.stringValue
    for name in Self.list(given["order"]) {
      let isDescending = name.hasPrefix("-")
      let column = isDescending ? String(name.dropFirst()) : name
      // SDKs use the database's names of these columns.
      order.append((Self.path(["_created_at": "createdAt", "_updated_at": "updatedAt"][column] ?? column), isDescending))
    }
    try readShape(given)
  }

  /// Reads the options of a read of one object.
  ///
  /// - Throws: ``ParseError`` 102.
  init(ofOne given: JSONObject) throws(ParseError) {
    guard given.keys.allSatisfy(Self.knownOfOne.contains) else {
      throw ParseError(.invalidQuery, "Improper encode of parameter")
    }
    try readShape(given)
  }

  private mutating func readShape(_ given: JSONObject) throws(ParseError) {
    includesAll = Self.isTrue(given["includeAll"])
    let named = Self.list(given["keys"]).map(Self.path)
    if !named.isEmpty { keys = named }
    excluded = Self.list(given["excludeKeys"])
    for name in Self.list(given["include"]) {
      if name == "*" { includesAll = true } else { include.append(Self.path(name)) }
    }
    // A dotted name includes the object before its last dot.
    include += (named + excluded.map(Self.path)).filter { $0.count > 1 }.map { Array($0.dropLast()) }
    guard include.allSatisfy({ $0.count <= Tuning.queryDepth }) else {
      throw ParseError(.invalidQuery, "The include path is too long.")
    }
  }

  private static func condition(_ value: JSONValue?) throws(ParseError) -> JSONObject {
    switch value {
    case nil, .null?: return [:]
    case .object(let object)?: return object
    case .string(let text)?:
      guard let parsed = try? JSONValue(parsing: Array(text.utf8)) else { throw .unexpected("Unexpected token in JSON") }
      guard let object = Values.javaScript(parsed).objectValue else {
        throw ParseError(.invalidQuery, "where must be an object")
      }
      return object
    default: throw ParseError(.invalidQuery, "where must be an object")
    }
  }

  /// Reads a comma-separated list or a JSON array.
  private static func list(_ value: JSONValue?) -> [String] {
    let text: String
    switch value {
    case nil, .null?: return []
    case .array(let items)?: text = items.map { $0.stringValue ?? $0.text }.joined(separator: ",")
    case let value?: text = value.stringValue ?? value.text
    }
    return text.split(separator: ",").map { $0.drop { $0 == " " } }.map { String($0.prefix { $0 != " " }) }.filter { !$0.isEmpty }
  }

  private static func path(_ name: String) -> [String] { name.split(separator: ".").map(String.init) }

  private static func number(_ value: JSONValue?) -> Int? {
    let number = value?.doubleValue ?? value?.stringValue.flatMap(Double.init)
    return number.flatMap { $0.magnitude < 1e15 ? Int(saturating: $0) : nil }
  }

  private static func isTrue(_ value: JSONValue?) -> Bool {
    switch value {
    case nil, .null?, .bool(false)?, .integer(0)?, .string("")?: false
    default: true
    }
  }
}
