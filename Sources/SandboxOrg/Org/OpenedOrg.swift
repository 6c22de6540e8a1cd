import Database
import JSON

/// The schema file as given, or as stored with the org.
struct SchemaText {
  let name: String
  let text: [UInt8]

  /// - Throws: ``SandboxError`` `INVALID_SCHEMA_FILE` if the file cannot be read.
  init(path: String) throws(SandboxError) {
    name = path.split(separator: "/").last.map(String.init) ?? path
    var text: [UInt8] = []
    do throws(SandboxError) {
      let reader = try ByteReader(path: path)
      while text.count <= Tuning.schemaFileBytes, let byte = try reader.take() { text.append(byte) }
    } catch {
      throw SandboxError(status: 0, code: "INVALID_SCHEMA_FILE", message: error.message)
    }
    self.text = text
  }

  init(name: String, text: [UInt8]) {
    self.name = name
    self.text = text
  }
}

/// The result of opening an org's database: its schema, briefcase and sessions. Created in a
/// transaction, since two processes may start on one file at the same time.
struct OpenedOrg {
  let schema: OrgSchema
  let schemaChanged: Int64
  let briefcase: [BriefcaseRule]
  let sessions: SessionRegistry
  /// True if the database has just been filled.
  let isNew: Bool

  init(connection: Connection, configuration: SandboxConfiguration, schemaFile: SchemaText?) throws {
    try OrgDatabase.prepareSettings(connection)
    let remembered = try OrgSettings(connection: connection)
    var objects = OrgSchema.standard.objects
    var rules: [BriefcaseRule] = []
    let text = schemaFile ?? remembered.schemaText
    if let text {
      let file = try SchemaFile(name: text.name, text: text.text)
      objects = file.objects
      rules = file.briefcase
    }
    schema = OrgSchema(objects: objects)
    briefcase = rules
    try OrgDatabase.prepare(connection, schema: schema)
    schemaChanged = try remembered.keep(text, schema: schema, now: configuration.clock.now())
    isNew = try connection.firstValue("SELECT count(*) FROM \"User\"") == .integer(0)
    if isNew { try Seeder(connection: connection, schema: schema, configuration: configuration).run() }
    try RecordTypes(connection: connection).prepare(schema, now: configuration.clock.now())
    try OrgDatabase.createIndexes(connection, schema: schema)
    // The default user is the first seeded one, with the configured name.
    try connection.run(
      "UPDATE \"User\" SET Username = ?1, Email = ?1 WHERE Id = ?2 AND Username <> ?1",
      [.text(configuration.username), .text(Users.caller)])
    sessions = try SessionRegistry(connection: connection, configuration: configuration)
  }
}

/// What an org stores about its schema between starts.
struct OrgSettings {
  let connection: Connection
  let schemaText: SchemaText?

  init(connection: Connection) throws(DatabaseError) {
    self.connection = connection
    guard let text = try Self.value("schema", connection) else {
      schemaText = nil
      return
    }
    schemaText = SchemaText(name: try Self.value("schema_name", connection) ?? "the org's schema", text: Array(text.utf8))
  }

  private static func value(_ name: String, _ connection: Connection) throws(DatabaseError) -> String? {
    guard case .text(let text)? = try connection.firstValue("SELECT value FROM sandbox_setting WHERE name = ?", [.text(name)])
    else { return nil }
    return text
  }

  /// - Returns: When the schema last changed.
  func keep(_ text: SchemaText?, schema: OrgSchema, now: Int64) throws(DatabaseError) -> Int64 {
    // The table definitions stand for the schema.
    let tables = try connection.firstValue("SELECT group_concat(sql, ';') FROM (SELECT sql FROM sqlite_schema ORDER BY name)")
    var source = (text.map { String(decoding: $0.text, as: UTF8.self) } ?? "")
    if case .text(let sql)? = tables { source += sql }
    let tag = EntityTag.of(Array(source.utf8))
    if try Self.value("schema_tag", connection) == tag,
      let changed = try Self.value("schema_changed", connection).flatMap({ Int64($0) })
    {
      return changed
    }
    if let text {
      try set("schema", String(decoding: text.text, as: UTF8.self))
      try set("schema_name", text.name)
    }
    try set("schema_tag", tag)
    try set("schema_changed", String(now))
    return now
  }

  private func set(_ name: String, _ value: String) throws(DatabaseError) {
    try connection.run("INSERT OR REPLACE INTO sandbox_setting VALUES (?, ?)", [.text(name), .text(value)])
  }
}
