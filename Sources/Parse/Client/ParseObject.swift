import JSON
import SmartStore

/// An object of a class that a program reads, changes and saves.
///
/// It tracks which fields were set or changed by an operation, and a save sends only these. A new
/// object has a local id until the server assigns one, so other objects in the same save can point
/// to it.
public struct ParseObject: Sendable, Equatable {
  public let className: String
  public private(set) var objectId: String
  /// The fields as read from the server, with local changes applied.
  public private(set) var fields: JSONObject
  /// What the next save sends: values and operations, by field.
  public private(set) var changes = JSONObject()
  /// Fields whose local value is a guess, because an operation was applied to an unknown value.
  private var guessed: IdSet = []

  /// Makes a new object.
  public init(_ className: String, _ fields: JSONObject = [:]) {
    self.className = className
    objectId = SoupField.localIdPrefix + UUIDText.make()
    self.fields = fields
    changes = fields
  }

  /// Makes an object that exists on the server, from its fields or from its id alone.
  public init(_ className: String, objectId: String, _ fields: JSONObject = [:]) {
    self.className = className
    self.objectId = objectId
    self.fields = fields.filtered { key, _ in key != "objectId" }
  }

  /// Makes an object from the changes to save. It is new if the id is a local one.
  public init(_ className: String, objectId: String, changes: JSONObject) {
    self.className = className
    self.objectId = objectId
    self.changes = changes
    fields = [:]
  }

  /// Sets the expected fields after the save, by names that may lead into columns. They show
  /// whether a change took effect whose response is lost.
  public mutating func setExpected(_ values: JSONObject) {
    for (name, value) in values { FieldPath(name).set(value, in: &fields) }
  }

  /// The fields and the id, in the server's form.
  public var row: JSONObject { fields.replacing(with: ["objectId": .string(objectId)]) }

  /// True until the server has assigned an id.
  public var isNew: Bool { pointer.isLocal }
  public var pointer: ParsePointer { ParsePointer(className: className, objectId: objectId) }

  /// A field, or a part of an Object column such as `stats.reads`. Setting nil removes it.
  public subscript(field: String) -> JSONValue? {
    get { FieldPath(field).value(in: fields) }
    set { set(FieldPath(field), field, newValue) }
  }

  /// Adds to a number on the server, even if it has changed meanwhile.
  public mutating func increment(_ field: String, by amount: Int64 = 1) { apply(.increment(.integer(amount)), to: field) }

  /// Adds a floating-point number to a number on the server.
  public mutating func increment<Amount: BinaryFloatingPoint>(_ field: String, by amount: Amount) {
    apply(.increment(.number(Double(amount))), to: field)
  }

  /// Appends values to a list.
  public mutating func add(_ values: [JSONValue], to field: String) { apply(.add(values), to: field) }

  /// Appends values that are not yet in the list.
  public mutating func addUnique(_ values: [JSONValue], to field: String) { apply(.addUnique(values), to: field) }

  /// Removes all occurrences of values from a list.
  public mutating func remove(_ values: [JSONValue], from field: String) { apply(.remove(values), to: field) }

  /// The expected fields after a save, as far as known: changed fields, the previous time stamp,
  /// and the name of a user.
  var expected: JSONObject {
    let names = (["updatedAt", "username"] + changes.keys).filter { !guessed.contains($0) }
    return JSONObject(names.compactMap { name in self[name].map { (name, $0) } })
  }

  private mutating func set(_ path: FieldPath, _ field: String, _ value: JSONValue?) {
    path.set(value, in: &fields)
    if path.isPart, sendsWhole(path.root) {
      changes[path.root] = fields[path.root]
    } else if let outer = changes.keys.first(where: { field.hasPrefix($0 + ".") }) {
      changes[outer] = whole(outer, after: value == nil ? "Delete" : "Set")
    } else {
      dropParts(of: field)
      changes[field] = value ?? (isNew ? nil : FieldOperation.delete.json)
    }
  }

  /// A column or a part of one as a value, for changes that no single operation expresses.
  private func whole(_ field: String, after operation: String) -> JSONValue? {
    if guessed.contains(field), let earlier = changes[field] { return FieldOperation.clash(earlier, operation) }
    return FieldPath(field).value(in: fields) ?? FieldOperation.delete.json
  }

  private mutating func apply(_ operation: FieldOperation, to field: String) {
    let path = FieldPath(field), before = path.value(in: fields), earlier = changes[field]
    path.set(operation.applied(to: before), in: &fields)
    if sendsWhole(path.root) {
      changes[path.root] = fields[path.root]
    } else if let outer = changes.keys.first(where: { field.hasPrefix($0 + ".") }) {
      changes[outer] = whole(outer, after: operation.name)
    } else if changes.keys.contains(where: { $0.hasPrefix(field + ".") }) {
      dropParts(of: field)
      changes[field] = path.value(in: fields)
    } else if let earlier, let both = operation.combined(with: earlier) {
      changes[field] = both
    } else if let earlier {
      changes[field] = guessed.contains(field) ? FieldOperation.clash(earlier, operation.name) : path.value(in: fields)
    } else {
      if before == nil { guessed.insert(field) }
      dropParts(of: field)
      changes[field] = operation.json
    }
  }

  /// Whether the column is sent as a whole value, because the object is new or the column is being
  /// replaced.
  private func sendsWhole(_ column: String) -> Bool { isNew || changes[column].map { $0["__op"] == nil } ?? false }

  /// Drops changes of parts of a column that is replaced.
  private mutating func dropParts(of column: String) {
    for key in changes.keys where key.hasPrefix(column + ".") { changes[key] = nil }
  }

  /// Adds objects of one class to a relation.
  public mutating func link(_ field: String, _ targets: [ParsePointer]) {
    change(field) {
      $0.link($1)
    } targets: {
      targets
    }
  }

  /// Removes objects from a relation.
  public mutating func unlink(_ field: String, _ targets: [ParsePointer]) {
    change(field) {
      $0.unlink($1)
    } targets: {
      targets
    }
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

  /// Takes over the result of a save.
  mutating func take(_ saved: DeepSave.Saved) {
    objectId = saved.id
    for (key, value) in fields { fields[key] = LocalPointers.resolved(value, saved.ids) }
    for (key, value) in saved.files { FieldPath(key).set(value, in: &fields) }
    fields = WriteAnswer(saved.answer).merged(into: fields, sent: saved.sent)
    // The server has the password now; a local copy would only be a risk.
    if className == "_User" { fields["password"] = nil }
    changes = [:]
    guessed = []
  }
}

extension RelationChange {
  /// Takes over earlier changes of the relation.
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
