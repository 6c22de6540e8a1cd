import CPostgres

/// The result of one statement: rows in binary form, or the number of rows that it changed. It does
/// not change and may be read on any thread.
package final class PostgresRows: @unchecked Sendable {
  private let handle: OpaquePointer
  package let count: Int
  package let columnCount: Int
  /// Rows that an INSERT, UPDATE, DELETE, SELECT or COPY processed.
  package let changes: Int

  /// Takes ownership of a result.
  init(_ handle: OpaquePointer) {
    self.handle = handle
    count = Int(cpostgres_row_count(handle))
    columnCount = Int(cpostgres_column_count(handle))
    changes = Int(String(cString: cpostgres_command_tuples(handle))) ?? 0
  }

  deinit { cpostgres_clear(handle) }

  package subscript(row: Int) -> PostgresRow {
    precondition(row >= 0 && row < count)
    return PostgresRow(rows: self, row: Int32(row))
  }

  package var first: PostgresRow? { count > 0 ? self[0] : nil }

  /// - Throws: ``PostgresError`` `.unexpectedResult` unless there is exactly one row.
  package func only() throws(PostgresError) -> PostgresRow {
    guard count == 1 else { throw PostgresError(.unexpectedResult, "\(count) rows in place of one") }
    return self[0]
  }

  package func map<T>(_ transform: (PostgresRow) throws -> T) rethrows -> [T] { try (0..<count).map { try transform(self[$0]) } }

  /// The position of a column, for loops over many rows.
  package func column(_ name: String) throws(PostgresError) -> Int {
    let number = cpostgres_column_number(handle, name)
    guard number >= 0 else { throw PostgresError(.unexpectedResult, "the result has no column '\(name)'") }
    return Int(number)
  }

  func type(_ column: Int) -> UInt32 { cpostgres_column_type(handle, Int32(column)) }

  /// The binary form of a value; nil for NULL. Valid while this object lives: a caller keeps it alive.
  func bytes(_ row: Int32, _ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
    guard (0..<columnCount).contains(column) else { throw PostgresError(.unexpectedResult, "the result has no column \(column)") }
    guard cpostgres_is_null(handle, row, Int32(column)) == 0 else { return nil }
    let length = Int(cpostgres_length(handle, row, Int32(column)))
    return UnsafeRawBufferPointer(start: cpostgres_value(handle, row, Int32(column)), count: length)
  }
}

