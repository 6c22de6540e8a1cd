import Database
import Glibc

/// The org's tables: one per object and one column per field, named as in the API, so that an org
/// is easy to inspect with `sqlite3`.
enum OrgDatabase {
  /// Incremented when the file's layout changes; other versions are refused.
  static let version: Int64 = 3

  /// Opens or creates the file.
  ///
  /// - Parameter path: nil keeps the org in memory.
  /// - Throws: ``SandboxError`` `CANNOT_OPEN_DATABASE` if the file is not an org's database.
  static func open(_ path: String?) throws(SandboxError) -> Connection {
    do {
      let connection = try Connection(path: path ?? ":memory:", mode: .readWriteCreate)
      // The file contains the org's password and tokens.
      if let path { _ = chmod(path, 0o600) }
      connection.setBusyTimeout(milliseconds: Tuning.busyMilliseconds)
      try connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
      try TextComparison.register(on: connection)
      return connection
    } catch {
      throw cannotOpen(path, error.message)
    }
  }

  /// Creates the tables of the objects, or updates existing ones to the schema. In the caller's
  /// transaction.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_OPEN_DATABASE` for changes that would lose data.
  static func prepare(_ connection: Connection, schema: OrgSchema) throws {
    for object in schema.objects { try TableUpdate(connection: connection, object: object).run() }
  }

  /// Creates the org's own tables if they do not exist.
  ///
  /// - Throws: ``SandboxError`` `CANNOT_OPEN_DATABASE` if the file has another layout or belongs to
  ///   another program.
  static func prepareSettings(_ connection: Connection) throws {
    let found = try connection.firstValue("PRAGMA user_version")
    let tables = try connection.firstValue("SELECT count(*) FROM sqlite_schema")
    guard found == .integer(version) || (found == .integer(0) && tables == .integer(0)) else {
      throw cannotOpen(nil, "it is not a sandbox org of layout \(version); choose another file, or remove this one")
    }
    try SessionRegistry.prepare(connection)
    try ByteStore.prepare(connection)
    try RowNumbers.prepare(connection)
    try connection.execute("PRAGMA user_version = \(version)")
  }

  /// Creates the indexes. Call after seeding: updating them row by row is slower.
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
    let isStamp = field.name == "LastModifiedDate" || field.name == "SystemModstamp"
    let isUserReference = field.referenceTo.contains("User")
    return field.isIdLookup || field.isUnique || isStamp || (field.type == .reference && !isUserReference)
  }

  static func cannotOpen(_ path: String?, _ reason: String) -> SandboxError {
    let name = path.map { " \($0)" } ?? ""
    return SandboxError(status: 0, code: "CANNOT_OPEN_DATABASE", message: "cannot open the sandbox database\(name): \(reason)")
  }
}
