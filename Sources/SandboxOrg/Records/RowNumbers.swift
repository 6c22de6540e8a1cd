import Database

/// The row numbers from which ids are made. A number is never reused, even after the newest row is
/// removed.
struct RowNumbers {
  let connection: Connection

  /// Creates the table if it does not exist.
  static func prepare(_ connection: Connection) throws(DatabaseError) {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_row_number (object TEXT PRIMARY KEY, last INTEGER NOT NULL) WITHOUT ROWID")
  }

  /// Returns the highest number that an object's rows have or had.
  func last(of object: ObjectSchema) throws -> Int64 {
    let last = try connection.firstValue(
      "SELECT max(coalesce((SELECT max(rowid) FROM \(object.table)), 0), "
        + "coalesce((SELECT last FROM sandbox_row_number WHERE object = ?), 0))", [.text(object.name)])
    guard case .integer(let number)? = last else { throw SandboxError.unknown("no row number") }
    return number
  }

  /// Removes a row permanently, with its bytes. In the caller's transaction.
  func remove(_ id: String, of object: ObjectSchema) throws(DatabaseError) {
    try connection.run(
      "INSERT INTO sandbox_row_number SELECT ?1, rowid FROM \(object.table) WHERE Id = ?2 "
        + "ON CONFLICT (object) DO UPDATE SET last = max(last, excluded.last)", [.text(object.name), .text(id)])
    try connection.run("DELETE FROM \(object.table) WHERE Id = ?", [.text(id)])
    try ByteStore(connection: connection).removeAll(of: id)
  }
}
