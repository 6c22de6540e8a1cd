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
  /// Fields whose value here is not the server's: an operation began with nothing.
  private var guessed: Set<String> = []

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

  /// Fields as they are to be after the save, by names that may lead into columns. They tell what became of a change whose answer
  /// is lost.
  public mutating func know(_ values: JSONObject) {
    for (name, value) in values { FieldPath(name).set(value, in: &fields) }
  }

  /// The fields with the id, as the server sends them.
  public var row: JSONObject { fields.replacing(with: ["objectId": .string(objectId)]) }

  /// True until the server has given it an id.
  public var isNew: Bool { pointer.isLocal }
  public var pointer: ParsePointer { ParsePointer(className: className, objectId: objectId) }

  /// A field, or a part of an Object column such as `stats.reads`. To set nil unsets it.
  public subscript(field: String) -> JSONValue? {
    get { FieldPath(field).value(in: fields) }
    set { set(FieldPath(field), field, newValue) }
  }

  /// Adds to a number at the server, whatever it is there by then.
  public mutating func increment(_ field: String, by amount: Int64 = 1) { apply(.increment(.integer(amount)), to: field) }

  /// The same by a number with decimals.
  public mutating func increment<Amount: BinaryFloatingPoint>(_ field: String, by amount: Amount) {
    apply(.increment(.number(Double(amount))), to: field)
  }

  /// Appends to a list.
  public mutating func add(_ values: [JSONValue], to field: String) { apply(.add(values), to: field) }

  /// Appends to a list what it lacks.
  public mutating func addUnique(_ values: [JSONValue], to field: String) { apply(.addUnique(values), to: field) }

  /// Takes values out of a list, each as often as it is there.
  public mutating func remove(_ values: [JSONValue], from field: String) { apply(.remove(values), to: field) }

  /// Fields as they are to be after a save, where that is known: what has changed, the stamp before it, and who a user is.
  var expected: JSONObject {
    let names = (["updatedAt", "username"] + changes.keys).filter { !guessed.contains($0) }
    return JSONObject(names.compactMap { name in self[name].map { (name, $0) } })
  }

  private mutating func set(_ path: FieldPath, _ field: String, _ value: JSONValue?) {
    path.set(value, in: &fields)
    if path.isPart, sendsWhole(path.root) {
      changes[path.root] = fields[path.root]
    } else {
      dropParts(of: field)
      changes[field] = value ?? (isNew ? nil : FieldOperation.delete.json)
    }
  }

  private mutating func apply(_ operation: FieldOperation, to field: String) {
    let path = FieldPath(field), before = path.value(in: fields), earlier = changes[field]
    path.set(operation.applied(to: before), in: &fields)
    if sendsWhole(path.root) {
      changes[path.root] = fields[path.root]
    } else if let earlier, let both = operation.laid(over: earlier) {
      changes[field] = both
    } else if let earlier {
      changes[field] = guessed.contains(field) ? operation.clashing(with: earlier) : path.value(in: fields)
    } else {
      if before == nil { guessed.insert(field) }
      dropParts(of: field)
      changes[field] = operation.json
    }
  }

  /// The column goes as a value: the server has none yet, or it is replaced anyway.
  private func sendsWhole(_ column: String) -> Bool { isNew || changes[column].map { $0["__op"] == nil } ?? false }

  /// A column that is replaced takes the changes of its parts with it.
  private mutating func dropParts(of column: String) {
    for key in changes.keys where key.hasPrefix(column + ".") { changes[key] = nil }
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
    for (key, value) in saved.files { FieldPath(key).set(value, in: &fields) }
    fields = WriteAnswer(saved.answer).merged(into: fields, sent: saved.sent)
    // It is on the server now; a copy here would only wait to be stolen.
    if className == "_User" { fields["password"] = nil }
    changes = [:]
    guessed = []
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
