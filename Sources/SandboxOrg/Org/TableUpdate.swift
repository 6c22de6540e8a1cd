import Database

/// Updates an object's table to its schema: creates it, or adds and replaces columns.
struct TableUpdate {
  let connection: Connection
  let object: ObjectSchema

  private struct Column {
    /// The declared type, without the collation.
    let type: String
    let isGenerated: Bool
  }

  /// - Throws: ``SandboxError`` `CANNOT_OPEN_DATABASE` if a column would change its type.
  func run() throws {
    let known = try columns()
    guard !known.isEmpty else {
      let list = try object.fields.map { try definition($0) }.joined(separator: ", ")
      return try connection.execute("CREATE TABLE \(object.table) (\(list))")
    }
    let table = try tableDefinition()
    for field in object.fields {
      let definition = try definition(field)
      if let column = known[field.name.lowercased()] {
        if field.isGenerated, column.isGenerated, table.contains(definition) { continue }
        if !field.isGenerated, !column.isGenerated {
          try requireSameType(field, column)
          continue
        }
        try drop(field)
      }
      try connection.execute("ALTER TABLE \(object.table) ADD COLUMN \(definition)")
    }
    connection.forgetStatements()
  }

  private func columns() throws(DatabaseError) -> [String: Column] {
    let statement = try connection.prepare("SELECT name, type, hidden FROM pragma_table_xinfo(?)")
    statement.bind(1, object.name)
    var columns: [String: Column] = [:]
    while try statement.step() {
      columns[statement.string(0).lowercased()] = Column(type: statement.string(1), isGenerated: statement.int64(2) != 0)
    }
    return columns
  }

  /// The current definition, including columns added since the table was created.
  private func tableDefinition() throws(DatabaseError) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?"
    guard case .text(let text)? = try connection.firstValue(sql, [.text(object.name)]) else { return "" }
    return text
  }

  private func definition(_ field: FieldSchema) throws -> String {
    do throws(FormulaError) {
      return try FieldColumn(object: object, field: field).definition()
    } catch {
      throw OrgDatabase.cannotOpen(nil, "the formula of \(object.name).\(field.name): \(error.message)")
    }
  }

  /// Drops a stored column that becomes a formula, or the reverse. Formula values can be
  /// recomputed; stored values are lost.
  private func drop(_ field: FieldSchema) throws {
    try SearchIndex(connection: connection, object: object).remove()
    try connection.execute("DROP INDEX IF EXISTS \"\(object.name)_\(field.name)\"")
    try connection.execute("ALTER TABLE \(object.table) DROP COLUMN \"\(field.name)\"")
  }

  private func requireSameType(_ field: FieldSchema, _ column: Column) throws {
    let wanted = field.type.columnType.split(separator: " ")[0]
    guard column.type.uppercased() != wanted.uppercased() else { return }
    throw OrgDatabase.cannotOpen(
      nil,
      "\(object.name).\(field.name) is stored as \(column.type) but would now be \(wanted); rename the field, "
        + "or start with a new file")
  }
}
