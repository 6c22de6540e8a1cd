import JSON

/// Reads the `where` objects of one caller: validates them, and resolves relations and sub-queries.
struct ConditionReader {
  let state: ParseState
  let caller: Caller
  let settings: ParseSettings
  /// The nesting depth of this query.
  var depth = 0

  func condition(_ given: JSONObject, of className: String) throws(ParseError) -> Condition {
    guard depth < Tuning.queryDepth else { throw ParseError(.invalidQuery, "The query is nested too deeply.") }
    if given["ACL"] != nil { throw ParseError(.invalidQuery, "Cannot query on ACL.") }
    var parts: [Condition] = []
    // As in parse-server, `$relatedTo` is not expanded next to `$or` or `$and`.
    let isComposed = given["$or"] != nil || given["$and"] != nil
    for (key, value) in given {
      switch key {
      case "$or": parts.append(.any(try conditions(value, "Bad $or format - use an array value.", of: className)))
      case "$and": parts.append(.all(try conditions(value, "Bad $and format - use an array value.", of: className)))
      case "$nor":
        let text = "Bad $nor format - use an array of at least 1 value."
        guard value.arrayValue?.isEmpty == false else { throw ParseError(.invalidQuery, text) }
        parts.append(.none(try conditions(value, text, of: className)))
      case "$relatedTo" where !isComposed: parts.append(.ids(try related(value), isNegated: false))
      default: parts.append(try column(key, value, of: className))
      }
    }
    return parts.count == 1 ? parts[0] : .all(parts)
  }

  private func conditions(_ value: JSONValue, _ text: String, of className: String) throws(ParseError) -> [Condition] {
    guard let list = value.arrayValue else { throw ParseError(.invalidQuery, text) }
    var found: [Condition] = []
    for item in list {
      guard let object = item.objectValue else { throw ParseError(.invalidQuery, text) }
      found.append(try condition(object, of: className))
    }
    return found
  }

  // MARK: Relations

  private func related(_ value: JSONValue) throws(ParseError) -> IdSet {
    guard let owner = value["object"]?.objectValue, let className = owner["className"]?.stringValue,
      let key = value["key"]?.stringValue
    else { throw ParseError(.invalidQuery, "improper usage of $relatedTo") }
    // An owner that was never saved has no id and no targets.
    guard let id = owner["objectId"]?.stringValue else { return [] }
    return state.relations.targets(.init(className: className, name: key), of: id)
  }

  /// Returns the owners whose relation contains these targets; any other constraint matches
  /// nothing.
  private func relation(_ name: String, _ value: JSONValue, of className: String) -> Condition {
    let column = Relations.Column(className: className, name: name)
    func owners(_ targets: [JSONValue]) -> IdSet {
      targets.reduce(into: []) { all, target in
        if let id = target["objectId"]?.stringValue { all.formUnion(state.relations.owners(column, of: id)) }
      }
    }
    guard let object = value.objectValue else { return .ids([], isNegated: false) }
    if object["__type"] == "Pointer" { return .ids(owners([value]), isNegated: false) }
    var parts: [Condition] = []
    if let list = object["$in"]?.arrayValue { parts.append(.ids(owners(list), isNegated: false)) }
    if let list = object["$nin"]?.arrayValue { parts.append(.ids(owners(list), isNegated: true)) }
    if let target = object["$ne"] { parts.append(.ids(owners([target]), isNegated: true)) }
    return parts.isEmpty ? .ids([], isNegated: false) : .all(parts)
  }

  // MARK: Columns

  private func column(_ key: String, _ value: JSONValue, of className: String) throws(ParseError) -> Condition {
    let path = key.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    let isName =
      key.utf8.first.map(Names.isLetter) == true
      && path.allSatisfy { part in
        part.utf8.allSatisfy { Names.isLetter($0) || Names.isDigit($0) || $0 == UInt8(ascii: "_") }
      }
    guard isName else {
      guard caller.isMaster else { throw ParseError(.invalidKeyName, "Invalid key name: \(key)") }
      if key.hasPrefix("$") { throw .unexpected("unknown top level operator: \(key)") }
      return .ids([], isNegated: false)
    }
    if !caller.isMaster, isHidden(path[0], of: className) {
      throw ParseError(
        .operationForbidden, "This user is not allowed to query \(path[0]) on class \(className)")
    }
    if case .relation? = state.type(of: key, in: className) { return relation(key, try resolved(value), of: className) }
    guard var constraints = value.objectValue else { return try equality(path, value) }
    if constraints["__type"] != nil {
      // SDKs add constraints to an equality value.
      let operators = constraints.filtered { name, _ in name.hasPrefix("$") }
      let equal = try equality(path, .object(constraints.filtered { name, _ in !name.hasPrefix("$") }))
      guard !operators.isEmpty else { return equal }
      return .all([equal, .column(path: path, try tests(operators))])
    }
    if case .pointer(let target)? = state.type(of: key, in: className) { constraints = Self.pointing(constraints, to: target) }
    return .column(path: path, try tests(constraints))
  }

