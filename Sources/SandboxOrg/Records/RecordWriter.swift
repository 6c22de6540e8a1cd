import Database
import JSON

/// Creates and updates rows. Runs the checks of a real org, in its order. On the org's queue, in
/// the caller's transaction. If it throws, the row is unchanged.
struct RecordWriter {
  let org: Org
  /// The user in `CreatedById` and `LastModifiedById`.
  let userId: String
  /// True for writes of the org itself, which may set read-only fields and timestamps, and create
  /// objects that clients cannot.
  var isSystem = false
  /// Bytes of base64 fields that are not in the body, by field name.
  var bytes: [String: ArraySlice<UInt8>] = [:]

  var reader: RecordReader { RecordReader(org: org) }

  /// - Returns: The new 18-character id.
  func create(_ object: ObjectSchema, _ body: JSONObject) throws -> String {
    guard object.isCreateable || isSystem else { throw unsupported(object, "create") }
    if body.keys.contains(where: { $0.lowercased() == "id" }) {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD_FOR_INSERT_UPDATE", message: "cannot specify Id in an insert call",
        fields: ["Id"])
    }
    var (values, problems) = try given(body, object, isNew: true)
    for field in object.fields where values[field.name] == nil {
      if let value = field.defaultValue { values[field.name] = try FieldCoercion(object: object, field: field).value(value) }
      if field.name == "OwnerId" { values[field.name] = .text(userId) }
      if field.name == "RecordTypeId", let id = try RecordTypes(connection: org.connection).defaultId(of: object) {
        values[field.name] = .text(id)
      }
    }
    try derive(object, &values, isNew: true)
    let apart = extractBytes(object, &values)
    let files = object.traits.contains(.fileVersion) ? FileVersions(writer: self) : nil
    try files?.describe(&values, apart.first?.bytes)
    try requirePresent(object, values, onlyGiven: false)
    if !problems.isEmpty { throw SandboxError(status: 400, details: problems) }
    try checkReferences(values, object, id: nil)
    try checkUnique(values, object, except: nil)
    if object.traits.contains(.fileShare) { try FileShares(org: org).checkNew(values) }
    return try keepingRules(object) {
      let isNewDocument = try files?.place(&values) ?? false
      let id = try insert(object, values)
      for (field, bytes) in apart { try ByteStore(connection: org.connection).set(bytes, field, of: id) }
      try files?.publish(id, values, isNewDocument: isNewDocument)
      try checkRules(object, id)
      return id
    }
  }

  func update(_ object: ObjectSchema, id: String, _ body: JSONObject) throws {
    if body.keys.contains(where: { $0.lowercased() == "id" }) {
      throw SandboxError(
        status: 400, code: "INVALID_FIELD", message: "The Id field should not be specified in the sobject data.",
        fields: ["Id"])
    }
    guard object.isUpdateable || isSystem else { throw unsupported(object, "update") }
    try org.interference.requireUnlocked(id, of: object)
    var (values, problems) = try given(body, object, isNew: false)
    try derive(object, &values, isNew: false)
    try requirePresent(object, values, onlyGiven: true)
    if !problems.isEmpty { throw SandboxError(status: 400, details: problems) }
    try checkReferences(values, object, id: id)
    try checkUnique(values, object, except: id)
    let apart = extractBytes(object, &values)
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    values["LastModifiedDate"] = stamp
    values["SystemModstamp"] = stamp
    values["LastModifiedById"] = .text(userId)
    let columns = object.storedFields.map(\.name).filter { values[$0] != nil }
    let assignments = columns.map { "\"\($0)\" = ?" }.joined(separator: ", ")
    try keepingRules(object) {
      try org.connection.run(
        "UPDATE \(object.table) SET \(assignments) WHERE Id = ?", columns.map { values[$0] ?? .null } + [.text(id)])
      for (field, bytes) in apart { try ByteStore(connection: org.connection).set(bytes, field, of: id) }
      if object.traits.contains(.fileVersion) { try FileVersions(writer: self).updatedVersion(id, values) }
      if object.traits.contains(.fileDocument) { try FileVersions(writer: self).updatedDocument(id, values) }
      try checkRules(object, id)
    }
    org.recentlyUsed.touch(id, of: object, by: userId)
  }

  // MARK: Bodies

  /// Returns the fields of a body by canonical name, with the problems of single values.
  ///
  /// - Throws: ``SandboxError`` for problems that a real org finds before it checks values: unknown
  ///   fields, fields that cannot be written, and JSON of the wrong type.
  private func given(
    _ body: JSONObject, _ object: ObjectSchema, isNew: Bool
  ) throws -> (values: [String: SQLValue], problems: [SandboxError.Detail]) {
    var values: [String: SQLValue] = [:]
    var problems: [SandboxError.Detail] = []
    var refused: [String] = []
    for (name, json) in body where name.lowercased() != "attributes" {
      if let nested = json.objectValue, let field = object.relationship(name), field.isCreateable {
        values[field.name] = try .text(referenced(by: nested, field))
        continue
      }
      guard let field = object.field(name) else { throw SandboxError.unknownColumn(name, on: object.name) }
      guard isWritable(field, isNew: isNew) else {
        refused.append(field.name)
        continue
      }
      do throws(SandboxError) {
        let value = try FieldCoercion(object: object, field: field).value(json)
        let isMaster = field.name == "RecordTypeId" && value == .text(RecordTypes.master)
        values[field.name] = isMaster ? .null : value
      } catch {
        guard error.code != "JSON_PARSER_ERROR" else {
          var error = error
          error.member = name
          throw error
        }
        problems += error.details
        // The field counts as present although its value is invalid.
        values[field.name] = .text("")
      }
    }
    try addBytes(to: &values, object, isNew: isNew, &refused)
    guard refused.isEmpty else { throw unwritable(refused) }
    return (values, problems)
  }

  private func isWritable(_ field: FieldSchema, isNew: Bool) -> Bool {
    if isSystem { return !field.isGenerated }
    return isNew ? field.isCreateable : field.isUpdateable
  }

  private func unwritable(_ fields: [String]) -> SandboxError {
    SandboxError(
      status: 400, code: "INVALID_FIELD_FOR_INSERT_UPDATE",
      message: "Unable to create/update fields: \(fields.joined(separator: ", ")). Please check the security "
        + "settings of this field and verify that it is read/write for your profile or permission set.", fields: fields)
  }

  /// Resolves `{"Account":{"External_Id__c":"x"}}`, which replaces `AccountId`. `attributes.type`
  /// selects one of several targets.
  private func referenced(by nested: JSONObject, _ field: FieldSchema) throws -> String {
    let pairs = nested.filter { $0.key.lowercased() != "attributes" }
    let type = nested["attributes"]?["type"]?.stringValue?.lowercased()
    let targets = field.referenceTo.filter { type == nil || $0.lowercased() == type }.compactMap { org.schema.object($0) }
    guard pairs.count == 1, let target = targets.first(where: { $0.field(pairs[0].key)?.isIdLookup == true }),
      let key = target.field(pairs[0].key)
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

  private func unsupported(_ object: ObjectSchema, _ operation: String) -> SandboxError {
    SandboxError(
      status: 400, code: "INVALID_TYPE_FOR_OPERATION",
      message: "entity type \(object.name) does not support \(operation)", fields: [])
  }

  // MARK: Derived values

  /// Sets stored fields that are derived from others.
  private func derive(_ object: ObjectSchema, _ values: inout [String: SQLValue], isNew: Bool) throws {
    for field in object.fields where values[field.name] == nil {
      switch field.computation {
      case .follows(let source, let map)?:
        guard case .text(let text)? = values[source], let value = map[text] else { continue }
        values[field.name] = try FieldCoercion(object: object, field: field).value(value)
      case .inherited(let reference, let name)? where isNew:
        guard case .text(let id)? = values[reference], let parent = org.schema.object(ofId: id), parent.field(name) != nil
        else { continue }
        values[field.name] = try org.connection.firstValue("SELECT \"\(name)\" FROM \(parent.table) WHERE Id = ?", [.text(id)])
      case .moment(let source, let moments)?:
        guard let value = values[source] else { continue }
        let isThere = moments.contains { value == .text($0) }
        values[field.name] = isThere ? .text(Timestamp.text(org.stamp())) : .null
      default: break
      }
    }
  }

  // MARK: Writing

  private func insert(_ object: ObjectSchema, _ given: [String: SQLValue]) throws -> String {
    var values = given
    let last = try RowNumbers(connection: org.connection).last(of: object)
    let id = RecordID.make(prefix: object.keyPrefix, sequence: last + 1)
    for field in object.fields where values[field.name] == nil {
      if case .autoNumber(let start, let format)? = field.computation {
        values[field.name] = .text(AutoNumber.text(start + Int(last), format: format))
      }
    }
    let stamp = SQLValue.text(Timestamp.text(org.stamp()))
    values["CreatedDate"] = values["CreatedDate"] ?? stamp
    values["LastModifiedDate"] = values["LastModifiedDate"] ?? values["CreatedDate"]
    values["SystemModstamp"] = values["SystemModstamp"] ?? values["LastModifiedDate"]
    for name in ["CreatedById", "LastModifiedById"] { values[name] = values[name] ?? .text(userId) }
    values["Id"] = .text(id)
    try org.connection.run(
      object.insertSQL,
      [.integer(last + 1)] + object.storedFields.map { values[$0.name] ?? ($0.isNeverNull ? .integer(0) : .null) })
    if !isSystem { org.recentlyUsed.touch(id, of: object, by: userId) }
    return id
  }
}

/// The values of auto-number fields.
enum AutoNumber {
  /// - Parameter format: Contains `{0000}` for the number, padded to at least that many digits.
  static func text(_ number: Int, format: String) -> String {
    guard let open = format.firstIndex(of: "{"), let close = format[open...].firstIndex(of: "}") else {
      return format + String(number)
    }
    let digits = String(number)
    let width = format.distance(from: open, to: close) - 1
    let padded = String(repeating: "0", count: max(0, width - digits.count)) + digits
    return format[..<open] + padded + format[format.index(after: close)...]
  }
}
