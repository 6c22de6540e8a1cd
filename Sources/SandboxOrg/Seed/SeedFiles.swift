import JSON

/// Loads records from files into a new org, in the caller's transaction, with one record in memory
/// at a time.
///
/// A `.json` file contains `{"Account": [{…}, …], "Contact": […]}`, or a list of records with
/// `attributes.type`. A `.csv` file contains the records of the object it is named after; its first
/// line names the fields. References are ids or external ids: `"Account": {"External_Id__c": "a"}`
/// in JSON, a column `Account.External_Id__c` in CSV. System fields such as `CreatedDate` can be
/// set.
struct SeedFiles {
  let org: Org

  /// - Throws: ``SandboxError`` `INVALID_SEED_FILE` with file and line.
  func load(_ path: String) throws {
    let reader = try ByteReader(path: path)
    switch reader.name.split(separator: ".").last?.lowercased() {
    case "json": try JSONSeed(reader: reader).run { try add($0, to: $1, reader.name, line: $2) }
    case "csv":
      let type = String(reader.name.dropLast(4))
      guard let object = org.schema.object(type) else {
        throw SeedError.file(reader.name, "the org has no object '\(type)'; name the file after one, such as Contact.csv")
      }
      try CSVSeed(reader: reader, object: object, schema: org.schema).run { try add($0, to: object.name, reader.name, line: $1) }
    default: throw SeedError.file(reader.name, "is neither .json nor .csv; give the file one of these endings")
    }
  }

  private func add(_ record: JSONObject, to type: String, _ file: String, line: Int) throws {
    guard let object = org.schema.object(type) else {
      throw SeedError.at(file, line, "the org has no object '\(type)'; a schema file can add it")
    }
    do {
      _ = try RecordWriter(org: org, userId: Users.caller, isSystem: true).create(object, record)
    } catch let error as SandboxError {
      throw SeedError.at(
        file, line, "\(object.name): " + error.details.map { "\($0.code): \($0.message)" }.joined(separator: "; "))
    }
  }
}
