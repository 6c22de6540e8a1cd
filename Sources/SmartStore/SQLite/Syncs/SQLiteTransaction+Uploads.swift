import Database

extension SQLiteSnapshot {
  private static let uploadColumns =
    "entry, version, sync, fence, operation, sentAt, clockOffset, resendAt, inDoubt, sent"

  private func uploads(_ condition: String, _ values: [SQLValue]) throws -> [UploadRecord] {
    let statement = try connection.statement(
      "SELECT \(SQLiteSnapshot.uploadColumns) FROM outbox WHERE \(condition) ORDER BY entry")
    try statement.bind(values)
    defer { statement.reset() }
    var uploads: [UploadRecord] = []
    while try statement.step() {
      guard let operation = UploadRecord.Operation(rawValue: statement.string(4)) else { continue }
      uploads.append(
        UploadRecord(
          entryId: statement.int64(0), version: statement.int64(1), syncId: statement.int64(2), fence: statement.int64(3),
          operation: operation, sentAt: statement.int64(5),
          clockOffset: statement.isNull(6) ? nil : statement.int64(6),
          resendAt: statement.isNull(7) ? nil : statement.int64(7), inDoubt: statement.int64(8) != 0,
          sent: statement.isNull(9) ? nil : Array(statement.bytes(9))))
    }
    return uploads
  }

  func unsettledUploads(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ? AND operation <> 'echo'", [.integer(try self.soup(soup).number)])
  }

  func unsettledCreates(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ? AND operation = 'create'", [.integer(try self.soup(soup).number)])
  }

  func unsettledUploads(of entryIds: [Int64], in soup: String) throws -> [UploadRecord] {
    let number = try self.soup(soup).number
    return try entryIds.flatMap {
      try uploads("soup = ? AND entry = ? AND operation <> 'echo'", [.integer(number), .integer($0)])
    }
  }
}

extension SQLiteTransaction {
  func journal(_ uploads: [UploadRecord], in soup: String) throws {
    let number = try self.soup(soup).number
    for upload in uploads {
      try connection.run(
        """
        INSERT OR REPLACE INTO outbox
        (soup, entry, version, sync, fence, operation, sentAt, clockOffset, resendAt, inDoubt, sent)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .integer(number), .integer(upload.entryId), .integer(upload.version), .integer(upload.syncId),
          .integer(upload.fence), .text(upload.operation.rawValue), .integer(upload.sentAt),
          upload.clockOffset.map(SQLValue.integer) ?? .null, upload.resendAt.map(SQLValue.integer) ?? .null,
          .integer(upload.inDoubt ? 1 : 0), upload.sent.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null,
        ])
    }
  }

  func settle(
    _ entryIds: [Int64], in soup: String, sentBy run: (syncId: Int64, fence: Int64)?
  ) throws {
    let number = try self.soup(soup).number
    let owned = run == nil ? "" : " AND sync = ?3 AND fence = ?4"
    let delete = try connection.statement(
      "DELETE FROM outbox WHERE soup = ?1 AND entry = ?2 AND operation <> 'echo'" + owned)
    for id in entryIds {
      delete.bind(1, number)
      delete.bind(2, id)
      if let run {
        delete.bind(3, run.syncId)
        delete.bind(4, run.fence)
      }
      try delete.run()
    }
  }

  func keepWaiting(_ entryIds: [Int64], in soup: String, until time: Int64) throws {
    let number = try self.soup(soup).number
    for id in entryIds {
      try connection.run(
        "UPDATE outbox SET resendAt = ? WHERE soup = ? AND entry = ? AND operation = 'create'",
        [.integer(time), .integer(number), .integer(id)])
    }
  }
}
