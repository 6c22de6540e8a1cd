import JSON
import Support

/// A parsed `where` whose sub-queries have been evaluated.
indirect enum Condition {
  case all([Condition])
  case any([Condition])
  case none([Condition])
  /// Objects with these ids, or all others.
  case ids(IdSet, isNegated: Bool)
  case column(path: [String], [Test])

  /// - Throws: If a regular expression takes too long.
  func matches(_ object: ParseObject) throws(ParseError) -> Bool {
    switch self {
    case .all(let parts):
      for part in parts { guard try part.matches(object) else { return false } }
      return true
    case .any(let parts): return try Self.any(of: parts, matches: object)
    case .none(let parts): return try !Self.any(of: parts, matches: object)
    case .ids(let ids, let isNegated): return ids.contains(object.id) != isNegated
    case .column(let path, let tests):
      let value = path.count == 1 ? object.value(path[0]) : object.value(at: path)
      for test in tests { guard try test.holds(for: value) else { return false } }
      return true
    }
  }

  private static func any(of parts: [Condition], matches object: ParseObject) throws(ParseError) -> Bool {
    for part in parts { if try part.matches(object) { return true } }
    return false
  }

  /// The point by whose distance results are sorted if the query has no order.
  var center: (path: [String], point: GeoPoint)? {
    switch self {
    case .all(let parts): return parts.lazy.compactMap(\.center).first
    case .column(let path, let tests):
      for case .near(let point, _) in tests { return (path, point) }
      return nil
    default: return nil
    }
  }
}

/// One constraint on the value of a column.
enum Test {
  case equals(JSONValue)
  case differs(JSONValue)
  case less(JSONValue, orEqual: Bool)
  case greater(JSONValue, orEqual: Bool)
  /// Values by their keys; see ``Values/key(_:)``.
  case isIn(IdSet)
  case isNotIn(IdSet)
  case holdsAll([JSONValue])
  /// Each pattern matches some element.
  case matchesAll([TextPattern])
  case isContained(IdSet)
  case exists(Bool)
  case pattern(TextPattern)
  /// Distances are in radians.
  case near(GeoPoint, limit: Double?)
  case inside(GeoArea)
  case covers(GeoPoint)

  /// - Throws: If a regular expression takes too long.
  func holds(for value: JSONValue?) throws(ParseError) -> Bool {
    switch self {
    case .equals(let wanted): return Self.isEqual(value, wanted)
    case .differs(let wanted): return !Self.isEqual(value, wanted)
    case .less(let bound, let orEqual): return Self.one(of: value) { Self.isOrdered($0, bound, orEqual) }
    case .greater(let bound, let orEqual): return Self.one(of: value) { Self.isOrdered(bound, $0, orEqual) }
    case .isIn(let keys): return Self.isAmong(value, keys)
    case .isNotIn(let keys): return !Self.isAmong(value, keys)
    case .holdsAll(let wanted): return !wanted.isEmpty && wanted.allSatisfy { Self.isEqual(value, $0) }
    case .matchesAll(let patterns):
      for pattern in patterns { guard try Self.text(of: value, matches: pattern) else { return false } }
      return true
    case .isContained(let keys): return (value?.arrayValue ?? []).allSatisfy { keys.contains(Values.key($0)) }
    case .exists(let isThere): return (value != nil) == isThere
    case .pattern(let pattern): return try Self.text(of: value, matches: pattern)
    case .near(let point, let limit): return GeoPoint(value).map { point.radians(to: $0) <= limit ?? .infinity } ?? false
    case .inside(let area): return GeoPoint(value).map(area.contains) ?? false
    case .covers(let point): return GeoArea(stored: value)?.contains(point) ?? false
    }
  }

  /// Searches a text, or each text of a list until one matches.
  private static func text(of value: JSONValue?, matches pattern: TextPattern) throws(ParseError) -> Bool {
    for item in value?.arrayValue ?? [value].compactMap({ $0 }) {
      if let text = item.stringValue, try pattern.matches(text) { return true }
    }
    return false
  }

  /// Applies a test to a value, or to each element of a list until one passes.
  private static func one(of value: JSONValue?, _ test: (JSONValue) -> Bool) -> Bool {
    guard let value else { return false }
    if let items = value.arrayValue { return items.contains(where: test) }
    return test(value)
  }

  private static func isEqual(_ value: JSONValue?, _ wanted: JSONValue) -> Bool {
    guard let value else { return wanted.isNull }
    return value == wanted || value.arrayValue?.contains(wanted) == true
  }

  private static func isOrdered(_ a: JSONValue, _ b: JSONValue, _ orEqual: Bool) -> Bool {
    Values.isLess(a, b) == true || orEqual && a == b
  }

  private static func isAmong(_ value: JSONValue?, _ keys: IdSet) -> Bool {
    guard let value else { return keys.contains("null") }
    return keys.contains(Values.key(value)) || value.arrayValue?.contains { keys.contains(Values.key($0)) } == true
  }
}

/// A regular expression with the options of a query. Not Sendable; each query compiles its own.
struct TextPattern {
  private let expression: RegularExpression

  /// - Throws: An unexpected ``ParseError`` for an invalid expression, as from the database.
  init(_ pattern: String, options: String) throws(ParseError) {
    do {
      expression = try RegularExpression(pattern, options: options)
    } catch {
      throw .unexpected("Regular expression is invalid: \(error)")
    }
  }

  /// - Throws: An unexpected ``ParseError`` if the search takes too long, as from the database.
  func matches(_ text: String) throws(ParseError) -> Bool {
    do {
      return try expression.matches(text)
    } catch {
      throw .unexpected("Executor error during find command :: caused by :: \(error)")
    }
  }
}
