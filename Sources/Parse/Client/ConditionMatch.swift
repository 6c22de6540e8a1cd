import JSON
import MobileSync
import Support

/// Tells whether a row of a soup meets a condition, by the server's rules. Conditions that only the
/// server can evaluate are errors.
struct ConditionMatch {
  /// Looks up other objects for conditions on pointers and relations.
  struct Lookups {
    /// Returns the ids of a class's objects that meet a condition.
    var ids: (_ className: String, _ condition: JSONObject) throws -> IdSet
    /// Returns the ids of the objects in a relation of one object.
    var related: (_ owner: ParsePointer, _ field: String) throws -> IdSet
    /// Returns the ids of objects of the queried class whose relation contains any of these; nil if
    /// the field is not a relation.
    var owners: (_ field: String, _ targets: IdSet) throws -> IdSet?
    /// Throws if the evaluation has to end.
    var check: () throws -> Void
  }

  private indirect enum Test {
    case all([Test]), any([Test]), not(Test)
    case id(IdSet)
    case field(String, FieldTest)
  }

  private enum FieldTest {
    case equal(JSONValue), isIn([JSONValue]), holdsAll([JSONValue]), isContained([JSONValue])
    case compare(JSONValue, (Int) -> Bool)
    case exists
    case matches(RegularExpression)
    /// Pointers to any of these objects.
    case pointsTo(String, IdSet)
  }

  private let test: Test
  private let check: () throws -> Void

  /// - Throws: ``ParseProblem`` for conditions that only the server can evaluate, or that it would
  ///   reject.
  init(_ condition: JSONObject, _ lookups: Lookups) throws {
    test = try Self.read(condition, lookups)
    check = lookups.check
  }

  /// - Throws: ``ParseProblem`` if a regular expression takes too long.
  func holds(for row: JSONObject) throws -> Bool { try holds(test, row) }

  // MARK: Parsing

  private static func read(_ condition: JSONObject, _ lookups: Lookups) throws -> Test {
    .all(try condition.map { key, value in try read(key, value, lookups) })
  }

  private static func read(_ key: String, _ value: JSONValue, _ lookups: Lookups) throws -> Test {
    switch key {
    case "$and": return .all(try list(value, lookups))
    case "$or": return .any(try list(value, lookups))
    case "$nor": return .not(.any(try list(value, lookups)))
    case "$relatedTo":
      guard let owner = pointer(value["object"]), let field = value["key"]?.stringValue else {
        throw ParseProblem(description: "where: $relatedTo needs 'object', a pointer, and 'key'")
      }
      return .id(try lookups.related(owner, field))
    default: return try read(field: key, value, lookups)
    }
  }

  private static func list(_ value: JSONValue, _ lookups: Lookups) throws -> [Test] {
    try (value.arrayValue ?? []).compactMap(\.objectValue).map { try read($0, lookups) }
  }

  private static func read(field: String, _ value: JSONValue, _ lookups: Lookups) throws -> Test {
    guard let operators = value.objectValue, operators.keys.contains(where: { $0.hasPrefix("$") }) else {
      if let id = pointer(value)?.objectId, let owners = try lookups.owners(field, [id]) { return .id(owners) }
      return .field(field, .equal(value))
    }
    return .all(try operators.compactMap { try read(field, $0.key, $0.value, operators, lookups) })
  }

  private static func read(
    _ field: String, _ name: String, _ value: JSONValue, _ all: JSONObject, _ lookups: Lookups
  ) throws -> Test? {
    func list() throws -> [JSONValue] {
      guard let list = value.arrayValue else { throw ParseProblem(description: "where: '\(field)': \(name) must be a list") }
      return list
    }
    func related(_ values: [JSONValue]) throws -> Test? {
      let ids = IdSet(values.compactMap { pointer($0)?.objectId })
      return ids.isEmpty ? nil : try lookups.owners(field, ids).map { .id($0) }
    }
    switch name {
    case "$eq": return .field(field, .equal(value))
    case "$ne": return .not(try related([value]) ?? .field(field, .equal(value)))
    case "$lt": return .field(field, .compare(value) { $0 < 0 })
    case "$lte": return .field(field, .compare(value) { $0 <= 0 })
    case "$gt": return .field(field, .compare(value) { $0 > 0 })
    case "$gte": return .field(field, .compare(value) { $0 >= 0 })
    case "$in": return try related(list()) ?? .field(field, .isIn(list()))
    case "$nin": return .not(try related(list()) ?? .field(field, .isIn(list())))
    case "$all": return .field(field, .holdsAll(try list()))
    case "$containedBy": return .field(field, .isContained(try list()))
    case "$exists": return value == false ? .not(.field(field, .exists)) : .field(field, .exists)
    case "$options": return nil
    case "$regex": return .field(field, .matches(try regex(field, value, all["$options"])))
    case "$inQuery", "$notInQuery":
      guard let className = value["className"]?.stringValue else {
        throw ParseProblem(description: "where: '\(field)': \(name) needs 'className' and 'where'")
      }
      let found = Test.field(field, .pointsTo(className, try lookups.ids(className, value["where"]?.objectValue ?? [:])))
      return name == "$inQuery" ? found : .not(found)
    default:
      throw ParseProblem(description: "where: '\(field)': \(name) cannot be evaluated on a soup; query the server")
    }
  }

