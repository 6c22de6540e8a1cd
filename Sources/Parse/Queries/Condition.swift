import JSON
import MobileSync

/// A `where`, put together from parts. Equality is bare: on most columns that means the same as `$eq`, and it works on relations
/// too.
struct Condition: Sendable, Equatable {
  let json: JSONObject

  /// Every object.
  static let always = Condition([:])

  init(_ json: JSONObject) { self.json = json }

  private init(_ field: String, _ constraint: JSONValue) { json = JSONObject([(field, constraint)]) }

  /// A moment as conditions take it, also for `updatedAt`: a bare text matches nothing.
  /// - Parameter milliseconds: Since 1970 UTC.
  static func date(_ milliseconds: Int64) -> JSONValue { TypedValue.date(milliseconds).json }

  // MARK: Values

  static func equal(_ field: String, _ value: JSONValue) -> Condition { Condition(field, value) }
  static func notEqual(_ field: String, _ value: JSONValue) -> Condition { Condition(field, ["$ne": value]) }
  static func less(_ field: String, than value: JSONValue) -> Condition { Condition(field, ["$lt": value]) }
  static func atMost(_ field: String, _ value: JSONValue) -> Condition { Condition(field, ["$lte": value]) }
  static func greater(_ field: String, than value: JSONValue) -> Condition { Condition(field, ["$gt": value]) }
  static func atLeast(_ field: String, _ value: JSONValue) -> Condition { Condition(field, ["$gte": value]) }
  static func exists(_ field: String, _ exists: Bool = true) -> Condition { Condition(field, ["$exists": .bool(exists)]) }

  // MARK: Lists

  static func isIn(_ field: String, _ values: [JSONValue]) -> Condition { Condition(field, ["$in": .array(values)]) }
  static func isNotIn(_ field: String, _ values: [JSONValue]) -> Condition { Condition(field, ["$nin": .array(values)]) }
  static func holdsAll(_ field: String, _ values: [JSONValue]) -> Condition { Condition(field, ["$all": .array(values)]) }
  static func isContained(_ field: String, in values: [JSONValue]) -> Condition {
    Condition(field, ["$containedBy": .array(values)])
  }

  // MARK: Text

  /// - Parameter options: Letters of `imxs`.
  /// - Throws: ``ParseProblem`` for other options.
  static func matches(_ field: String, _ pattern: String, options: String = "") throws(ParseProblem) -> Condition {
    guard options.allSatisfy({ "imxs".contains($0) }) else {
      throw ParseProblem(description: "regular expression options '\(options)' for '\(field)' are not valid; known: i, m, x, s")
    }
    var constraint: JSONObject = ["$regex": .string(pattern)]
    if !options.isEmpty { constraint["$options"] = .string(options) }
    return Condition(field, .object(constraint))
  }

  /// Anchored and case-sensitive, so that the server can use an index.
  static func begins(_ field: String, with text: String) -> Condition {
    Condition(field, ["$regex": .string("^" + quoted(text))])
  }

  /// Between `\Q` and `\E`; an end inside the text is written apart.
  private static func quoted(_ text: String) -> String {
    var parts: [String] = [], rest = text[...]
    while let end = rest.firstRange(of: "\\E") {
      parts.append(String(rest[..<end.lowerBound]))
      rest = rest[end.upperBound...]
    }
    return "\\Q" + (parts + [String(rest)]).joined(separator: "\\E\\\\E\\Q") + "\\E"
  }

  // MARK: Other classes

  /// Pointers to what a query of another class finds.
  static func isIn(_ field: String, query className: String, _ condition: Condition) -> Condition {
    Condition(field, ["$inQuery": ["className": .string(className), "where": .object(condition.json)]])
  }

  static func isNotIn(_ field: String, query className: String, _ condition: Condition) -> Condition {
    Condition(field, ["$notInQuery": ["className": .string(className), "where": .object(condition.json)]])
  }

  /// Values that a column of another class has in what a query finds there.
  static func isSelected(_ field: String, from className: String, key: String, _ condition: Condition) -> Condition {
    Condition(field, ["$select": selection(className, key, condition)])
  }

  static func isNotSelected(_ field: String, from className: String, key: String, _ condition: Condition) -> Condition {
    Condition(field, ["$dontSelect": selection(className, key, condition)])
  }

  private static func selection(_ className: String, _ key: String, _ condition: Condition) -> JSONValue {
    ["query": ["className": .string(className), "where": .object(condition.json)], "key": .string(key)]
  }

  /// The targets of one owner; the query is of the targets' class.
  static func related(to owner: ParsePointer, by field: String) -> Condition {
    Condition("$relatedTo", ["object": owner.json, "key": .string(field)])
  }

  // MARK: Places

  enum Distance: Sendable, Equatable {
    case radians(Double), kilometers(Double), miles(Double)

    fileprivate var member: (String, JSONValue) {
      switch self {
      case .radians(let limit): ("$maxDistance", .number(limit))
      case .kilometers(let limit): ("$maxDistanceInKilometers", .number(limit))
      case .miles(let limit): ("$maxDistanceInMiles", .number(limit))
      }
    }
  }

  /// Nearest first, unless the query has an order.
  static func near(_ field: String, _ point: ParsePoint, within limit: Distance? = nil) -> Condition {
    Condition(field, .object(JSONObject([("$nearSphere", point.json)] + (limit.map { [$0.member] } ?? []))))
  }

  static func inBox(_ field: String, southWest: ParsePoint, northEast: ParsePoint) -> Condition {
    Condition(field, ["$within": ["$box": [southWest.json, northEast.json]]])
  }

  static func inPolygon(_ field: String, _ corners: [ParsePoint]) -> Condition {
    Condition(field, ["$geoWithin": ["$polygon": .array(corners.map(\.json))]])
  }

  static func inCircle(_ field: String, around center: ParsePoint, radians: Double) -> Condition {
    Condition(field, ["$geoWithin": ["$centerSphere": [center.json, .number(radians)]]])
  }

  /// Polygons that hold a point.
  static func covers(_ field: String, _ point: ParsePoint) -> Condition {
    Condition(field, ["$geoIntersects": ["$point": point.json]])
  }

  // MARK: Together

  static func all(_ parts: [Condition]) -> Condition {
    let parts = parts.filter { !$0.json.isEmpty }
    guard parts.count > 1 else { return parts.first ?? .always }
    return Condition("$and", list(parts))
  }

  static func any(_ parts: [Condition]) -> Condition { Condition("$or", list(parts)) }

  /// - Throws: ``ParseProblem`` without a part: the server refuses an empty `$nor`.
  static func none(_ parts: [Condition]) throws(ParseProblem) -> Condition {
    guard !parts.isEmpty else { throw ParseProblem(description: "$nor needs at least one condition") }
    return Condition("$nor", list(parts))
  }

  private static func list(_ parts: [Condition]) -> JSONValue { .array(parts.map { .object($0.json) }) }
}
