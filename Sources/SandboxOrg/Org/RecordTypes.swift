import Database

/// The rows of `RecordType`, which follow the schema. On the org's queue.
struct RecordTypes {
  let connection: Connection

  /// The id that stands for "no record type".
  static let master = "012000000000000AAA"

  /// Adds missing record types of the schema, and updates the names of the others.
  func prepare(_ schema: OrgSchema, now: Int64) throws {
    for object in schema.objects {
      for type in object.recordTypes {
        if let id = try id(of: type.developerName, object.name) {
          try connection.run(
            "UPDATE RecordType SET Name = ?, IsActive = ? WHERE Id = ?",
            [.text(type.name), .integer(type.isActive ? 1 : 0), .text(id)])
        } else {
          try add(type, object.name, now)
        }
      }
    }
  }

  private func add(_ type: RecordTypeSchema, _ object: String, _ now: Int64) throws {
    var row: Int64 = 1
    if case .integer(let last)? = try connection.firstValue("SELECT max(rowid) FROM RecordType") { row = last + 1 }
    let stamp = SQLValue.text(Timestamp.text(now))
    try connection.run(
      "INSERT INTO RecordType (rowid, Id, Name, DeveloperName, SobjectType, IsActive, CreatedById, LastModifiedById, "
        + "CreatedDate, LastModifiedDate, SystemModstamp) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?7, ?8, ?8, ?8)",
      [
        .integer(row), .text(type.id ?? RecordID.make(prefix: "012", sequence: row)), .text(type.name), .text(type.developerName),
        .text(object), .integer(type.isActive ? 1 : 0), .text(Users.caller), stamp,
      ])
  }

  private func id(of developerName: String, _ object: String) throws -> String? {
    let found = try connection.firstValue(
      "SELECT Id FROM RecordType WHERE SobjectType = ? AND DeveloperName = ?", [.text(object), .text(developerName)])
    if case .text(let id)? = found { return id }
    return nil
  }

  /// Returns the record type of new rows that do not set one.
  func defaultId(of object: ObjectSchema) throws -> String? {
    try object.recordTypes.first(where: \.isDefault).flatMap { try id(of: $0.developerName, object.name) }
  }

  /// - Throws: ``SandboxError`` if rows of the object cannot have this record type.
  func check(_ id: String, for object: ObjectSchema) throws {
    let type = try connection.firstValue("SELECT SobjectType FROM RecordType WHERE Id = ? AND IsActive = 1", [.text(id)])
    guard type != .text(object.name) else { return }
    throw SandboxError(
      status: 400, code: "INVALID_CROSS_REFERENCE_KEY",
      message: "Record Type ID: this ID value isn't valid for the user: \(id)", fields: ["RecordTypeId"])
  }

  /// Returns an object's record types, in the order of the schema.
  func list(of object: ObjectSchema) throws -> [(id: String, type: RecordTypeSchema)] {
    try object.recordTypes.compactMap { type in try id(of: type.developerName, object.name).map { ($0, type) } }
  }
}
