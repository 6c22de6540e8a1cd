import JSON
import MobileSync
import Support

/// A `where` condition, composed of parts. Equality uses the bare value, which means the same as
/// `$eq` on most columns and works on relations, too.
public struct ParseCondition: Sendable, Equatable {
  /// The `where` member of a query.
  public let json: JSONObject

  /// Matches every object.
  public static let always = ParseCondition([:])

  /// Makes a condition from the server's JSON.
  public init(_ json: JSONObject) { self.json = json }

  private init(_ field: String, _ constraint: JSONValue) { json = JSONObject([(field, constraint)]) }

  /// Returns a date in the form that conditions need, also for `updatedAt`: a bare text matches
  /// nothing.
  ///
  /// - Parameter milliseconds: Since 1970 UTC.
  public static func date(_ milliseconds: Int64) -> JSONValue { TypedValue.date(milliseconds).json }

  // MARK: Values

  public static func equal(_ field: String, _ value: JSONValue) -> ParseCondition { ParseCondition(field, value) }
  public static func notEqual(_ field: String, _ value: JSONValue) -> ParseCondition { ParseCondition(field, ["$ne": value]) }
  public static func less(_ field: String, than value: JSONValue) -> ParseCondition { ParseCondition(field, ["$lt": value]) }
  public static func atMost(_ field: String, _ value: JSONValue) -> ParseCondition { ParseCondition(field, ["$lte": value]) }
  public static func greater(_ field: String, than value: JSONValue) -> ParseCondition { ParseCondition(field, ["$gt": value]) }
  public static func atLeast(_ field: String, _ value: JSONValue) -> ParseCondition { ParseCondition(field, ["$gte": value]) }
  public static func exists(_ field: String, _ exists: Bool = true) -> ParseCondition {
    ParseCondition(field, ["$exists": .bool(exists)])
  }

  // MARK: Lists

  public static func isIn(_ field: String, _ values: [JSONValue]) -> ParseCondition {
    ParseCondition(field, ["$in": .array(values)])
  }
  public static func isNotIn(_ field: String, _ values: [JSONValue]) -> ParseCondition {
    ParseCondition(field, ["$nin": .array(values)])
  }
  public static func holdsAll(_ field: String, _ values: [JSONValue]) -> ParseCondition {
    ParseCondition(field, ["$all": .array(values)])
  }
  public static func isContained(_ field: String, in values: [JSONValue]) -> ParseCondition {
    ParseCondition(field, ["$containedBy": .array(values)])
  }

  // MARK: Text

  /// Matches texts by a regular expression.
  ///
  /// - Parameter options: Any of the letters `imxs`.
  /// - Throws: ``ParseProblem`` for other options.
  public static func matches(_ field: String, _ pattern: String, options: String = "") throws(ParseProblem) -> ParseCondition {
    guard options.allSatisfy({ "imxs".contains($0) }) else {
      throw ParseProblem(description: "regular expression options '\(options)' for '\(field)' are not valid; known: i, m, x, s")
    }
    var constraint: JSONObject = ["$regex": .string(pattern)]
    if !options.isEmpty { constraint["$options"] = .string(options) }
    return ParseCondition(field, .object(constraint))
  }

  /// Matches texts with a prefix. Anchored and case-sensitive, so that the server can use an index.
  public static func begins(_ field: String, with text: String) -> ParseCondition {
    ParseCondition(field, ["$regex": .string("^" + quoted(text))])
  }

  /// Quotes text with `\Q` and `\E`; a `\E` in the text is escaped separately.
  private static func quoted(_ text: String) -> String {
    "\\Q" + text.replacingBytes("\\E", with: "\\E\\\\E\\Q") + "\\E"
  }

  // MARK: Other classes

  /// Matches pointers to the results of a query of another class.
  public static func isIn(_ field: String, query className: String, _ condition: ParseCondition) -> ParseCondition {
    ParseCondition(field, ["$inQuery": ["className": .string(className), "where": .object(condition.json)]])
  }

  public static func isNotIn(_ field: String, query className: String, _ condition: ParseCondition) -> ParseCondition {
    ParseCondition(field, ["$notInQuery": ["className": .string(className), "where": .object(condition.json)]])
  }

  /// Matches values that occur in a column of another class's query results.
  public static func isSelected(_ field: String, from className: String, key: String, _ condition: ParseCondition)
    -> ParseCondition
  {
    ParseCondition(field, ["$select": selection(className, key, condition)])
  }

  public static func isNotSelected(_ field: String, from className: String, key: String, _ condition: ParseCondition)
    -> ParseCondition
  {
    ParseCondition(field, ["$dontSelect": selection(className, key, condition)])
  }

  private static func selection(_ className: String, _ key: String, _ condition: ParseCondition) -> JSONValue {
    ["query": ["className": .string(className), "where": .object(condition.json)], "key": .string(key)]
  }

  /// Matches the objects in a relation of one owner. The query is for the class of the related
  /// objects.
  public static func related(to owner: ParsePointer, by field: String) -> ParseCondition {
    ParseCondition("$relatedTo", ["object": owner.json, "key": .string(field)])
  }

  // MARK: Geography

  public enum Distance: Sendable, Equatable {
    case radians(Double), kilometers(Double), miles(Double)

    fileprivate var member: (String, JSONValue) {
      switch self {
      case .radians(let limit): ("$maxDistance", .number(limit))
      case .kilometers(let limit): ("$maxDistanceInKilometers", .number(limit))
      case .miles(let limit): ("$maxDistanceInMiles", .number(limit))
      }
    }
  }

  /// Sorts by distance, unless the query has an order.
  public static func near(_ field: String, _ point: ParsePoint, within limit: Distance? = nil) -> ParseCondition {
    ParseCondition(field, .object(JSONObject([("$nearSphere", point.json)] + (limit.map { [$0.member] } ?? []))))
  }

  public static func inBox(_ field: String, southWest: ParsePoint, northEast: ParsePoint) -> ParseCondition {
    ParseCondition(field, ["$within": ["$box": [southWest.json, northEast.json]]])
  }

  public static func inPolygon(_ field: String, _ corners: [ParsePoint]) -> ParseCondition {
    ParseCondition(field, ["$geoWithin": ["$polygon": .array(corners.map(\.json))]])
  }

  public static func inCircle(_ field: String, around center: ParsePoint, radians: Double) -> ParseCondition {
    ParseCondition(field, ["$geoWithin": ["$centerSphere": [center.json, .number(radians)]]])
  }

  /// Matches polygons that contain a point.
  public static func covers(_ field: String, _ point: ParsePoint) -> ParseCondition {
    ParseCondition(field, ["$geoIntersects": ["$point": point.json]])
  }

  // MARK: Combinations

  public static func all(_ parts: [ParseCondition]) -> ParseCondition {
    let parts = parts.filter { !$0.json.isEmpty }
    guard parts.count > 1 else { return parts.first ?? .always }
    return ParseCondition("$and", list(parts))
  }

  public static func any(_ parts: [ParseCondition]) -> ParseCondition { ParseCondition("$or", list(parts)) }

  /// - Throws: ``ParseProblem`` without parts: the server rejects an empty `$nor`.
  public static func none(_ parts: [ParseCondition]) throws(ParseProblem) -> ParseCondition {
    guard !parts.isEmpty else { throw ParseProblem(description: "$nor needs at least one condition") }
    return ParseCondition("$nor", list(parts))
  }

  private static func list(_ parts: [ParseCondition]) -> JSONValue { .array(parts.map { .object($0.json) }) }
}
