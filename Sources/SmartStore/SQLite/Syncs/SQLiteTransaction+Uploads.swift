import Database

extension SQLiteSnapshot {
  private static let uploadColumns =
    "entry, version, operation, state, sync, fence, sentAt, clockOffset, resendAt, sent, earlier, entryText"

  /// Selects what ``UploadRecord/isUnknownCreate`` says.
  static let isUnknownCreate = "operation = 'create' AND state IN ('sent', 'inDoubt')"

  private func uploads(_ condition: String, _ values: [SQLValue]) throws -> [UploadRecord] {
    let statement = try connection.statement(
      "SELECT \(SQLiteSnapshot.uploadColumns) FROM uploads WHERE \(condition) ORDER BY entry")
    try statement.bind(values)
    defer { statement.reset() }
    var uploads: [UploadRecord] = []
    func text(_ column: Int32) -> [UInt8]? { statement.isNull(column) ? nil : Array(statement.bytes(column)) }
    func number(_ column: Int32) -> Int64? { statement.isNull(column) ? nil : statement.int64(column) }
    while try statement.step() {
      guard let operation = UploadRecord.Operation(rawValue: statement.string(2)),
        let state = UploadRecord.State(rawValue: statement.string(3))
      else { continue }
      uploads.append(
        UploadRecord(
          entryId: statement.int64(0), version: statement.int64(1), syncId: statement.int64(4), fence: statement.int64(5),
          operation: operation, state: state, sentAt: statement.int64(6), clockOffset: number(7), resendAt: number(8),
          sent: text(9), earlier: text(10), entryText: text(11)))
    }
    return uploads
  }

  func unsettledUploads(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ?", [.integer(try self.soup(soup).number)])
  }

  func unsettledCreates(in soup: String) throws -> [UploadRecord] {
    try uploads("soup = ? AND \(Self.isUnknownCreate)", [.integer(try self.soup(soup).number)])
  }

  func unsettledUploads(of entryIds: [Int64], in soup: String) throws -> [UploadRecord] {
    let number = try self.soup(soup).number
    return try entryIds.flatMap { try uploads("soup = ? AND entry = ?", [.integer(number), .integer($0)]) }
  }
}

extension SQLiteTransaction {
  func journal(_ uploads: [UploadRecord], in soup: String) throws {
    let number = try self.soup(soup).number
    func text(_ bytes: [UInt8]?) -> SQLValue { bytes.map { .text(String(decoding: $0, as: UTF8.self)) } ?? .null }
    for upload in uploads {
      try connection.run(
        """
        INSERT OR REPLACE INTO uploads
        (soup, entry, version, operation, state, sync, fence, sentAt, clockOffset, resendAt, sent, earlier, entryText)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
        """,
        [
          .integer(number), .integer(upload.entryId), .integer(upload.version), .text(upload.operation.rawValue),
          .text(upload.state.rawValue), .integer(upload.syncId), .integer(upload.fence), .integer(upload.sentAt),
          upload.clockOffset.map(SQLValue.integer) ?? .null, upload.resendAt.map(SQLValue.integer) ?? .null,
          text(upload.sent), text(upload.earlier), text(upload.entryText),
        ])
    }
  }

  func endAttempts(
    _ entryIds: [Int64], in soup: String, sentBy run: (syncId: Int64, fence: Int64)?
  ) throws {
    let number = try self.soup(soup).number
    let owned = run == nil ? "" : " AND sync = ?3 AND fence = ?4"
    let delete = try connection.statement("DELETE FROM uploads WHERE soup = ?1 AND entry = ?2" + owned)
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
        "UPDATE uploads SET resendAt = ? WHERE soup = ? AND entry = ? AND operation = 'create'",
        [.integer(time), .integer(number), .integer(id)])
    }
  }

  func forgetEndedUpdates(in name: String, isLive: (UploadRecord) throws -> Bool) throws {
    let soup = try self.soup(name)
    let clean = try ids(
      """
      SELECT entry FROM uploads WHERE soup = ? AND operation = 'update'
      AND NOT EXISTS (SELECT 1 FROM \(soup.table) WHERE id = entry AND (\(soup.dirtyCondition)) IS 1)
      """, [.integer(soup.number)])
    guard !clean.isEmpty else { return }
    for upload in try unsettledUploads(of: clean, in: name) where try !isLive(upload) {
      try endAttempts(CollectionOfOne(upload.entryId), in: name)
    }
  }
}
