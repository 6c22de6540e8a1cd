import Database
import JSON

/// Finds single rows. On the org's queue.
struct RecordReader {
  enum Presence: Equatable { case live, deleted, missing }

  let org: Org

  func presence(of id: String, in object: ObjectSchema) throws(DatabaseError) -> Presence {
    switch try org.connection.firstValue("SELECT IsDeleted FROM \(object.table) WHERE Id = ?", [.text(id)]) {
    case .integer(0)?: return .live
    case .some: return .deleted
    case nil: return .missing
    }
  }

  /// Returns ids of live rows with this value in a unique or look-up field.
  func ids(in object: ObjectSchema, where field: FieldSchema, is value: SQLValue) throws(DatabaseError) -> [String] {
    let statement = try org.connection.statement(
      "SELECT Id FROM \(object.table) WHERE \"\(field.name)\" = ? AND IsDeleted = 0 ORDER BY Id")
    try statement.bind([value])
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.string(0)) }
    return ids
  }

  /// Returns ids of rows that were deleted with their parent, at the same timestamp.
  func deletedIds(
    in object: ObjectSchema, where field: FieldSchema, is parent: String, at stamp: SQLValue
  ) throws(DatabaseError) -> [String] {
    let statement = try org.connection.statement(
      "SELECT Id FROM \(object.table) WHERE \"\(field.name)\" = ? AND IsDeleted = 1 AND SystemModstamp = ?")
    try statement.bind([.text(parent), stamp])
    defer { statement.reset() }
    var ids: [String] = []
    while try statement.step() { ids.append(statement.string(0)) }
    return ids
  }

  /// Returns rows as JSON text in the order of `ids`; nil for deleted and missing ones.
  func records(_ ids: [String?], of object: ObjectSchema, fields: [String], version: String) throws -> [[UInt8]?] {
    let plan = try plan(object, fields: fields)
    let renderer = try RecordRenderer(plan, RenderContext(org: org, version: version))
    let rows = try org.connection.prepare("SELECT rowid FROM \(object.table) WHERE Id = ? AND IsDeleted = 0")
    let statement = try org.connection.prepare(plan.sql)
    return try ids.map { id in
      guard let id else { return nil }
      rows.reset()
      rows.bind(1, id)
      guard try rows.step() else { return nil }
      statement.reset()
      statement.bind(1, rows.int64(0))
      guard try statement.step() else { return nil }
      var out: [UInt8] = []
      try renderer.append(statement, to: &out)
      return out
    }
  }

  /// - Parameter fields: Empty for all fields.
  private func plan(_ object: ObjectSchema, fields: [String]) throws(SandboxError) -> RecordPlan {
    let names = fields.isEmpty ? object.fields.map(\.name) : fields
    do throws(SOQLError) {
      return try org.compiler(for: "").recordPlan(object, fields: names)
    } catch {
      throw SandboxError(status: 400, code: error.code, message: error.message)
    }
  }
}
