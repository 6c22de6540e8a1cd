import JSON
import RecordScan

/// A change of one value that is applied to the value as it is stored by then. The JSON forms are
/// those of Parse servers, and `Set` for a value at a path.
public enum EntryOperation: Sendable, Equatable {
  case set(JSONValue)
  /// Adds a number, which may be negative.
  case increment(JSONValue)
  case add([JSONValue])
  case addUnique([JSONValue])
  /// Removes all occurrences of values.
  case remove([JSONValue])
  case delete

  /// Parses `{"__op": …}`.
  /// - Throws: ``StoreError`` `.invalidEntry`, naming the path and the mistake.
  public init(_ json: JSONValue, at path: String) throws(StoreError) {
    func objects() throws(StoreError) -> [JSONValue] {
      guard let list = json["objects"]?.arrayValue else { throw Self.problem(path, "'objects' must be an array") }
      return list
    }
    switch json["__op"]?.stringValue {
    case "Set": self = .set(json["value"] ?? .null)
    case "Increment":
      let amount = json["amount"] ?? 1
      guard let number = amount.doubleValue, number.isFinite else { throw Self.problem(path, "'amount' must be a number") }
      self = .increment(amount)
    case "Add": self = .add(try objects())
    case "AddUnique": self = .addUnique(try objects())
    case "Remove": self = .remove(try objects())
    case "Delete": self = .delete
    case let name:
      throw Self.problem(
        path, "__op must be Set, Increment, Add, AddUnique, Remove or Delete, got \(name.map { "'\($0)'" } ?? "none")")
    }
  }

  /// Returns the changed value; nil if it is to be removed.
  /// - Throws: ``StoreError`` `.invalidEntry` if the stored value has the wrong kind.
  func applied(to value: JSONValue?, at path: String) throws(StoreError) -> JSONValue? {
    switch self {
    case .set(let value): return value
    case .delete: return nil
    case .increment(let amount): return try Self.sum(value, amount, at: path)
    case .add(let more): return .array(try Self.list(value, at: path) + more)
    case .addUnique(let more):
      var list = try Self.list(value, at: path)
      for one in more where !list.contains(where: { $0.isSameValue(as: one) }) { list.append(one) }
      return .array(list)
    case .remove(let those):
      return .array(try Self.list(value, at: path).filter { one in !those.contains { $0.isSameValue(as: one) } })
    }
  }

  private static func list(_ value: JSONValue?, at path: String) throws(StoreError) -> [JSONValue] {
    guard let value, !value.isNull else { return [] }
    guard let list = value.arrayValue else { throw problem(path, "the stored value is not an array") }
    return list
  }

  private static func sum(_ value: JSONValue?, _ amount: JSONValue, at path: String) throws(StoreError) -> JSONValue {
    let value = value.map { $0.isNull ? 0 : $0 } ?? 0
    guard let number = value.doubleValue, let step = amount.doubleValue else {
      throw problem(path, "the stored value is not a number")
    }
    if case .integer(let a) = value, case .integer(let b) = amount {
      let (sum, isTooLarge) = a.addingReportingOverflow(b)
      if !isTooLarge { return .integer(sum) }
    }
    guard (number + step).isFinite else { throw problem(path, "the sum is too large") }
    return .number(number + step)
  }

  static func problem(_ path: String, _ what: String) -> StoreError {
    StoreError(.invalidEntry, "operation on '\(path)': \(what)")
  }
}

/// The place of a value in an entry: names of members, and positions in arrays, counted from 0.
struct EntryPath {
  let text: String
  private let steps: [Substring]

  init(_ text: String) {
    self.text = text
    steps = text.split(separator: ".", omittingEmptySubsequences: false)
  }

  /// Applies an operation to the value at the path. Missing objects on the way are created.
  func apply(_ operation: EntryOperation, to entry: inout JSONObject) throws(StoreError) {
    guard steps.count <= JSONWalker.maximumDepth else {
      throw EntryOperation.problem("\(text.prefix(20))…", "the path has more than \(JSONWalker.maximumDepth) names")
    }
    guard case .object(let changed)? = try changed(.object(entry), steps[...], operation) else { return }
    entry = changed
  }

  private func changed(
    _ value: JSONValue?, _ rest: ArraySlice<Substring>, _ operation: EntryOperation
  ) throws(StoreError) -> JSONValue? {
    guard let step = rest.first else { return try operation.applied(to: value, at: text) }
    let further = rest.dropFirst()
    switch value {
    case .array(var list)?:
      guard let i = Int(step), list.indices.contains(i) else {
        throw EntryOperation.problem(text, "the array has no element '\(step)'; it has \(list.count), counted from 0")
      }
      if let element = try changed(list[i], further, operation) { list[i] = element } else { list.remove(at: i) }
      return .array(list)
    case .object(var object)?:
      let key = String(step), before = object[key]
      if before == nil, operation == .delete { return .object(object) }
      object[key] = try changed(before, further, operation)
      return .object(object)
    case .null?, nil:
      if operation == .delete { return value }
      return try changed(.object([:]), rest, operation)
    default: throw EntryOperation.problem(text, "'\(step)' is not inside an object or an array")
    }
  }
}

extension JSONValue {
  /// Returns whether two values are equal: numbers by value in any spelling, texts byte by byte, members
  /// in any order. A value that a script read and passes back is the same as the stored one.
  package func isSameValue(as other: JSONValue) -> Bool {
    switch (self, other) {
    case (.integer(let a), .integer(let b)): a == b
    case (.number, .number): doubleValue == other.doubleValue
    // Scripts hold every integer, so one beside a double must be that number and not the nearest.
    case (.integer(let a), .number(let b)), (.number(let b), .integer(let a)): Int64(exactly: b) == a
    case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
    case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.isSameValue(as: $1) }
    case (.object(let a), .object(let b)):
      a.count == b.count && a.allSatisfy { key, value in b[key].map { value.isSameValue(as: $0) } ?? false }
    default: self == other || isSameDouble(as: other)
    }
  }

  /// Whether both are the same double and one of them is written as a script writes doubles.
  private func isSameDouble(as other: JSONValue) -> Bool {
    guard let a = doubleValue, let b = other.doubleValue, a == b else { return false }
    return [self, other].contains { if case .decimal(let text) = $0 { KeptNumbers.isOfDouble(text) } else { false } }
  }
}
