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

  /// Whether a body leaves the server with the same object when it is sent twice. `Increment` and `Add` do not; neither does an
  /// operation that is not known.
  static func isRepeatable(_ body: JSONObject) -> Bool { body.allSatisfy { isRepeatable($0.value) } }

  private static let repeatable: Set = ["AddUnique", "Remove", "Delete", "AddRelation", "RemoveRelation"]

  private static func isRepeatable(_ value: JSONValue) -> Bool {
    guard let name = value["__op"]?.stringValue else { return true }
    guard name == "Batch" else { return repeatable.contains(name) }
    return (value["ops"]?.arrayValue ?? []).allSatisfy(isRepeatable)
  }
}