  private static func regex(_ field: String, _ pattern: JSONValue, _ options: JSONValue?) throws -> RegularExpression {
    let text = pattern.stringValue ?? ""
    do {
      return try RegularExpression(text, options: options?.stringValue ?? "")
    } catch {
      throw ParseProblem(description: "where: '\(field)': the regular expression '\(text.prefix(200))' cannot be used: \(error)")
    }
  }

  private static func pointer(_ value: JSONValue?) -> ParsePointer? {
    guard value?["__type"] == "Pointer", let className = value?["className"]?.stringValue,
      let id = value?["objectId"]?.stringValue
    else { return nil }
    return ParsePointer(className: className, objectId: id)
  }

  // MARK: Evaluation

  private func holds(_ test: Test, _ row: JSONObject) throws -> Bool {
    switch test {
    case .all(let tests): try tests.allSatisfy { try holds($0, row) }
    case .any(let tests): try tests.contains { try holds($0, row) }
    case .not(let test): try !holds(test, row)
    case .id(let ids): row["objectId"]?.stringValue.map(ids.contains) ?? false
    case .field(let field, let test): try holds(test, Self.found(at: FieldPath(field).names, in: .object(row)), field)
    }
  }

  /// Returns the value at a path; nil if the field is missing or null.
  static func value(_ path: String, _ row: JSONObject) -> JSONValue? {
    found(at: FieldPath(path).names, in: .object(row)).flatMap { $0.isNull ? Optional.none : $0 }
  }

  /// Looks up a path. A number after a list is an index; any other name applies to every element.
  private static func found(at path: ArraySlice<String>, in value: JSONValue) -> JSONValue? {
    guard let name = path.first else { return value }
    switch value {
    case .object(let members): return members[name].flatMap { found(at: path.dropFirst(), in: $0) }
    case .array(let items):
      if let place = Int(name) { return items.indices.contains(place) ? found(at: path.dropFirst(), in: items[place]) : nil }
      let all = items.compactMap { found(at: path, in: $0) }
      return all.isEmpty ? nil : .array(all)
    default: return nil
    }
  }

  /// - Parameter there: The field's value. A list meets a test if any of its elements does.
  private func holds(_ test: FieldTest, _ there: JSONValue?, _ field: String) throws -> Bool {
    let value = there.flatMap { $0.isNull ? Optional.none : $0 }
    func one(_ test: (JSONValue) throws -> Bool) rethrows -> Bool {
      try (value?.arrayValue ?? [value].compactMap { $0 }).contains(where: test)
    }
    switch test {
    case .equal(let wanted): return wanted.isNull ? value == nil : Self.isEqual(value, wanted)
    case .isIn(let list):
      return try list.contains {
        try check()
        return $0.isNull ? value == nil : Self.isEqual(value, $0)
      }
    case .holdsAll(let list):
      return try !list.isEmpty
        && list.allSatisfy {
          try check()
          return Self.isEqual(value, $0)
        }
    case .isContained(let list):
      return try (value?.arrayValue ?? []).allSatisfy { one in
        try check()
        return list.contains { Self.isSame(one, $0) }
      }
    case .compare(let other, let isRight): return one { Self.order($0, other).map(isRight) ?? false }
    case .exists: return there != nil
    case .matches(let expression):
      do {
        return try one { try $0.stringValue.map { try expression.matches($0) } ?? false }
      } catch let problem as RegularExpression.Problem {
        throw ParseProblem(description: "where: '\(field)': the regular expression takes too long: \(problem)")
      }
    case .pointsTo(let className, let ids):
      return (value?.arrayValue ?? [value].compactMap { $0 }).contains { one in
        one["className"]?.stringValue == className && one["objectId"]?.stringValue.map(ids.contains) ?? false
      }
    }
  }

  /// Equal to the value, or a list that contains it.
  private static func isEqual(_ value: JSONValue?, _ wanted: JSONValue) -> Bool {
    guard let value else { return false }
    if let list = value.arrayValue, wanted.arrayValue == nil { return list.contains { isSame($0, wanted) } }
    return isSame(value, wanted)
  }

  private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
    if let id = a["objectId"]?.stringValue, let other = b["objectId"]?.stringValue {
      return id == other && a["className"] == b["className"]
    }
    return order(a, b).map { $0 == 0 } ?? (a == b)
  }

  /// Returns a negative number, zero or a positive number; nil for values of different types, which
  /// have no order.
  static func order(_ a: JSONValue, _ b: JSONValue) -> Int? {
    if let a = a.doubleValue, let b = b.doubleValue { return a < b ? -1 : a > b ? 1 : 0 }
    if a["__type"] == "Date" || b["__type"] == "Date" {
      guard let a = moment(a), let b = moment(b) else { return nil }
      return a < b ? -1 : a > b ? 1 : 0
    }
    if let a = a.stringValue, let b = b.stringValue {
      return a.utf8.elementsEqual(b.utf8) ? 0 : a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1
    }
    if let a = a.boolValue, let b = b.boolValue { return a == b ? 0 : a ? 1 : -1 }
    return nil
  }

  /// `createdAt` and `updatedAt` are plain texts.
  private static func moment(_ value: JSONValue) -> Int64? {
    (value["iso"] ?? value).stringValue.flatMap { TimeStamp.milliseconds($0) }
  }
}
