import JSON

/// Makes the request bodies for a class's creates and updates from the records of a soup.
struct RecordEncoder: Sendable {
  let className: String
  let createFields: [String]
  let updateFields: [String]

  /// A request body, and the objects it must wait for.
  struct Write: Sendable, Equatable {
    let body: JSONObject
    /// Objects that it points to and that must be created first.
    let waitsFor: [ParsePointer]
  }

  /// - Parameter clientKeyField: A field that gets an id when a record is created locally, and is
  ///   sent with its create so that the object can be found.
  /// - Throws: ``ParseProblem`` for an invalid class or field name.
  init(className: String, createFields: [String], updateFields: [String], clientKeyField: String? = nil) throws(ParseProblem) {
    try ParseNames.checkClass(className)
    for field in createFields + updateFields + [clientKeyField].compactMap({ $0 }) {
      try ParseNames.checkField(field, of: className)
    }
    self.className = className
    let key = clientKeyField.map { createFields.contains($0) ? [] : [$0] } ?? []
    self.createFields = (createFields + key).filter { !ParseNames.serverFields.contains($0) }
    self.updateFields = updateFields.filter { !ParseNames.serverFields.contains($0) }
  }

  /// Makes the body of a create. Omits fields that the record lacks. Always includes the ACL:
  /// without it, an object with restricted access would be created, or created again, for everyone.
  ///
  /// - Throws: ``ParseProblem``, which names the field.
  func create(_ record: JSONObject) throws(ParseProblem) -> Write {
    var draft = Draft(className: className)
    for field in createFields {
      if let value = record[field] { try draft.set(field, value) }
    }
    if !createFields.contains("ACL"), let access = record["ACL"], access.objectValue != nil { try draft.set("ACL", access) }
    return try draft.write()
  }

  /// Makes the body of an update.
  ///
  /// Fields that scripts changed by operations are sent as operations, which the server applies to
  /// its current values.
  ///
  /// - Parameter base: The server's last copy of the object; nil sends all fields.
  /// - Returns: nil if nothing has changed: an empty PUT would change `updatedAt` for all other
  ///   clients.
  /// - Throws: ``ParseProblem``, which names the field.
  func update(_ record: JSONObject, from base: JSONObject?) throws(ParseProblem) -> Write? {
    var draft = Draft(className: className)
    let pending = PendingOperations(record)
    for field in updateFields {
      if let value = record[field] {
        if let known = base?[field], isUnchanged(value, known) { continue }
        if let operations = pending.changes(of: field, value, from: base?[field]) {
          for (name, operation) in operations { try draft.apply(operation, to: name) }
        } else {
          try draft.set(field, value)
        }
      } else if base == nil || base?[field] != nil {
        // A column that was never received may be hidden from this user, so it is not deleted.
        draft.body[field] = FieldOperation.delete.json
      }
    }
    let write = try draft.write()
    return write.body.isEmpty ? nil : write
  }

  /// Compares the values as they would be sent. An unsendable value counts as changed, so that
  /// sending it reports the reason.
  private func isUnchanged(_ value: JSONValue, _ known: JSONValue) -> Bool {
    guard let sent = try? OutgoingValue(value), let before = try? OutgoingValue(known) else { return false }
    switch (sent.json, before.json) {
    case (let a?, let b?): return a.isSame(as: b)
    case (nil, nil): return true
    default: return false
    }
  }

  private struct Draft {
    let className: String
    var body = JSONObject()
    private var waitsFor: [ParsePointer] = []
    private var pointFields: [String] = []

    init(className: String) { self.className = className }

    mutating func set(_ field: String, _ value: JSONValue) throws(ParseProblem) {
      let sent: OutgoingValue
      do {
        sent = try OutgoingValue(value)
      } catch {
        throw ParseProblem(description: "field '\(field)' of class \(className) cannot be sent: \(error.description)")
      }
      guard let json = sent.json else { return }
      body[field] = json
      waitsFor += sent.unresolved.filter { !waitsFor.contains($0) }
      // Nested points are not columns, so the server does not count them.
      if json["__type"] == "GeoPoint" { pointFields.append(field) }
    }

    /// The objects of a list operation are checked like values.
    mutating func apply(_ operation: FieldOperation, to name: String) throws(ParseProblem) {
      guard let objects = operation.json["objects"] else {
        body[name] = operation.json
        return
      }
      try set(name, objects)
      guard let sent = body[name], let kind = operation.json["__op"] else { return }
      body[name] = ["__op": kind, "objects": sent]
    }

    func write() throws(ParseProblem) -> Write {
      guard pointFields.count < 2 else {
        throw ParseProblem(
          description: "class \(className) would get the GeoPoints \(pointFields.map { "'\($0)'" }.joined(separator: " and ")): "
            + "an object may have only one; store the others as an Object with latitude and longitude")
      }
      return Write(body: body, waitsFor: waitsFor)
    }
  }
}