  private func equality(_ path: [String], _ value: JSONValue) throws(ParseError) -> Condition {
    .column(path: path, [.equals(try atom(value) { "You cannot use \($0) as a query parameter." })])
  }

  /// On a pointer column, replaces a bare id by a pointer to the column's class.
  private static func pointing(_ constraints: JSONObject, to className: String) -> JSONObject {
    func pointer(_ value: JSONValue) -> JSONValue { value.stringValue.map { Values.pointer(className, $0) } ?? value }
    return JSONObject(
      constraints.map { name, value in
        switch name {
        case "$eq", "$ne": (name, pointer(value))
        case "$in", "$nin": (name, value.arrayValue.map { JSONValue.array($0.map(pointer)) } ?? value)
        default: (name, value)
        }
      })
  }

  private func isHidden(_ column: String, of className: String) -> Bool {
    Visibility(state: state, caller: caller).hidden(in: className, of: nil).contains(column)
  }

  private func tests(_ given: JSONObject) throws(ParseError) -> [Test] {
    guard !given.isEmpty, given.keys.allSatisfy({ $0.hasPrefix("$") }) else {
      throw ParseError(.invalidJSON, "You cannot use [object Object] as a query parameter.")
    }
    var tests: [Test] = []
    for (name, value) in given { if let test = try test(name, value, siblings: given) { tests.append(test) } }
    return tests
  }

  private func test(_ name: String, _ value: JSONValue, siblings given: JSONObject) throws(ParseError) -> Test? {
    switch name {
    case "$eq": return .equals(try operand(value))
    case "$ne": return .differs(try operand(value))
    case "$lt", "$lte": return .less(try operand(value), orEqual: name == "$lte")
    case "$gt", "$gte": return .greater(try operand(value), orEqual: name == "$gte")
    case "$in": return .isIn(try keys(value, "bad $in value"))
    case "$nin": return .isNotIn(try keys(value, "bad $nin value"))
    case "$all": return try all(value)
    case "$containedBy": return .isContained(try keys(value, "bad $containedBy: should be an array"))
    case "$exists":
      guard let flag = value.boolValue else { throw ParseError(.invalidJSON, "bad $exists value") }
      return .exists(flag)
    case "$regex":
      guard let text = value.stringValue else { throw ParseError(.invalidJSON, "bad regex: \(value.text)") }
      return .pattern(try TextPattern(text, options: try options(given["$options"])))
    case "$options":
      _ = try options(value)
      return nil
    case "$inQuery", "$notInQuery":
      let keys = try subQuery(name, value)
      return name == "$inQuery" ? .isIn(keys) : .isNotIn(keys)
    case "$select", "$dontSelect":
      let keys = try selection(name, value)
      return name == "$select" ? .isIn(keys) : .isNotIn(keys)
    default: return try GeoReader(given: given).test(name, value)
    }
  }

  /// Reads values, or patterns that elements start with: `{"$regex":"^\\Qa\\E"}`. The two cannot be
  /// mixed.
  private func all(_ value: JSONValue) throws(ParseError) -> Test {
    guard let list = value.arrayValue, list.contains(where: { $0["$regex"] != nil }) else {
      return .holdsAll(try operands(value, "bad $all value"))
    }
    var patterns: [TextPattern] = []
    for item in list {
      guard let text = item["$regex"]?.stringValue, text.hasPrefix("^\\Q"), text.hasSuffix("\\E") else {
        throw ParseError(.invalidJSON, "All $all values must be of regex type or none: \(value.text)")
      }
      patterns.append(try TextPattern(text, options: ""))
    }
    return .matchesAll(patterns)
  }

