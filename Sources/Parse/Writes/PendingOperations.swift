import JSON
import MobileSync

/// The operations of scripts on an entry that was edited offline, from its member `__operations__`:
/// `{"n": {"op": "Increment", "value": 5}}`.
///
/// The value is that of the field after the operation. If the field has another value now, it was
/// also changed in another way, and is sent as a value.
struct PendingOperations {
  private let all: [(path: FieldPath, name: String, kind: String, value: JSONValue)]

  init(_ entry: JSONObject) {
    all = (entry[LocalField.operations]?.objectValue ?? [:]).compactMap { name, change in
      guard let kind = change["op"]?.stringValue, let value = change["value"] else { return nil }
      return (FieldPath(name), name, kind, value)
    }
  }

  /// Returns the operations that make a column's value from its base.
  ///
  /// - Returns: nil if operations alone do not make it.
  func changes(of column: String, _ value: JSONValue, from base: JSONValue?) -> [(name: String, operation: FieldOperation)]? {
    let own = all.filter { $0.path.root == column }
    guard !own.isEmpty, let base else { return nil }
    let entry: JSONObject = [column: value]
    var rest: JSONObject = [column: base], operations: [(name: String, operation: FieldOperation)] = []
    for pending in own {
      guard let now = pending.path.value(in: entry), now.isSame(as: pending.value),
        let before = pending.path.value(in: rest), let operation = Self.operation(pending.kind, from: before, to: now)
      else { return nil }
      pending.path.set(now, in: &rest)
      if !now.isSame(as: before) { operations.append((pending.name, operation)) }
    }
    return rest[column].map { $0.isSame(as: value) } == true ? operations : nil
  }

  private static func operation(_ kind: String, from before: JSONValue, to now: JSONValue) -> FieldOperation? {
    if kind == "Increment" { return difference(now, before).map { .increment($0) } }
    guard let before = before.arrayValue, let now = now.arrayValue else { return nil }
    if kind == "Remove" {
      let gone = before.reduce(into: [JSONValue]()) { gone, one in
        if !(now + gone).contains(where: { $0.isSame(as: one) }) { gone.append(one) }
      }
      let left = before.filter { one in !gone.contains { $0.isSame(as: one) } }
      return JSONValue.array(left).isSame(as: .array(now)) ? .remove(gone) : nil
    }
    let kept = Array(now.prefix(before.count))
    guard now.count >= before.count, JSONValue.array(kept).isSame(as: .array(before)) else { return nil }
    let added = Array(now.dropFirst(before.count))
    switch kind {
    case "Add": return .add(added)
    case "AddUnique": return .addUnique(added)
    default: return nil
    }
  }

  private static func difference(_ a: JSONValue, _ b: JSONValue) -> JSONValue? {
    if let a = a.integerValue, let b = b.integerValue {
      let (difference, isTooLarge) = a.subtractingReportingOverflow(b)
      if !isTooLarge { return .integer(difference) }
    }
    guard let a = a.doubleValue, let b = b.doubleValue, (a - b).isFinite else { return nil }
    return .number(a - b)
  }
}
