import JSON
import SmartStore

/// An object of a class, as a program reads, changes and saves it.
///
/// What is set or changed by an operation is noted, so that a save sends these fields alone. A new object has an id of ours until
/// the server gives it one: other objects that are saved with it may point to it.
public struct ParseObject: Sendable, Equatable {
  public let className: String
  public private(set) var objectId: String
  /// As the server has them, or as they were set here.
  public private(set) var fields: JSONObject
  /// What the next save sends: values and operations, by field.
  public private(set) var changes = JSONObject()

  /// A new object.
  public init(_ className: String, _ fields: JSONObject = [:]) {
    self.className = className
    objectId = SoupField.localIdPrefix + UUIDText.make()
    self.fields = fields
    changes = fields
  }

  /// An object that the server has: as it was read, or its id alone.
  public init(_ className: String, objectId: String, _ fields: JSONObject = [:]) {
    self.className = className
    self.objectId = objectId
    self.fields = fields.filtered { key, _ in key != "objectId" }
  }

  /// An object with the changes that are to be saved; one of ours where the id is.
  public init(_ className: String, objectId: String, changes: JSONObject) {
    self.className = className
    self.objectId = objectId
    self.changes = changes
    fields = [:]
  }

  /// The fields with the id, as the server sends them.
  public var row: JSONObject { fields.replacing(with: ["objectId": .string(objectId)]) }

  /// True until the server has given it an id.
  public var isNew: Bool { pointer.isLocal }
  public var pointer: ParsePointer { ParsePointer(className: className, objectId: objectId) }

  /// A field. To set nil unsets it.
  public subscript(field: String) -> JSONValue? {
    get { fields[field] }
    set {
      fields[field] = newValue
      changes[field] = newValue ?? FieldOperation.delete.json
      if newValue == nil, isNew { changes[field] = nil }
    }
  }

  /// Adds to a number at the server, whatever it is there by then.
  public mutating func increment(_ field: String, by amount: Int64 = 1) {
    note(field, .increment(.integer(amount)))
    fields[field] = .integer((fields[field]?.integerValue ?? 0) &+ amount)
  }

  /// Appends to a list.
  public mutating func add(_ values: [JSONValue], to field: String) {
    note(field, .add(values))
    fields[field] = .array((fields[field]?.arrayValue ?? []) + values)
  }

  /// Appends to a list what it lacks.
  public mutating func addUnique(_ values: [JSONValue], to field: String) {
    note(field, .addUnique(values))
    let known = fields[field]?.arrayValue ?? []
    fields[field] = .array(known + values.filter { value in !known.contains { $0 == value } })
  }

  /// Takes values out of a list, each as often as it is there.
  public mutating func remove(_ values: [JSONValue], from field: String) {
    note(field, .remove(values))
    fields[field] = .array((fields[field]?.arrayValue ?? []).filter { value in !values.contains { $0 == value } })
  }

  /// Links objects of one class by a relation.
  public mutating func link(_ field: String, _ targets: [ParsePointer]) {
    change(field) {
      $0.link($1)
    } targets: {
      targets
    }
  }

  /// Removes links of a relation.
  public mutating func unlink(_ field: String, _ targets: [ParsePointer]) {
    change(field) {
      $0.unlink($1)
    } targets: {
      targets
    }
  }

  private mutating func note(_ field: String, _ operation: FieldOperation) {
    let value = changes[field].flatMap { operation.laid(over: $0) } ?? operation.json
    changes[field] = value
  }

  private mutating func change(
    _ field: String, _ apply: (inout RelationChange, String) -> Void, targets: () -> [ParsePointer]
  ) {
    let targets = targets()
    guard let className = targets.first?.className else { return }
    var change = RelationChange(field: field, className: className)
    change.take(changes[field])
    for target in targets { apply(&change, target.objectId) }
    changes[field] = change.wholeOperation
  }

  /// After a save: what the server made of it.
  mutating func take(_ saved: DeepSave.Saved) {
    objectId = saved.id
    for (key, value) in fields { fields[key] = LocalPointers.resolved(value, saved.ids) }
    for (key, value) in saved.fields where key != "objectId" { fields[key] = value }
    // It is on the server now; a copy here would only wait to be stolen.
    if className == "_User" { fields["password"] = nil }
    changes = [:]
  }
}

extension FieldOperation {
  /// The same field was changed before: both at once. nil where that cannot be said by one value.
  func laid(over earlier: JSONValue) -> JSONValue? {
    if case .increment(let amount) = self, earlier["__op"] == "Increment",
      let more = amount.integerValue, let known = earlier["amount"]?.integerValue
    {
      return FieldOperation.increment(.integer(known &+ more)).json
    }
    guard let name = earlier["__op"]?.stringValue else { return collapsed(on: earlier) }
    guard name == json["__op"]?.stringValue, let known = earlier["objects"]?.arrayValue, let more = json["objects"]?.arrayValue
    else { return nil }
    return ["__op": .string(name), "objects": .array(known + more)]
  }

  /// Of a value that is to be sent whole anyway.
  private func collapsed(on value: JSONValue) -> JSONValue? {
    let list = value.arrayValue ?? []
    return switch self {
    case .increment(let amount): .integer((value.integerValue ?? 0) &+ (amount.integerValue ?? 0))
    case .add(let values): .array(list + values)
    case .addUnique(let values): .array(list + values.filter { value in !list.contains { $0 == value } })
    case .remove(let values): .array(list.filter { value in !values.contains { $0 == value } })
    case .delete: nil
    }
  }
}

extension RelationChange {
  /// What was noted before.
  mutating func take(_ operation: JSONValue?) {
    for part in operation?["ops"]?.arrayValue ?? [operation].compactMap({ $0 }) {
      for id in (part["objects"]?.arrayValue ?? []).compactMap({ $0["objectId"]?.stringValue }) {
        switch part["__op"]?.stringValue {
        case "AddRelation": link(id)
        case "RemoveRelation": unlink(id)
        default: continue
        }
      }
    }
  }
}
