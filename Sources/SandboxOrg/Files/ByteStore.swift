import Database

/// Stores the bytes of base64 fields apart from their rows, in parts, so that neither writing nor
/// sending needs a whole second copy in memory. On the org's queue.
struct ByteStore {
  let connection: Connection

  /// Creates the table if it does not exist.
  static func prepare(_ connection: Connection) throws(DatabaseError) {
    try connection.execute(
      "CREATE TABLE IF NOT EXISTS sandbox_bytes (row TEXT NOT NULL, field TEXT NOT NULL, part INTEGER NOT NULL, "
        + "bytes BLOB NOT NULL, PRIMARY KEY (row, field, part))")
  }

  /// Replaces the bytes of a row's field. In the caller's transaction.
  func set(_ bytes: ArraySlice<UInt8>, _ field: String, of id: String) throws(DatabaseError) {
    try remove(field, of: id)
    let insert = try connection.statement("INSERT INTO sandbox_bytes VALUES (?, ?, ?, ?)")
    var part: Int64 = 0
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let end = min(start + Tuning.bytePartBytes, bytes.endIndex)
      try insert.bind([.text(id), .text(field), .integer(part), .blob(Array(bytes[start..<end]))])
      try insert.run()
      start = end
      part += 1
    }
    insert.clearBindings()
  }

  /// Returns the number of bytes; 0 if there are none.
  func count(_ field: String, of id: String) throws(DatabaseError) -> Int {
    let sum = try connection.firstValue(
      "SELECT coalesce(sum(length(bytes)), 0) FROM sandbox_bytes WHERE row = ? AND field = ?", [.text(id), .text(field)])
    guard case .integer(let count)? = sum else { return 0 }
    return Int(count)
  }

  /// Returns part number 0, 1, …; nil after the last one.
  func part(_ number: Int, _ field: String, of id: String) throws(DatabaseError) -> [UInt8]? {
    let value = try connection.firstValue(
      "SELECT bytes FROM sandbox_bytes WHERE row = ? AND field = ? AND part = ?",
      [.text(id), .text(field), .integer(Int64(number))])
    guard case .blob(let bytes)? = value else { return nil }
    return bytes
  }

  private func remove(_ field: String, of id: String) throws(DatabaseError) {
    try connection.run("DELETE FROM sandbox_bytes WHERE row = ? AND field = ?", [.text(id), .text(field)])
  }

  func removeAll(of id: String) throws(DatabaseError) {
    try connection.run("DELETE FROM sandbox_bytes WHERE row = ?", [.text(id)])
  }
}

/// Answers with the bytes of a field.
struct ByteReply {
  let org: Org

  /// - Parameter headers: The headers, including `Content-Type`.
  /// - Throws: 404 if the field is empty.
  func make(_ field: FieldSchema, of id: String, in object: ObjectSchema, headers: [(name: String, value: String)]) throws
    -> ServerReply
  {
    let value = try org.connection.firstValue(
      "SELECT \"\(field.name)\" FROM \(object.table) WHERE Id = ?", [.text(id)])
    guard case .blob(let inRow)? = value else { throw SandboxError.notFound() }
    let store = ByteStore(connection: org.connection)
    let count = try store.count(field.name, of: id)
    // Older files keep the bytes in the row.
    guard count > 0 else { return ServerReply(status: 200, headers: headers, body: inRow) }
    var reply = ServerReply(status: 200, headers: headers, body: [])
    guard count > Tuning.wholeReplyBytes else {
      var number = 0
      while let part = try store.part(number, field.name, of: id) {
        reply.body += part
        number += 1
      }
      return reply
    }
    let name = field.name
    reply.stream = ByteStream(count: count) { [org] number in
      try await org.perform { try ByteStore(connection: $0.connection).part(number, name, of: id) }
    }
    return reply
  }
}
