import Glibc

@_exported import enum Support.ColumnType
@_exported import enum Support.SQLValue

#if Encryption
  import CSQLCipher
#else
  import CSQLite
#endif

/// A prepared statement. Parameter positions count from 1 and column positions from 0, as in
/// SQLite.
package final class Statement {
  private var handle: OpaquePointer?
  private unowned let connection: Connection
  package let sql: String

  init(handle: OpaquePointer, connection: Connection, sql: String) {
    self.handle = handle
    self.connection = connection
    self.sql = sql
  }

  /// Returns whether the statement was prepared from exactly these bytes.
  func hasText(_ text: String) -> Bool {
    guard text.utf8.count == sql.utf8.count else { return false }
    return text.withCString { a in sql.withCString { b in memcmp(a, b, sql.utf8.count) == 0 } }
  }

  deinit { finalize() }

  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
  }

  /// True if SQLite guarantees that the statement does not change the database.
  package var isReadOnly: Bool { sqlite3_stmt_readonly(handle) != 0 }

  /// True for an `EXPLAIN`: its rows describe how another statement would run.
  package var isExplain: Bool { sqlite3_stmt_isexplain(handle) != 0 }

  // MARK: Binding

  package func bind(_ index: Int32, _ value: Int64) { sqlite3_bind_int64(handle, index, value) }
  package func bind(_ index: Int32, _ value: Double) { sqlite3_bind_double(handle, index, value) }
  package func bindNull(_ index: Int32) { sqlite3_bind_null(handle, index) }

  package func bind(_ index: Int32, _ value: String) {
    var value = value
    value.withUTF8 {
      _ = csqlite_bind_text_transient(handle, index, UnsafeRawBufferPointer($0).baseAddress ?? nowhere, Int32(clamping: $0.count))
    }
  }

  package func bind(_ index: Int32, textCopy text: [UInt8]) {
    _ = text.withUnsafeBytes {
      csqlite_bind_text_transient(handle, index, $0.baseAddress ?? nowhere, Int32(clamping: $0.count))
    }
  }

  /// Binds text without copying it. The bytes must stay valid until the statement is reset.
  package func bind(_ index: Int32, text: UnsafeRawBufferPointer) {
    _ = csqlite_bind_text_static(handle, index, text.baseAddress ?? nowhere, Int32(clamping: text.count))
  }

  /// Binds bytes without copying them. They must stay valid until the statement is reset and its
  /// bindings are cleared.
  package func bind(_ index: Int32, blob: UnsafeRawBufferPointer) {
    _ = csqlite_bind_blob_static(handle, index, blob.baseAddress ?? nowhere, Int32(clamping: blob.count))
  }

  package func bind(_ index: Int32, _ value: SQLValue) {
    switch value {
    case .null: bindNull(index)
    case .integer(let value): bind(index, value)
    case .real(let value): bind(index, value)
    case .text(let value): bind(index, value)
    case .blob(let value):
      _ = value.withUnsafeBytes {
        csqlite_bind_blob_transient(handle, index, $0.baseAddress ?? nowhere, Int32(clamping: $0.count))
      }
    }
  }

  /// Binds the parameters from position 1 on. Parameters without a value stay NULL.
  /// - Throws: ``DatabaseError`` if there are fewer parameters than values.
  package func bind(_ values: [SQLValue]) throws(DatabaseError) {
    guard values.count <= parameterCount else {
      throw DatabaseError(
        code: SQLITE_RANGE, message: "\(values.count) values for \(parameterCount) placeholders", sql: sql)
    }
    for (i, value) in values.enumerated() { bind(Int32(i + 1), value) }
  }

  package var parameterCount: Int { Int(sqlite3_bind_parameter_count(handle)) }

  // MARK: Running

  /// Advances to the next row.
  /// - Returns: False if there are no more rows.
  package func step() throws(DatabaseError) -> Bool {
    switch sqlite3_step(handle) {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default:
      let error = connection.error(sql: sql)
      sqlite3_reset(handle)
      throw error
    }
  }

  /// Runs a statement that returns no rows, then resets it.
  package func run() throws(DatabaseError) {
    _ = try step()
    sqlite3_reset(handle)
  }

  package func reset() { sqlite3_reset(handle) }
  package func clearBindings() { sqlite3_clear_bindings(handle) }

  // MARK: Columns of the current row

  package var columnCount: Int32 { sqlite3_column_count(handle) }
  package func columnName(_ index: Int32) -> String { String(cString: sqlite3_column_name(handle, index)) }

  package func type(_ index: Int32) -> ColumnType {
    switch sqlite3_column_type(handle, index) {
    case SQLITE_INTEGER: .integer
    case SQLITE_FLOAT: .real
    case SQLITE_TEXT: .text
    case SQLITE_BLOB: .blob
    default: .null
    }
  }

  package func isNull(_ index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }
  package func int64(_ index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }
  package func double(_ index: Int32) -> Double { sqlite3_column_double(handle, index) }

  /// Returns the column as text; empty for NULL.
  package func string(_ index: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(bytes(index)), as: UTF8.self)
  }

  /// Returns the column's text, valid until the next step or reset; empty for NULL.
  package func bytes(_ index: Int32) -> UnsafeRawBufferPointer {
    let start = sqlite3_column_text(handle, index)
    return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))
  }

  package func value(_ index: Int32) -> SQLValue {
    switch type(index) {
    case .null: return .null
    case .integer: return .integer(int64(index))
    case .real: return .real(double(index))
    case .text: return .text(string(index))
    case .blob:
      let start = sqlite3_column_blob(handle, index)
      return .blob(Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, index)))))
    }
  }
}

/// A non-null pointer for empty text and blobs: SQLite treats a null pointer as NULL.
private nonisolated(unsafe) let nowhere = UnsafeRawPointer(UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1))
