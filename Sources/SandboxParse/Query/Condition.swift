import JSON

/// A parsed `where` whose sub-queries have been evaluated.
indirect enum Condition {
  case all([Condition])
  case any([Condition])
  case none([Condition])
  /// Objects with these ids, or all others.
  case ids(Set<String>, isNegated: Bool)
  case column(path: [String], [Test])

  func matches(_ object: ParseObject) -> Bool {
    switch self {
    case .all(let parts): return parts.allSatisfy { $0.matches(object) }
    case .any(let parts): return parts.contains { $0.matches(object) }
    case .none(let parts): return !parts.contains { $0.matches(object) }
    case .ids(let ids, let isNegated): return ids.contains(object.id) != isNegated
    case .column(let path, let tests):
      let value = path.count == 1 ? object.value(path[0]) : object.value(at: path)
      return tests.allSatisfy { $0.holds(for: value) }
    }
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
  case isIn(Set<String>)
  case isNotIn(Set<String>)
  case holdsAll([JSONValue])
  /// Each pattern matches some element.
  case matchesAll([TextPattern])
  case isContained(Set<String>)
  case exists(Bool)
  case pattern(TextPattern)
  /// Distances are in radians.
  case near(GeoPoint, limit: Double?)
  case inside(GeoArea)
  case covers(GeoPoint)

  func holds(for value: JSONValue?) -> Bool {
    switch self {
    case .equals(let wanted): Self.isEqual(value, wanted)
    case .differs(let wanted): !Self.isEqual(value, wanted)
    case .less(let bound, let orEqual): Self.one(of: value) { Self.isOrdered($0, bound, orEqual) }
    case .greater(let bound, let orEqual): Self.one(of: value) { Self.isOrdered(bound, $0, orEqual) }
    case .isIn(let keys): Self.isAmong(value, keys)
    case .isNotIn(let keys): !Self.isAmong(value, keys)
    case .holdsAll(let wanted): !wanted.isEmpty && wanted.allSatisfy { Self.isEqual(value, $0) }
    case .matchesAll(let patterns):
      patterns.allSatisfy { pattern in Self.one(of: value) { $0.stringValue.map(pattern.matches) ?? false } }
    case .isContained(let keys): (value?.arrayValue ?? []).allSatisfy { keys.contains(Values.key($0)) }
    case .exists(let isThere): (value != nil) == isThere
    case .pattern(let pattern): Self.one(of: value) { $0.stringValue.map(pattern.matches) ?? false }
    case .near(let point, let limit): GeoPoint(value).map { point.radians(to: $0) <= limit ?? .infinity } ?? false
    case .inside(let area): GeoPoint(value).map(area.contains) ?? false
    case .covers(let point): GeoArea(stored: value)?.contains(point) ?? false
    }
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

  private static func isAmong(_ value: JSONValue?, _ keys: Set<String>) -> Bool {
    guard let value else { return keys.contains("null") }
    return keys.contains(Values.key(value)) || value.arrayValue?.contains { keys.contains(Values.key($0)) } == true
  }
}

/// A regular expression with the options of a query. Not Sendable; each query compiles its own.
struct TextPattern {
  private let regex: Regex<AnyRegexOutput>

  /// - Throws: An unexpected ``ParseError`` for an invalid expression, as from the database.
  init(_ pattern: String, options: String) throws(ParseError) {
    // SDKs quote prefixes with PCRE's `\Q…\E`; the options follow.
    let text = (options.contains("x") ? "(?x)" : "") + Self.withoutStrayEnds(pattern)
    do {
      var regex = try Regex(text).matchingSemantics(.unicodeScalar)
      if options.contains("i") { regex = regex.ignoresCase() }
      if options.contains("m") { regex = regex.anchorsMatchLineEndings() }
      if options.contains("s") { regex = regex.dotMatchesNewlines() }
      self.regex = regex
    } catch {
      throw .unexpected("Regular expression is invalid: \(error)")
    }
  }

  /// Removes a `\E` without `\Q`, which PCRE ignores.
  private static func withoutStrayEnds(_ pattern: String) -> String {
    var kept = "", rest = pattern[...], isQuoted = false
    while let slash = rest.firstIndex(of: "\\") {
      let end = rest.index(slash, offsetBy: 2, limitedBy: rest.endIndex) ?? rest.endIndex, pair = rest[slash..<end]
      kept += rest[..<slash]
      if isQuoted, pair != "\\E" {
        kept += "\\"
        rest = rest[rest.index(after: slash)...]
        continue
      }
      if isQuoted || pair != "\\E" { kept += pair }
      isQuoted = pair == "\\Q"
      rest = rest[end...]
    }
    return kept + rest
  }

  func matches(_ text: String) -> Bool { (try? regex.firstMatch(in: text)) != nil }
}
