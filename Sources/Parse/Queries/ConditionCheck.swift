import JSON

/// Validates a `where` and rewrites it so that the server evaluates it as intended: `$eq` with a
/// pointer becomes a bare pointer, and `$relatedTo` is separated from `$or` and `$and`. A condition
/// that would find nothing or be rejected is an error before the first request.
struct ConditionCheck {
  /// The relation columns of the queried class.
  let relationFields: IdSet

  private static let composing: Set = ["$or", "$and", "$nor"]
  private static let onRelations: Set = ["$in", "$nin", "$ne"]

  /// - Throws: ``ParseProblem``, which names the field or the operator.
  func checked(_ condition: JSONObject) throws(ParseProblem) -> JSONObject {
    var kept = JSONObject()
    var apart: [JSONValue] = []
    for (key, value) in condition {
      switch key {
      case _ where Self.composing.contains(key): kept[key] = .array(try list(key, value))
      case "$relatedTo": kept[key] = value
      default:
        try check(key)
        for part in try constraints(key, value) {
          if kept[key] == nil { kept[key] = part } else { apart.append(.object(JSONObject([(key, part)]))) }
        }
      }
    }
    if let related = kept["$relatedTo"], kept["$or"] != nil || kept["$and"] != nil || !apart.isEmpty {
      // Next to these, the server ignores it.
      kept["$relatedTo"] = nil
      apart.insert(["$relatedTo": related], at: 0)
    }
    guard !apart.isEmpty else { return kept }
    return ["$and": .array(apart + (kept.isEmpty ? [] : [.object(kept)]))]
  }

  private func check(_ field: String) throws(ParseProblem) {
    guard field != "ACL" else {
      throw ParseProblem(description: "where: 'ACL' cannot be queried; the server applies it by itself")
    }
    guard ParseNames.isPath(field) else {
      let operators = (Self.composing.sorted() + ["$relatedTo"]).joined(separator: ", ")
      throw ParseProblem(description: "where: '\(field)' is neither a field nor one of \(operators)")
    }
  }

  private func list(_ key: String, _ value: JSONValue) throws(ParseProblem) -> [JSONValue] {
    guard let items = value.arrayValue, key != "$nor" || !items.isEmpty else {
      throw ParseProblem(description: "where: \(key) must be a list of conditions\(key == "$nor" ? ", at least one" : "")")
    }
    var checked: [JSONValue] = []
    for item in items {
      guard let object = item.objectValue else {
        throw ParseProblem(description: "where: \(key) must be a list of conditions, not of \(item.kindName)s")
      }
      checked.append(.object(try self.checked(object)))
    }
    return checked
  }

  // MARK: Constraints

  /// Returns the constraints on a field: usually one, but several if a bare pointer must be
  /// separated.
  private func constraints(_ field: String, _ value: JSONValue) throws(ParseProblem) -> [JSONValue] {
    guard var constraint = value.objectValue, constraint["__type"] == nil else {
      if relationFields.contains(field), value["__type"] != "Pointer" { throw relation(field, "a value that is not a Pointer") }
      return [value]
    }
    var parts: [JSONValue] = []
    if let equal = constraint["$eq"], equal["__type"] == "Pointer" {
      parts.append(equal)
      constraint["$eq"] = nil
    }
    if relationFields.contains(field), let wrong = constraint.keys.first(where: { !Self.onRelations.contains($0) }) {
      throw relation(field, wrong)
    }
    for name in ["$inQuery", "$notInQuery"] {
      if let query = constraint[name] { constraint[name] = try subQuery(query) }
    }
    for name in ["$select", "$dontSelect"] {
      guard var selection = constraint[name]?.objectValue, let query = selection["query"] else { continue }
      selection["query"] = try subQuery(query)
      constraint[name] = .object(selection)
    }
    // An object without operators is itself a value.
    if parts.isEmpty || !constraint.isEmpty { parts.append(.object(constraint)) }
    return parts
  }

  private func relation(_ field: String, _ what: String) -> ParseProblem {
    ParseProblem(
      description: "where: \(what) finds nothing on the relation '\(field)'; use a Pointer, or $in, $nin or $ne with Pointers")
  }

  /// Checks a subquery. It queries another class, whose relations are not known here.
  private func subQuery(_ query: JSONValue) throws(ParseProblem) -> JSONValue {
    guard var query = query.objectValue, let inner = query["where"]?.objectValue else { return query }
    query["where"] = .object(try ConditionCheck(relationFields: []).checked(inner))
    return .object(query)
  }
}
