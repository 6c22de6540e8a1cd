import RecordScan
import Support

/// Why a text is not valid JSON. Contains nothing of the text.
public struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The byte offset of the first invalid byte.
  public let offset: Int
  public let message: String

  public var description: String { "\(message) (at byte \(offset))" }

  /// Returns line and column of the error, both counted from 1, columns in bytes.
  public func position(in text: [UInt8]) -> (line: Int, column: Int) { JSONError.position(of: offset, in: text) }

  /// Returns line and column of an offset, both counted from 1, columns in bytes.
  package static func position(of offset: Int, in text: [UInt8]) -> (line: Int, column: Int) {
    let before = text.prefix(offset)
    let line = before.reduce(1) { $1 == UInt8(ascii: "\n") ? $0 + 1 : $0 }
    let column = before.count - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1
    return (line, column)
  }
}

extension JSONValue {
  /// Parses JSON text.
  /// - Throws: ``JSONError`` unless the whole text is one JSON value in UTF-8, nested at most 1,000
  ///   levels deep.
  public init(parsing bytes: UnsafeRawBufferPointer) throws(JSONError) {
    var parser = JSONParser(walker: JSONWalker(bytes))
    do {
      self = try parser.value(depth: 0)
      try parser.walker.expectEnd()
    } catch {
      throw JSONError(offset: error.offset, message: error.message)
    }
  }

  public init(parsing bytes: [UInt8]) throws(JSONError) {
    self = try bytes.withUnsafeBytes { raw in
      Result { () throws(JSONError) in try JSONValue(parsing: raw) }
    }.get()
  }

  public init(parsing text: String) throws(JSONError) { try self.init(parsing: Array(text.utf8)) }
}

struct JSONParser {
  var walker: JSONWalker

  mutating func value(depth: Int) throws(ScanError) -> JSONValue {
    walker.skipWhitespace()
    guard walker.p < walker.end else { throw walker.failure("a value is missing") }
    switch walker.p.pointee {
    case UInt8(ascii: "{"): return try object(depth: depth)
    case UInt8(ascii: "["): return try array(depth: depth)
    default:
      let (kind, start, count) = try walker.skipValue(depth: depth)
      let slice = UnsafeBufferPointer(start: walker.base + start, count: count)
      switch kind {
      case .true: return .bool(true)
      case .false: return .bool(false)
      case .number: return JSONParser.exactNumber(slice)
      case .plainString: return .string(String(decoding: slice, as: UTF8.self))
      case .escapedString: return .string(JSONParser.unescaped(slice))
      default: return .null
      }
    }
  }

  private mutating func array(depth: Int) throws(ScanError) -> JSONValue {
    try enter(depth)
    var elements: [JSONValue] = []
    if closes(UInt8(ascii: "]")) { return .array([]) }
    repeat { elements.append(try value(depth: depth + 1)) } while try !ends(UInt8(ascii: "]"))
    return .array(elements)
  }

  private mutating func object(depth: Int) throws(ScanError) -> JSONValue {
    try enter(depth)
    var members = JSONObject()
    if closes(UInt8(ascii: "}")) { return .object(members) }
    repeat {
      walker.skipWhitespace()
      let key = String(decoding: try walker.key().meaning, as: UTF8.self)
      members[key] = try value(depth: depth + 1)
    } while try !ends(UInt8(ascii: "}"))
    return .object(members)
  }

  private mutating func enter(_ depth: Int) throws(ScanError) {
    guard depth < JSONWalker.maximumDepth else {
      throw walker.failure("nested deeper than \(JSONWalker.maximumDepth) levels")
    }
    walker.p += 1
  }

  mutating func closes(_ byte: UInt8) -> Bool {
    walker.skipWhitespace()
    guard walker.p < walker.end, walker.p.pointee == byte else { return false }
    walker.p += 1
    return true
  }

  mutating func ends(_ byte: UInt8) throws(ScanError) -> Bool {
    if closes(byte) { return true }
    try walker.expect(UInt8(ascii: ","), "',' is missing")
    return false
  }

  /// Parses a number. A whole number that fits into 64 bits becomes an integer, everything else a
  /// double: infinity if it is too large.
  static func number(_ slice: UnsafeBufferPointer<UInt8>) -> JSONValue {
    let text = String(decoding: slice, as: UTF8.self)
    let isWhole = !slice.contains { $0 == UInt8(ascii: ".") || $0 | UInt8.caseBit == UInt8(ascii: "e") }
    if isWhole, let integer = Int64(text) { return .integer(integer) }
    return .number(Double(text) ?? 0)
  }

  static func unescaped(_ slice: UnsafeBufferPointer<UInt8>) -> String {
    var bytes: [UInt8] = []
    JSONStringContents.append(slice, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension JSONValue {
  /// Parses the digits of a scanned number, and keeps them.
  package static func exactNumber(parsing digits: UnsafeRawBufferPointer) -> JSONValue {
    JSONParser.exactNumber(digits.bindMemory(to: UInt8.self))
  }

  /// Parses the digits of a scanned number; one that no integer of 64 bits and no double can hold becomes the nearest.
  public static func number(parsing digits: UnsafeRawBufferPointer) -> JSONValue {
    JSONParser.number(digits.bindMemory(to: UInt8.self))
  }
}