  private func options(_ value: JSONValue?) throws(ParseError) -> String {
    guard let value else { return "" }
    guard let text = value.stringValue, !text.isEmpty, text.allSatisfy({ "imxs".contains($0) }) else {
      throw ParseError(.invalidQuery, "Bad $options value for query: \(value.stringValue ?? value.text)")
    }
    return text
  }

  // MARK: Values

  private func operand(_ value: JSONValue) throws(ParseError) -> JSONValue { try atom(value) { "bad atom: \($0)" } }

  /// Checks that a value can be compared directly; lists and untyped objects cannot.
  private func atom(_ value: JSONValue, _ complaint: (String) -> String) throws(ParseError) -> JSONValue {
    switch value {
    case .array: throw ParseError(.invalidJSON, complaint(value.text))
    case .object(let object):
      guard object["__type"] != nil else { throw ParseError(.invalidJSON, complaint(value.text)) }
      _ = try ColumnType.of(value)
      return try Values.stored(value)
    default: return value
    }
  }

  private func operands(_ value: JSONValue, _ complaint: String) throws(ParseError) -> [JSONValue] {
    guard let list = value.arrayValue else { throw ParseError(.invalidJSON, complaint) }
    var found: [JSONValue] = []
    for item in list {
      if let inner = item.arrayValue {
        for member in inner { found.append(try operand(member)) }
      } else if let object = item.objectValue, object["__type"] == nil {
        found.append(try Values.stored(item))
      } else {
        found.append(try operand(item))
      }
    }
    return found
  }

  private func keys(_ value: JSONValue, _ complaint: String) throws(ParseError) -> IdSet {
    IdSet(try operands(value, complaint).map(Values.key))
  }

  // MARK: Sub-queries

  /// Returns pointers to the results of a sub-query.
  private func subQuery(_ name: String, _ value: JSONValue) throws(ParseError) -> IdSet {
    guard let inner = value["where"]?.objectValue, let className = value["className"]?.stringValue else {
      throw ParseError(.invalidQuery, "improper usage of \(name)")
    }
    let found = try found(className, inner, value["redirectClassNameForKey"]?.stringValue)
    return IdSet(found.objects.map { "\(found.className)$\($0.id)" })
  }

  /// Returns the values of one column of the results of a sub-query.
  private func selection(_ name: String, _ value: JSONValue) throws(ParseError) -> IdSet {
    guard let object = value.objectValue, object.count == 2, let query = object["query"]?.objectValue,
      let key = object["key"]?.stringValue, let className = query["className"]?.stringValue
    else { throw ParseError(.invalidQuery, "improper usage of \(name)") }
    let path = key.split(separator: ".").map(String.init)
    let objects = try found(className, query["where"]?.objectValue ?? [:], query["redirectClassNameForKey"]?.stringValue).objects
    return IdSet(objects.flatMap { object in Self.selected(path, of: object).map(Values.key) })
  }

  /// Returns a column's value, or each element of a list. A path can lead into pointers.
  private static func selected(_ path: [String], of object: ParseObject) -> [JSONValue] {
    guard let first = path.first, let top = object.value(first) else { return [] }
    let pointed = path.dropFirst().reduce(Optional(top)) { $0?[$1] }
    guard let found = path.count == 1 ? top : object.value(at: path) ?? pointed else { return [] }
    return found.arrayValue ?? [found]
  }

  /// - Parameter redirect: A pointer column; its target class is queried instead.
  private func found(
    _ className: String, _ given: JSONObject, _ redirect: String?
  ) throws(ParseError) -> (className: String, objects: [ParseObject]) {
    var inner = self
    inner.depth += 1
    let name = redirect.flatMap { state.type(of: $0, in: className)?.targetClass } ?? className
    return (name, try Finder(reader: inner, className: name).objects(given))
  }

  /// Evaluates the sub-queries of a constraint on a relation column and replaces them by pointers.
  private func resolved(_ value: JSONValue) throws(ParseError) -> JSONValue {
    guard var object = value.objectValue else { return value }
    for (name, list) in [("$inQuery", "$in"), ("$notInQuery", "$nin")] {
      guard let inner = object[name] else { continue }
      let keys = try subQuery(name, inner).map { key -> JSONValue in
        let parts = key.split(separator: "$", maxSplits: 1).map(String.init)
        return Values.pointer(parts[0], parts.count > 1 ? parts[1] : "")
      }
      object[name] = nil
      object[list] = .array((object[list]?.arrayValue ?? []) + keys)
    }
    return .object(object)
  }
}
