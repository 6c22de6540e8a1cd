import JSON
import RecordScan
import Support

/// The value of an index column. Text points into a page or a scratch buffer and is valid for one
/// record only.
package enum IndexValue {
  case null
  case integer(Int64)
  case real(Double)
  case text(UnsafeRawBufferPointer)
}

/// Converts scanned values into index values, by the type of the index and the kind of the value.
package struct IndexProjection {
  /// Holds decoded and rebuilt text until the record is written.
  private let scratch = TextArena()

  package init() {}

  /// Call before each record. Frees the text of the previous one.
  package func begin() { scratch.clear() }

  /// Returns the index value of a scanned value.
  /// - Parameters:
  ///   - page: The text that contains `value`.
  ///   - record: The whole record, for paths that lead through arrays.
  package func value(
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

  /// Returns a number in json1's type: an integer if it fits into 64 bits, else a real.
  package func ownClass(_ value: ScannedValue, in page: UnsafeRawBufferPointer) -> IndexValue {
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

  /// Returns a number as text. Whole numbers keep their digits; others get the same form as the
  /// keys of queries: `1e1` becomes `10.0`.
  private func number(_ digits: UnsafeRawBufferPointer) -> IndexValue {
    guard digits.contains(where: { $0 == UInt8(ascii: ".") || $0 | UInt8.caseBit == UInt8(ascii: "e") }),
      case .number(let value) = JSONValue.number(parsing: digits), value.isFinite
    else { return .text(digits) }
    return keep(Array("\(value)".utf8))
  }

  private func keep(_ bytes: [UInt8]) -> IndexValue { .text(scratch.keep(bytes)) }

  /// Returns compact JSON with `/` escaped as `\/`, as the Mobile SDK stores it. Exact matches on
  /// the text of an array depend on it. Numbers have one form, as in indexes on numbers alone.
  static func containerText(_ value: JSONValue) -> [UInt8] {
    var out: [UInt8] = []
    for byte in inOneForm(value).serialized() {
      if byte == UInt8(ascii: "/") { out.append(UInt8(ascii: "\\")) }
      out.append(byte)
    }
    return out
  }

  private static func inOneForm(_ value: JSONValue) -> JSONValue {
    switch value {
    case .decimal(let digits): Array(digits.utf8).withUnsafeBytes { JSONValue.number(parsing: $0) }
    case .array(let elements): .array(elements.map(inOneForm))
    case .object(let members): .object(JSONObject(members.map { ($0.key, inOneForm($0.value)) }))
    default: value
    }
  }

  /// Converts a number to an integer: truncates fractions and clamps to 64 bits.
  static func integer(_ digits: UnsafeRawBufferPointer) -> IndexValue {
    let text = String(decoding: digits, as: UTF8.self)
    if let exact = Int64(text) { return .integer(exact) }
    guard let real = Double(text), !real.isNaN else { return .null }
    if real >= 0x1p63 { return .integer(.max) }
    return .integer(real <= -0x1p63 ? .min : Int64(saturating: real))
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

/// Resolves the dotted paths of index specs.
package enum SoupPath {
  /// Returns the value at a path. An object is entered by key. For an array, the rest of the path
  /// is applied to each element, and the results form an array. An array without results, and a
  /// path that continues after a string or number, have no value.
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
