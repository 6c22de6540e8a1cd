import Database
import JSON

/// Creates, updates and upserts rows, checking what a real org checks in the order it does. On the org's queue, inside
/// the caller's transaction. Nothing is written before every check has passed.
struct RecordWriter {
  let org: Org
  /// Whose names the row gets in `CreatedById` and `LastModifiedById`.
  let userId: String

  var reader: RecordReader { RecordReader(org: org) }

  /// - Returns: The new 18-character id.
  func create(_ object: ObjectSchema, _ body: JSONObject) throws -> String {
    guard object.isCreateable else { throw unsupported(object, "create") }
    if body.keys.contains(where: { $0.lowercased() == "id" }) {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD_FOR_INSERT_UPDATE", message: "cannot specify Id in an insert call",
        fields: ["Id"])
    }
    var values = try checked(body, object)
    for field in object.fields where values[field.name] == nil {
      if let value = field.defaultValue { values[field.name] = try FieldCoercion(object: object, field: field).value(value) }
      if field.name == "OwnerId" { values[field.name] = .text(userId) }
    }
    try requirePresent(object, values, onlyGiven: false)
    try checkReferences(values, object)
    try checkUnique(values, object, except: nil)
    return try insert(object, values)
  }

  func update(_ object: ObjectSchema, id: String, _ body: JSONObject) throws {
    if body.keys.contains(where: { $0.lowercased() == "id" }) {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD", message: "The Id field should not be specified in the sobject data.",
        fields: ["Id"])
    }
    guard object.isCreateable || object.name == "User" else { throw unsupported(object, "update") }
    var values = try checked(body, object)
    try requirePresent(object, values, onlyGiven: true)
    try checkReferences(values, object)
    try checkUnique(values, object, except: id)
    try compute(
      object, &values,
      current: { name in
        try org.connection.firstValue("SELECT \"\(name)\" FROM \(object.table) WHERE Id = ?", [.text(id)]) ?? .null
      })
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    values["LastModifiedDate"] = stamp
    values["SystemModstamp"] = stamp
    values["LastModifiedById"] = .text(userId)
    let columns = object.fields.map(\.name).filter { values[$0] != nil }
    let assignments = columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
    try org.connection.run(
      "UPDATE \(object.table) SET \(assignments) WHERE Id = ?", columns.map { values[$0] ?? .null } + [.text(id)])
    org.recentlyUsed.touch(id, of: object.name)
  }

  // MARK: Checks

  /// Field names and values of a body, by canonical name.
  private func checked(_ body: JSONObject, _ object: ObjectSchema) throws -> [String: SQLValue] {
    var values: [String: SQLValue] = [:]
    var readOnly: [String] = []
    for (name, json) in body where name.lowercased() != "attributes" {
      if let nested = json.objectValue, let field = object.relationship(name), !field.isReadOnly {
        values[field.name] = try .text(referenced(by: nested, field))
        continue
      }
      guard let field = object.field(name) else { throw SandboxError.unknownColumn(name, on: object.name) }
      if field.isReadOnly { readOnly.append(field.name) }
      values[field.name] = try FieldCoercion(object: object, field: field).value(json)
    }
    guard readOnly.isEmpty else {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD_FOR_INSERT_UPDATE",
        message: "Unable to create/update fields: \(readOnly.joined(separator: ", ")). Please check the security "
          + "settings of this field and verify that it is read/write for your profile or permission set.",
        fields: readOnly)
    }
    return values
  }

  /// `{"Account":{"External_Id__c":"x"}}` in place of `AccountId`.
  private func referenced(by nested: JSONObject, _ field: FieldSchema) throws -> String {
    let pairs = nested.filter { $0.key.lowercased() != "attributes" }
    guard pairs.count == 1, let target = field.referenceTo.first.flatMap({ org.schema.object($0) }),
      let key = target.field(pairs[0].key), key.isIdLookup
    else {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD",
        message: "\(field.relationshipName ?? field.name) needs exactly one external id field to be found by")
    }
    let value = try FieldCoercion(object: target, field: key).value(pairs[0].value)
    let ids = try reader.ids(in: target, where: key, is: value)
    guard ids.count == 1 else {
      let text = pairs[0].value.stringValue ?? pairs[0].value.text
      throw SandboxError(
        status: 400, code: "INVALID_FIELD",
        message: "Foreign key external ID: \(text) not found for field \(key.name) in entity \(target.name)")
    }
    return ids[0]
  }

  private func requirePresent(_ object: ObjectSchema, _ values: [String: SQLValue], onlyGiven: Bool) throws(SandboxError) {
    let missing = object.fields.filter { field in
      field.isRequired && (values[field.name].map { $0 == .null } ?? !onlyGiven)
    }.map(\.name)
    guard missing.isEmpty else {
      throw SandboxError(
        status: 400, code: "REQUIRED_FIELD_MISSING",
        message: "Required fields are missing: [\(missing.joined(separator: ", "))]", fields: missing)
    }
  }

  private func checkReferences(_ values: [String: SQLValue], _ object: ObjectSchema) throws {
    for field in object.fields where field.type == .reference {
      guard case .text(let id)? = values[field.name] else { continue }
      guard let target = org.schema.object(ofId: id), field.referenceTo.contains(target.name) else {
        throw SandboxError(
          status: 400, code: "MALFORMED_ID",
          message: "\(field.label): id value of incorrect type: \(id)", fields: [field.name])
      }
      switch try reader.presence(of: id, in: target) {
      case .live: break
      case .deleted: throw SandboxError.entityIsDeleted(status: 400)
      case .missing: throw SandboxError.crossReference
      }
    }
  }

  private func checkUnique(_ values: [String: SQLValue], _ object: ObjectSchema, except id: String?) throws {
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

  private func unsupported(_ object: ObjectSchema, _ operation: String) -> SandboxError {
    SandboxError(
      status: 400, code: "INVALID_TYPE_FOR_OPERATION",
      message: "entity type \(object.name) does not support \(operation)", fields: [])
  }

  // MARK: Writing

  private func insert(_ object: ObjectSchema, _ given: [String: SQLValue]) throws -> String {
    var values = given
    let newest = try org.connection.firstValue("SELECT coalesce(max(rowid), 0) FROM \(object.table)")
    guard case .integer(let last)? = newest else { throw SandboxError.unknown("no row number") }
    let id = RecordID.make(prefix: object.keyPrefix, sequence: last + 1)
    try compute(object, &values, current: { _ in .null })
    for case let field in object.fields {
      if case .autoNumber(let start)? = field.computation {
        let digits = String(start + Int(last))
        values[field.name] = .text(String(repeating: "0", count: max(0, 8 - digits.count)) + digits)
      }
    }
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    for name in ["CreatedDate", "LastModifiedDate", "SystemModstamp"] { values[name] = stamp }
    for name in ["CreatedById", "LastModifiedById"] { values[name] = .text(userId) }
    values["Id"] = .text(id)
    let columns = object.fields.map { "\"\($0.name)\"" }.joined(separator: ",")
    let marks = String(repeating: ",?", count: object.fields.count)
    try org.connection.run(
      "INSERT INTO \(object.table) (rowid,\(columns)) VALUES (?\(marks))",
      [.integer(last + 1)] + object.fields.map { values[$0.name] ?? ($0.type == .boolean ? .integer(0) : .null) })
    org.recentlyUsed.touch(id, of: object.name)
    return id
  }

  /// Sets the fields that follow from others. `current` gives what a field not being written holds.
  private func compute(
    _ object: ObjectSchema, _ values: inout [String: SQLValue], current: (String) throws -> SQLValue
  ) throws {
    for field in object.fields {
      switch field.computation {
      case .personName? where values["FirstName"] != nil || values["LastName"] != nil:
        let parts = try ["FirstName", "LastName"].compactMap { name -> String? in
          if case .text(let text) = try values[name] ?? current(name) { return text }
          return nil
        }
        values[field.name] = .text(parts.joined(separator: " "))
      case .flag(let source, let truths)? where values[source] != nil:
        guard case .text(let text)? = values[source] else {
          values[field.name] = .integer(0)
          continue
        }
        values[field.name] = .integer(truths.contains { $0.lowercased() == text.lowercased() } ? 1 : 0)
      default: break
      }
    }
  }
}
