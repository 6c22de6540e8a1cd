import Glibc
import SmartStore
import Support

/// A column of a result as it is returned to a reader.
struct ResultColumn: Sendable {
  /// The name that SQLite gives it.
  let name: String
  /// Whether its texts begin with a letter for their class: see ``SoupTable/typed(_:)``.
  let isTyped: Bool
}

/// A row of a result in the terms of all engines.
struct FetchedRow: ResultRow {
  private let row: PostgresRow
  private let columns: [ResultColumn]

  init(_ row: PostgresRow, _ columns: [ResultColumn]) {
    self.row = row
    self.columns = columns
  }

  func columnName(_ column: Int32) -> String { columns[Int(column)].name }

  private func raw(_ column: Int32) -> UnsafeRawBufferPointer? { (try? row.rows.bytes(row.row, Int(column))) ?? nil }

  private func typedClass(_ column: Int32) -> UInt8? { columns[Int(column)].isTyped ? raw(column)?.first : nil }

  func type(_ column: Int32) -> ColumnType {
    guard raw(column) != nil else { return .null }
    if let letter = typedClass(column) {
      return letter == UInt8(ascii: "i") ? .integer : letter == UInt8(ascii: "r") ? .real : .text
    }
    switch row.rows.type(Int(column)) {
    case PostgresType.int64, PostgresType.int32, PostgresType.int16, PostgresType.bool: return .integer
    case PostgresType.double: return .real
    case PostgresType.bytes: return .blob
    default: return .text
    }
  }

  func int64(_ column: Int32) -> Int64 {
    if typedClass(column) != nil { return Int64(literal(column)) ?? 0 }
    if row.rows.type(Int(column)) == PostgresType.bool { return raw(column)?.first == 1 ? 1 : 0 }
    return (try? row.optionalInt64(Int(column))) ?? 0
  }

  func double(_ column: Int32) -> Double {
    if typedClass(column) != nil { return Double(literal(column)) ?? 0 }
    return (try? row.optionalDouble(Int(column))) ?? 0
  }

  func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
    guard let raw = raw(column) else { return UnsafeRawBufferPointer(start: nil, count: 0) }
    return typedClass(column) == nil ? raw : UnsafeRawBufferPointer(rebasing: raw.dropFirst())
  }

  /// Calls `body` with the bytes of a value, which are valid during the call.
  func withBytes(_ column: Int32, _ body: (UnsafeRawBufferPointer) -> Void) {
    defer { withExtendedLifetime(row.rows) {} }
    body(bytes(column))
  }

  private func literal(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

  func value(_ column: Int32) -> SQLValue {
    switch type(column) {
    case .null: .null
    case .integer: .integer(int64(column))
    case .real: .real(double(column))
    case .text: .text(literal(column))
    case .blob: .blob(Array(bytes(column)))
    }
  }
}

/// Reals as texts in SQLite's form: 15 digits, and always a decimal point.
enum RealText {
  static func text(_ real: Double) -> String {
    guard real.isFinite else { return real.isNaN ? "" : real > 0 ? "Inf" : "-Inf" }
    var buffer = [CChar](repeating: 0, count: 32)
    let count = withVaList([real]) { vsnprintf(&buffer, buffer.count, "%.15g", $0) }
    let digits = String(decoding: buffer.prefix(Int(count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    guard !digits.contains(".") else { return digits }
    guard let e = digits.firstIndex(of: "e") else { return digits + ".0" }
    return digits[..<e] + ".0" + digits[e...]
  }
}

extension PostgresRow {
  /// The bytes of a text that is not NULL.
  func text(_ column: Int) throws -> [UInt8] { try withUTF8(column) { $0.map { Array($0) } ?? [] } }

  /// A path's value as text.
  func string(_ column: Int, of value: SoupValue) throws -> String {
    switch value.form {
    case .text: try string(column)
    case .integer: String(try int64(column))
    case .real: RealText.text(try double(column))
    case .mixed:
      switch FetchedRow(self, Array(repeating: ResultColumn(name: "", isTyped: true), count: column + 1)).value(Int32(column)) {
      case .real(let real): RealText.text(real)
      case .integer(let integer): String(integer)
      default: String(decoding: try text(column).dropFirst(), as: UTF8.self)
      }
    }
  }
}

extension SoupValue {
  /// The condition that a value of this path equals one of an array from ``keys(_:)``.
  func joined(to key: String) -> String {
    guard form == .text || form == .mixed else { return "\(sql) = \(key)" }
    let whole = "\(sql) = \(key) COLLATE \"C\""
    let length = SoupTable.indexedCharacters
    return isIndexed ? "left(\(sql), \(length)) = left(\(key) COLLATE \"C\", \(length)) AND \(whole)" : whole
  }

  /// An array of values to look up; NULL for those that equal nothing.
  func keys(_ values: [SQLValue?]) -> PostgresParameter {
    var array = PostgresArray(of: form.element)
    for value in values {
      guard let value, value != .null else {
        array.appendNull()
        continue
      }
      switch form {
      case .text: array.append(PostgresText.storable(SoupValue.text(value)))
      case .mixed: array.append(SortKey.encoded(value) ?? "")
      case .integer, .real: array.append(number: SoupValue.number(value))
      }
    }
    return .array(array)
  }
}

extension PostgresArray {
  /// Appends a number in the array's type; NULL for what equals none of its values.
  fileprivate mutating func append(number: SQLValue) {
    switch (number, element) {
    case (.integer(let integer), .int64): append(integer)
    case (.integer(let integer), _): append(Double(integer))
    case (.real(let real), .int64):
      if let integer = Int64(exactly: real) { append(integer) } else { appendNull() }
    case (.real(let real), _): append(real)
    default: appendNull()
    }
  }
}
