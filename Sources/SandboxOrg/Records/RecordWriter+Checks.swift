import Database

/// Checks on a row as a whole, in addition to those of its values.
extension RecordWriter {
  func requirePresent(_ object: ObjectSchema, _ values: [String: SQLValue], onlyGiven: Bool) throws(SandboxError) {
    let missing = object.fields.filter { field in
      field.isRequired && (values[field.name].map { $0 == .null } ?? !onlyGiven)
    }.map(\.name)
    guard missing.isEmpty else {
      throw SandboxError(
        status: 400, code: "REQUIRED_FIELD_MISSING",
        message: "Required fields are missing: [\(missing.joined(separator: ", "))]", fields: missing)
    }
  }

  /// - Parameter id: The row being updated.
  func checkReferences(_ values: [String: SQLValue], _ object: ObjectSchema, id: String?) throws {
    for field in object.fields where field.type == .reference {
      // Objects from describe files may refer to objects that the org does not have.
      guard case .text(let target)? = values[field.name], !field.referenceTo.isEmpty else { continue }
      guard let parent = org.schema.object(ofId: target), field.referenceTo.contains(parent.name) else {
        throw SandboxError(
          status: 400, code: "MALFORMED_ID",
          message: "\(field.label): id value of incorrect type: \(target)", fields: [field.name])
      }
      switch try reader.presence(of: target, in: parent) {
      case .live: break
      case .deleted: throw SandboxError.entityIsDeleted(status: 400)
      case .missing: throw SandboxError.crossReference
      }
      if field.name == "RecordTypeId" { try RecordTypes(connection: org.connection).check(target, for: object) }
      // Adding a child locks its parent; owners are not locked.
      if field.name != "OwnerId" { try org.interference.requireUnlocked(target, of: parent) }
      if let id, parent.name == object.name { try refuseCircle(object, field, from: target, to: id) }
    }
  }

  /// Refuses a row that would become its own ancestor.
  private func refuseCircle(_ object: ObjectSchema, _ field: FieldSchema, from start: String, to id: String) throws {
    let circle = try org.connection.firstValue(
      "WITH RECURSIVE up(id) AS (SELECT ?1 UNION SELECT t.\"\(field.name)\" FROM \(object.table) t, up WHERE t.Id = up.id) "
        + "SELECT 1 FROM up WHERE id = ?2", [.text(start), .text(id)])
    guard circle == nil else {
      throw SandboxError(
        status: 400, code: "FIELD_INTEGRITY_EXCEPTION",
        message: "\(field.label): a record cannot be its own parent, directly or through others", fields: [field.name])
    }
  }

  func checkUnique(_ values: [String: SQLValue], _ object: ObjectSchema, except id: String?) throws {
    for field in object.fields where field.isUnique {
      guard let value = values[field.name], value != .null else { continue }
      if let other = try reader.ids(in: object, where: field, is: value).first(where: { $0 != id }) {
        throw SandboxError(
          status: 400, code: "DUPLICATE_VALUE",
          message: "duplicate value found: \(field.name) duplicates value on record with id: \(other.prefix(15))",
          fields: [])
      }
    }
  }

  // MARK: Validation rules

  /// Runs `body` and rolls back its changes if it throws: rules check the row after the change, and
  /// files write other rows as well.
  func keepingRules<T>(_ object: ObjectSchema, _ body: () throws -> T) throws -> T {
    object.rules.isEmpty && !object.traits.contains(.fileVersion) ? try body() : try org.transaction(body)
  }

  /// - Throws: ``SandboxError`` `FIELD_CUSTOM_VALIDATION_EXCEPTION` with one detail for each
  ///   violated rule.
  func checkRules(_ object: ObjectSchema, _ id: String) throws {
    var broken: [SandboxError.Detail] = []
    for rule in object.rules {
      let condition = try Formula.sql(rule.condition, over: object)
      let hit = try org.connection.firstValue(
        "SELECT 1 FROM \(object.table) WHERE Id = ? AND (\(condition))", [.text(id)])
      guard hit != nil else { continue }
      broken.append(
        .init(code: "FIELD_CUSTOM_VALIDATION_EXCEPTION", message: rule.message, fields: rule.field.map { [$0] } ?? []))
    }
    guard broken.isEmpty else { throw SandboxError(status: 400, details: broken) }
  }
}
