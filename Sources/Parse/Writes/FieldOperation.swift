import JSON

/// A change that the server makes to a value, in place of a new value.
enum FieldOperation: Sendable, Equatable {
  /// By a number, which may be negative.
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

  // MARK: Here

  /// What becomes of a value, as far as it is known here.
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

  /// The same field was changed before: both at once, as a value or as one operation. nil where one cannot say both.
  func laid(over earlier: JSONValue) -> JSONValue? {
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

  /// Whether a body leaves the server with the same object when it is sent twice. `Increment` and `Add` do not; neither does an
  /// operation that is not known.
  static func isRepeatable(_ body: JSONObject) -> Bool { body.allSatisfy { isRepeatable($0.value) } }

  private static let repeatable: Set = ["AddUnique", "Remove", "Delete", "AddRelation", "RemoveRelation"]
  private static let others: Set = ["Increment", "Add", "Batch"]
  /// Between the names of operations that one request cannot make together.
  private static let joint = " and then "

  private static func isRepeatable(_ value: JSONValue) -> Bool {
    guard let name = value["__op"]?.stringValue else { return true }
    guard name == "Batch" else { return repeatable.contains(name) }
    return (value["ops"]?.arrayValue ?? []).allSatisfy(isRepeatable)
  }

  /// Stands for two operations on a value that is not known here: ``check(_:on:)`` refuses it.
  func clashing(with earlier: JSONValue) -> JSONValue {
    ["__op": .string([earlier, json].compactMap { $0["__op"]?.stringValue }.joined(separator: Self.joint))]
  }

  /// - Throws: ``ParseProblem`` for an operation that the server does not know: it would fail with an internal error.
  static func check(_ name: String, on field: String) throws(ParseProblem) {
    guard !repeatable.contains(name), !others.contains(name) else { return }
    guard !name.contains(joint) else {
      throw ParseProblem(
        description: "field '\(field)' was changed by \(name), which one request cannot do, and its value is not known here: "
          + "fetch the object first, or save it between the two")
    }
    let known = repeatable.union(others).sorted().joined(separator: ", ")
    throw ParseProblem(description: "field '\(field)': operation '\(name)' is not known; known: \(known)")
  }
}
