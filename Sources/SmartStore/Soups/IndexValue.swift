import Database
import Glibc
import JSON
import RecordScan
import Support

/// What goes into an index column. Text points into a page or a scratch buffer and is valid for one record only.
enum IndexValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)

  /// Binds without copying: the value must outlive the statement's step.
  @inline(__always)
  func bind(to statement: Statement, _ index: Int32) {
    switch self {
    case .null: statement.bindNull(index)
    case .integer(let value): statement.bind(index, value)
    case .real(let value): statement.bind(index, value)
    case .text(let bytes): statement.bind(index, text: bytes)
    }
  }

  /// Whether the column of the current row holds something else.
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

/// Turns scanned values into index values: the table of what each type of index keeps of each kind of value.
struct IndexProjection {
  /// Holds unescaped and rebuilt text until the record is written.
  private let scratch = TextArena()

  /// Call before each record: text of the one before is gone then.
  func begin() { scratch.clear() }

  /// - Parameters:
  ///   - page: The text that `value` lies in.
  ///   - record: The whole record, for paths that lead through arrays.
  func value(
    _ value: ScannedValue, type: IndexType, path: String, in page: UnsafeRawBufferPointer, record: ScannedRecord
  ) throws -> IndexValue {
    if value.kind == .arrayStep { return try projected(path, type, in: page, record) }
    switch type {
    case .string, .fullText: return try text(value, in: page)
    case .integer:
      switch value.kind {
      case .number: return IndexProjection.integer(slice(value, page))
      case .true: return .integer(1)
      case .false: return .integer(0)
      default: return .null
      }
    case .floating:
      guard value.kind == .number else { return .null }
      return Double(String(decoding: slice(value, page), as: UTF8.self)).map { .real($0) } ?? .null
    case .json1: return .null
    }
  }

  /// A number as json1 has it: an integer where 64 bits hold it, else a real.
  func ownClass(_ value: ScannedValue, in page: UnsafeRawBufferPointer) -> IndexValue {
    switch JSONValue.number(parsing: slice(value, page)) {
    case .integer(let integer): .integer(integer)
    case .number(let real): .real(real)
    default: .null
    }
  }

  private func slice(_ value: ScannedValue, _ page: UnsafeRawBufferPointer) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(rebasing: page[value.start..<value.start + value.count])
  }

  private static let trueText: StaticString = "true"
  private static let falseText: StaticString = "false"

  private static func constant(_ text: StaticString) -> IndexValue {
    .text(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private func text(_ value: ScannedValue, in page: UnsafeRawBufferPointer) throws -> IndexValue {
    switch value.kind {
    case .plainString: return .text(slice(value, page))
    case .number: return number(slice(value, page))
    case .escapedString:
      var bytes: [UInt8] = []
      JSONStringContents.append(slice(value, page).bindMemory(to: UInt8.self), to: &bytes)
      return keep(bytes)
    case .true: return IndexProjection.constant(IndexProjection.trueText)
    case .false: return IndexProjection.constant(IndexProjection.falseText)
    case .object, .array:
      let parsed = try JSONValue(parsing: slice(value, page))
      return keep(IndexProjection.containerText(parsed))
    case .missing, .null, .arrayStep: return .null
    }
  }

  /// Digits stay as they are; other numbers get one form, the one that numbers to look for are given too: `1e1` is `10.0`.
  private func number(_ digits: UnsafeRawBufferPointer) -> IndexValue {
    guard digits.contains(where: { $0 == UInt8(ascii: ".") || $0 | UInt8.caseBit == UInt8(ascii: "e") }),
      case .number(let value) = JSONValue.number(parsing: digits), value.isFinite
    else { return .text(digits) }
    return keep(Array("\(value)".utf8))
  }

  private func keep(_ bytes: [UInt8]) -> IndexValue { .text(scratch.keep(bytes)) }

  /// Compact JSON with `/` written `\/`, as the model keeps it: exact matches on an array's text see it.
  static func containerText(_ value: JSONValue) -> [UInt8] {
    var out: [UInt8] = []
    for byte in value.serialized() {
      if byte == UInt8(ascii: "/") { out.append(UInt8(ascii: "\\")) }
      out.append(byte)
    }
    return out
  }

  /// A number as an integer: fractions cut towards zero, clamped to 64 bits.
  static func integer(_ digits: UnsafeRawBufferPointer) -> IndexValue {
    let text = String(decoding: digits, as: UTF8.self)
    if let exact = Int64(text) { return .integer(exact) }
    guard let real = Double(text), !real.isNaN else { return .null }
    if real >= 0x1p63 { return .integer(.max) }
    return .integer(real <= -0x1p63 ? .min : Int64(real))
  }

  private func projected(
    _ path: String, _ type: IndexType, in page: UnsafeRawBufferPointer, _ record: ScannedRecord
  ) throws -> IndexValue {
    let whole = UnsafeRawBufferPointer(rebasing: page[record.start..<record.start + record.count])
    guard type == .string || type == .fullText, let value = SoupPath.project(try JSONValue(parsing: whole), path) else {
      return .null
    }
    switch value {
    case .null: return .null
    case .string(let text): return keep(Array(text.utf8))
    default: return keep(IndexProjection.containerText(value))
    }
  }
}

/// The dotted paths of index specs, through a value.
package enum SoupPath {
  /// An object step takes the key; an array step applies what is left of the path to each element and keeps what it yields, in
  /// order. An array that yields nothing, and a path that goes on behind a string or number, lead nowhere.
  /// - Note: Source: Mobile SDK, `SmartStore.project`.
  package static func project(_ value: JSONValue, _ path: String) -> JSONValue? {
    let keys = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    return path.isEmpty ? value : project(value, keys[...])
  }

  private static func project(_ value: JSONValue, _ keys: ArraySlice<String>) -> JSONValue? {
    guard let key = keys.first else { return value }
    switch value {
    case .object(let members): return members[key].flatMap { project($0, keys.dropFirst()) }
    case .array(let elements):
      let found = elements.compactMap { project($0, keys) }
      return found.isEmpty ? nil : .array(found)
    default: return nil
    }
  }
}
