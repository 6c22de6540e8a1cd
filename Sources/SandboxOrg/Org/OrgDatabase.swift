import Database
import Glibc

/// The org's tables: one per object, one column per field, named as in the API, so that `sqlite3` shows an org plainly.
enum OrgDatabase {
  /// Raised when the layout of the file changes; a file of another version is refused.
  static let version: Int64 = 1

  /// Opens or creates the file.
  /// - Parameter path: nil keeps the org in memory.
  /// - Throws: ``SandboxError`` `CANNOT_OPEN_DATABASE` when the file is no database of this kind.
  static func open(_ path: String?) throws(SandboxError) -> Connection {
    do {
      let connection = try Connection(path: path ?? ":memory:", mode: .readWriteCreate)
      // The file holds the org's password and tokens.
      if let path { _ = chmod(path, 0o600) }
      connection.setBusyTimeout(milliseconds: Tuning.busyMilliseconds)
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
      return connection
    } catch {
      throw cannotOpen(path, (error as? DatabaseError)?.message ?? "\(error)")
    }
  }

  /// Makes the tables of a new file. In the caller's transaction: two processes may start on one file at once.
  static func prepare(_ connection: Connection, schema: OrgSchema) throws {
    let found = try connection.firstValue("PRAGMA user_version")
    if found == .integer(version) { return }
    let tables = try connection.firstValue("SELECT count(*) FROM sqlite_schema")
    guard found == .integer(0), tables == .integer(0) else {
      throw cannotOpen(nil, "it is not a sandbox org of layout \(version)")
    }
    try connection.execute("CREATE TABLE sandbox_setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID")
    try connection.execute(
      "CREATE TABLE sandbox_token (token TEXT PRIMARY KEY, kind TEXT NOT NULL, user TEXT NOT NULL, "
        + "parent TEXT, last_used INTEGER NOT NULL) WITHOUT ROWID")
    for object in schema.objects { try connection.execute(tableDefinition(object)) }
    try connection.execute("PRAGMA user_version = \(version)")
  }

  private static func tableDefinition(_ object: ObjectSchema) -> String {
    let columns = object.fields.map { field in
      let constraint = field.type == .id ? " NOT NULL" : field.isNeverNull ? " NOT NULL DEFAULT 0" : ""
      return "\"\(field.name)\" \(field.type.columnType)\(constraint)"
    }
    return "CREATE TABLE \(object.table) (\(columns.joined(separator: ", ")))"
  }

  /// Indexes are made after seeding: filling them row by row costs more.
  static func createIndexes(_ connection: Connection, schema: OrgSchema) throws(DatabaseError) {
    for object in schema.objects {
      for field in object.fields where isIndexed(field) {
        let unique = field.type == .id ? "UNIQUE " : ""
        try connection.execute(
          "CREATE \(unique)INDEX IF NOT EXISTS \"\(object.name)_\(field.name)\" ON \(object.table) (\"\(field.name)\")")
      }
    }
  }

  private static func isIndexed(_ field: FieldSchema) -> Bool {
    field.type == .id || field.isIdLookup || field.name == "LastModifiedDate" || field.childRelationshipName != nil
  }

  static func cannotOpen(_ path: String?, _ reason: String) -> SandboxError {
    let name = path.map { " \($0)" } ?? ""
    return SandboxError(status: 0, code: "CANNOT_OPEN_DATABASE", message: "cannot open the sandbox database\(name): \(reason)")
  }
}
