import CPostgres

/// Rows for `COPY … FROM STDIN (FORMAT binary)`.
package struct PostgresCopyRows: Sendable {
  package let columns: Int
  package private(set) var count = 0
  private(set) var body: [UInt8] = []

  package init(columns: Int) { self.columns = columns }

  /// - Precondition: There is a value for each column, in their order and types.
  package mutating func append(_ values: [PostgresParameter]) {
    precondition(values.count == columns)
    body.appendBigEndian(Int16(columns))
    for value in values {
      guard let bytes = value.encoded else {
        body.appendBigEndian(Int32(-1))
        continue
      }
      body.appendBigEndian(Int32(bytes.count))
      body += bytes
    }
    count += 1
  }

  /// The signature, no flags, no extension.
  static let header: [UInt8] = Array("PGCOPY\n".utf8) + [0xff] + Array("\r\n".utf8) + [UInt8](repeating: 0, count: 9)
  static let trailer: [UInt8] = [0xff, 0xff]
}

extension PostgresConnection {
  /// Loads rows. `sql` must be `COPY table (columns) FROM STDIN (FORMAT binary)`. COPY cannot be part of a
  /// flight: it takes two round trips.
  /// - Returns: The number of rows that the server stored.
  @discardableResult
  package func copy(_ sql: String, _ rows: PostgresCopyRows, timeoutMs: Int64? = nil) throws(PostgresError) -> Int {
    let open = try requireHandle(), end = deadline(timeoutMs), wasInTransaction = isInTransaction
    guard cpostgres_send_query(open, sql) == 1 else { throw lost() }
    guard let first = try nextResult(until: end) else { throw lost() }
    guard Int(cpostgres_result_status(first)) == CPOSTGRES_COPY_IN else {
      defer { cpostgres_clear(first) }
      let failure = error(first, sql)
      try drain(until: end)
      if !wasInTransaction { rollBack() }
      throw settled(failure)
    }
    cpostgres_clear(first)
    for part in [PostgresCopyRows.header, rows.body, PostgresCopyRows.trailer] { try put(part, open, until: end) }
    guard cpostgres_put_copy_end(open, nil) == 1 else { throw lost() }
    return try finishCopy(sql, until: end)
  }

  private func put(_ bytes: [UInt8], _ open: OpaquePointer, until end: Int64) throws(PostgresError) {
    var start = 0
    while start < bytes.count {
      let count = min(Tuning.copyChunkBytes, bytes.count - start)
      let status = bytes.withUnsafeBytes { all in
        all.bindMemory(to: CChar.self).baseAddress.map { cpostgres_put_copy_data(open, $0 + start, Int32(count)) } ?? -1
      }
      guard status >= 0 else { throw lost() }
      if status == 1 { start += count }
      try flush(until: end)
    }
  }

  private func finishCopy(_ sql: String, until end: Int64) throws(PostgresError) -> Int {
    var stored = 0, failure: PostgresError?
    while let result = try nextResult(until: end) {
      if Int(cpostgres_result_status(result)) == CPOSTGRES_COMMAND_OK {
        stored = PostgresRows(result).changes
      } else {
        failure = failure ?? error(result, sql)
        cpostgres_clear(result)
      }
    }
    if let failure { throw settled(failure) }
    return stored
  }

  /// Drops the remaining results of a statement.
  private func drain(until end: Int64) throws(PostgresError) {
    while let result = try nextResult(until: end) { cpostgres_clear(result) }
  }
}
