import JSON

/// A change that the server applies to its current value, instead of a new value.
enum FieldOperation: Sendable, Equatable {
  /// Adds a number, which may be negative.
  case increment(JSONValue)
  case add([JSONValue])
  case addUnique([JSONValue])
  case remove([JSONValue])
  case delete

  var json: JSONValue {
    switch self {
    case .increment(let amount): ["__op": "Increment", "amount": amount]
    case .add(let objects): ["__op": "Add", "objects": .array(objects)]
    case .addUnique(let objects): ["__op": "AddUnique", "objects": .array(objects)]
    case .remove(let objects): ["__op": "Remove", "objects": .array(objects)]
    case .delete: ["__op": "Delete"]
    }
  }

  var name: String { json["__op"]?.stringValue ?? "Set" }

  // MARK: Local values

  /// Returns the changed value, as far as it is known locally.
  func applied(to value: JSONValue?) -> JSONValue? {
    let list = value?.arrayValue ?? []
    return switch self {
    case .increment(let amount): Self.sum(value ?? 0, amount)
    case .add(let values): .array(list + values)
    case .addUnique(let values): .array(values.reduce(into: list) { all, one in if !all.contains(one) { all.append(one) } })
    case .remove(let values): .array(list.filter { !values.contains($0) })
    case .delete: nil
    }
  }

  /// Combines this with an earlier change of the same field, as a value or as one operation.
  /// Returns nil if no single operation has both effects.
  func combined(with earlier: JSONValue) -> JSONValue? {
    guard self != .delete else { return json }
    guard let name = earlier["__op"]?.stringValue else { return applied(to: earlier) }
    if name == "Delete" { return applied(to: nil) }
    if case .increment(let amount) = self, name == "Increment" {
      return FieldOperation.increment(Self.sum(earlier["amount"] ?? 0, amount)).json
    }
    guard name == json["__op"]?.stringValue, let known = earlier["objects"]?.arrayValue, let more = json["objects"]?.arrayValue
    else { return nil }
    return ["__op": .string(name), "objects": .array(known + more)]
  }

  private static func sum(_ a: JSONValue, _ b: JSONValue) -> JSONValue {
    if let a = a.integerValue, let b = b.integerValue {
      let (sum, isTooLarge) = a.addingReportingOverflow(b)
      if !isTooLarge { return .integer(sum) }
    }
    return .number((a.doubleValue ?? 0) + (b.doubleValue ?? 0))
  }

  // MARK: Sending

  /// Whether sending a body twice has the same effect as sending it once. `Increment`, `Add` and
  /// unknown operations are not repeatable.
  static func isRepeatable(_ body: JSONObject) -> Bool { body.allSatisfy { isRepeatable($0.value) } }

  private static let repeatable: Set = ["AddUnique", "Remove", "Delete", "AddRelation", "RemoveRelation"]
  private static let others: Set = ["Increment", "Add", "Batch"]
  /// Separates the names of operations that one request cannot combine.
  private static let joint = " and then "

  /// Returns the columns that a body changes by operations that depend on the server's value.
  static func columns(in body: JSONObject) -> IdSet {
    let names: Set = ["Increment", "Add", "AddUnique", "Remove"]
    let changed = body.filter { _, value in value["__op"]?.stringValue.map(names.contains) == true }
    return IdSet(changed.map { FieldPath($0.key).root })
  }

  private static func isRepeatable(_ value: JSONValue) -> Bool {
    guard let name = value["__op"]?.stringValue else { return true }
    guard name == "Batch" else { return repeatable.contains(name) }
    return (value["ops"]?.arrayValue ?? []).allSatisfy(isRepeatable)
  }

  /// Returns a marker for two operations on an unknown value, which ``check(_:on:)`` rejects.
  static func clash(_ earlier: JSONValue, _ name: String) -> JSONValue {
    ["__op": .string([earlier["__op"]?.stringValue ?? "Set", name].joined(separator: joint))]
  }

  /// - Throws: ``ParseProblem`` for an unknown operation, for which the server would fail with an
  ///   internal error.
  static func check(_ name: String, on field: String) throws(ParseProblem) {
    guard !repeatable.contains(name), !others.contains(name) else { return }
    guard !name.contains(joint) else {
      throw ParseProblem(
        description: "field '\(field)' was changed by \(name), one request cannot express both changes, and the current value is "
          + "not known: fetch the object first, or save it between the two changes")
    }
    let known = repeatable.union(others).sorted().joined(separator: ", ")
    throw ParseProblem(description: "field '\(field)': operation '\(name)' is not known; known: \(known)")
  }
}
