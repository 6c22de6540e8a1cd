/// The column of a field in its object's table.
struct FieldColumn {
  let object: ObjectSchema
  let field: FieldSchema

  /// Returns the SQL of a generated column; nil for a stored one.
  ///
  /// - Throws: ``FormulaError`` for an invalid formula.
  func expression() throws(FormulaError) -> String? {
    switch field.computation {
    case .formula(let formula):
      let sql = try Formula.sql(formula, over: object)
      return field.type == .boolean ? "(\(sql)) IS TRUE" : sql
    case .compound(let parts):
      let known = parts.filter { object.field($0.field) != nil }
      let members = known.map { "'\($0.key)', \"\($0.field)\"" }.joined(separator: ", ")
      let values = known.map { "\"\($0.field)\"" }.joined(separator: ", ")
      guard known.count > 1 else { return "NULL" }
      return "CASE WHEN coalesce(\(values)) IS NULL THEN NULL ELSE json_object(\(members)) END"
    default: return nil
    }
  }

  /// Returns the column definition for CREATE TABLE and ALTER TABLE.
  func definition() throws(FormulaError) -> String {
    let name = "\"\(field.name)\" \(field.isCaseSensitive ? "TEXT" : field.type.columnType)"
    if let expression = try expression() { return "\(name) GENERATED ALWAYS AS (\(expression)) VIRTUAL" }
    return name + (field.type == .id ? " NOT NULL" : field.isNeverNull ? " NOT NULL DEFAULT 0" : "")
  }
}
