import Database
import Glibc

extension IndexValue {
  /// Binds the value without copying. It must outlive the statement's step.
  @inline(__always)
  func bind(to statement: Statement, _ index: Int32) {
    switch self {
    case .null: statement.bindNull(index)
    case .integer(let value): statement.bind(index, value)
    case .real(let value): statement.bind(index, value)
    case .text(let bytes): statement.bind(index, text: bytes)
    }
  }

  /// Returns whether the column of the current row has a different value.
  @inline(__always)
  func differs(from statement: Statement, _ column: Int32) -> Bool {
    switch self {
    case .text(let bytes):
      let old = statement.bytes(column)
      if old.count != bytes.count { return true }
      if bytes.count == 0 { return statement.isNull(column) }
      return memcmp(old.baseAddress!, bytes.baseAddress!, bytes.count) != 0
    case .null: return !statement.isNull(column)
    case .integer(let value): return statement.isNull(column) || statement.int64(column) != value
    case .real(let value): return statement.isNull(column) || statement.double(column) != value
    }
  }
}
