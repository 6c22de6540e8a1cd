import Database
import JSON

/// Finds the rows for `/<field>/<value>` in a URL.
struct ExternalKey {
  enum Match {
    case none
    case one(String)
    case several([String])
  }

  let field: FieldSchema
  let value: String
  /// Since v46 an upsert that updates a row answers 200 with a body; before, 204.
  let answersUpdates: Bool
  private let object: ObjectSchema
  private let reader: RecordReader

  /// - Throws: 404 for a field that cannot be used for look-ups.
  init(_ call: Call, _ object: ObjectSchema) throws(SandboxError) {
    field = try Self.field(call.parameter("field"), of: object)
    value = call.parameter("value")
    answersUpdates = (Int(call.version.dropFirst().dropLast(2)) ?? 0) >= 46
    self.object = object
    reader = call.reader
  }

  static func field(_ name: String, of object: ObjectSchema) throws(SandboxError) -> FieldSchema {
    guard let field = object.field(name), field.isExternalId || field.isIdLookup else {
      throw .notFound("Provided external ID field does not exist or is not accessible: \(name)")
    }
    return field
  }

  func match() throws -> Match {
    guard field.type != .id else { return try matchById() }
    let ids = try reader.ids(in: object, where: field, is: .text(value))
    return ids.isEmpty ? .none : ids.count == 1 ? .one(ids[0]) : .several(ids)
  }

  private func matchById() throws -> Match {
    guard let id = RecordID.normalized(value), RecordID.prefix(of: id) == object.keyPrefix else {
      throw SandboxError.notFound("Provided external ID field does not exist or is not accessible: \(value)")
    }
    switch try reader.presence(of: id, in: object) {
    case .live: return .one(id)
    case .deleted: throw SandboxError.entityIsDeleted(status: 404)
    case .missing: return .none
    }
  }

  /// Refuses a body that also sets the key field.
  func refuse(in body: JSONObject) throws(SandboxError) {
    guard body.keys.contains(where: { $0.lowercased() == field.name.lowercased() }) else { return }
    throw SandboxError(
      status: 400, code: "INVALID_FIELD",
      message: "The \(field.name) field should not be specified in the sobject data.", fields: [field.name])
  }
}

/// Splits `fields=Id, Name`; blanks are allowed.
enum FieldList {
  static func split(_ text: String) -> [String] {
    text.split(separator: ",").map { $0.filter { !$0.isWhitespace } }.filter { !$0.isEmpty }
  }
}