/// One row. Positions of columns count from 0. Every accessor throws ``PostgresError``
/// `.unexpectedResult` if the column does not exist or has another type; those without `optional`
/// also for NULL.
package struct PostgresRow {
  let rows: PostgresRows
  let row: Int32

  package func isNull(_ column: Int) throws(PostgresError) -> Bool { try rows.bytes(row, column) == nil }

  package func int64(_ column: Int) throws(PostgresError) -> Int64 { try value(optionalInt64(column), column) }

  package func optionalInt64(_ column: Int) throws(PostgresError) -> Int64? {
    guard let bytes = try rows.bytes(row, column) else { return nil }
    switch (rows.type(column), bytes.count) {
    case (PostgresType.int64, 8): return bytes.bigEndian(Int64.self)
    case (PostgresType.int32, 4): return Int64(bytes.bigEndian(Int32.self))
    case (PostgresType.int16, 2): return Int64(bytes.bigEndian(Int16.self))
    case (PostgresType.oid, 4): return Int64(bytes.bigEndian(UInt32.self))
    default: throw mismatch(column, "an integer")
    }
  }

  package func double(_ column: Int) throws(PostgresError) -> Double { try value(optionalDouble(column), column) }

  package func optionalDouble(_ column: Int) throws(PostgresError) -> Double? {
    guard let bytes = try rows.bytes(row, column) else { return nil }
    guard rows.type(column) == PostgresType.double, bytes.count == 8 else { throw mismatch(column, "a double") }
    return Double(bitPattern: bytes.bigEndian(UInt64.self))
  }

  package func bool(_ column: Int) throws(PostgresError) -> Bool {
    guard let bytes = try rows.bytes(row, column) else { throw mismatch(column, "a boolean") }
    guard rows.type(column) == PostgresType.bool, bytes.count == 1 else { throw mismatch(column, "a boolean") }
    return bytes[0] != 0
  }

  package func string(_ column: Int) throws(PostgresError) -> String { try value(optionalString(column), column) }

  package func optionalString(_ column: Int) throws(PostgresError) -> String? {
    defer { withExtendedLifetime(rows) {} }
    return try utf8(column).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Calls `body` with the UTF-8 of a text, which is valid during the call; nil for NULL.
  package func withUTF8<T>(_ column: Int, _ body: (UnsafeRawBufferPointer?) throws -> T) throws -> T {
    defer { withExtendedLifetime(rows) {} }
    return try body(try utf8(column))
  }

  private func utf8(_ column: Int) throws(PostgresError) -> UnsafeRawBufferPointer? {
    guard let bytes = try rows.bytes(row, column) else { return nil }
    switch rows.type(column) {
    case PostgresType.text, PostgresType.varchar, PostgresType.name, PostgresType.json, PostgresType.unknown: return bytes
    default: throw mismatch(column, "text")
    }
  }

  /// The bytes of a `bytea`; nil for NULL.
  package func optionalBytes(_ column: Int) throws(PostgresError) -> [UInt8]? {
    defer { withExtendedLifetime(rows) {} }
    guard let bytes = try rows.bytes(row, column) else { return nil }
    guard rows.type(column) == PostgresType.bytes else { throw mismatch(column, "bytes") }
    return Array(bytes)
  }

  /// An array of `bigint` without NULLs; empty for NULL.
  package func int64s(_ column: Int) throws(PostgresError) -> [Int64] {
    defer { withExtendedLifetime(rows) {} }
    return try elements(column, PostgresType.int64, 8).map { $0.bigEndian(Int64.self) }
  }

  /// An array of `text` without NULLs; empty for NULL.
  package func strings(_ column: Int) throws(PostgresError) -> [String] {
    defer { withExtendedLifetime(rows) {} }
    return try elements(column, PostgresType.text, nil).map { String(decoding: $0, as: UTF8.self) }
  }

  private func elements(_ column: Int, _ type: UInt32, _ size: Int?) throws(PostgresError) -> [UnsafeRawBufferPointer] {
    guard let bytes = try rows.bytes(row, column) else { return [] }
    let wrong = mismatch(column, "an array of another type, or with NULLs")
    guard rows.type(column) == PostgresType.array(of: type), bytes.count >= 12 else { throw wrong }
    guard bytes.bigEndian(Int32.self) > 0 else { return [] }
    guard bytes.bigEndian(Int32.self) == 1, bytes.count >= 20 else { throw wrong }
    var offset = 20, result: [UnsafeRawBufferPointer] = []
    for _ in 0..<bytes.bigEndian(Int32.self, at: 12) {
      guard offset + 4 <= bytes.count else { throw wrong }
      let length = Int(bytes.bigEndian(Int32.self, at: offset))
      guard length >= 0, offset + 4 + length <= bytes.count, size == nil || size == length else { throw wrong }
      result.append(UnsafeRawBufferPointer(rebasing: bytes[(offset + 4)..<(offset + 4 + length)]))
      offset += 4 + length
    }
    return result
  }

  private func value<T>(_ value: T?, _ column: Int) throws(PostgresError) -> T {
    guard let value else { throw PostgresError(.unexpectedResult, "column \(column) is NULL") }
    return value
  }

  private func mismatch(_ column: Int, _ expected: String) -> PostgresError {
    PostgresError(.unexpectedResult, "column \(column) is not \(expected) (type \(rows.type(column)))")
  }
}
