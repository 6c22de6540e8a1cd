/// A value for a placeholder of a statement, sent in binary form.
package enum PostgresParameter: Sendable {
  case null
  case bool(Bool)
  case int64(Int64)
  case double(Double)
  /// PostgreSQL refuses text that contains a NUL character.
  case text(String)
  /// UTF-8 that need not be a `String` first.
  case utf8([UInt8])
  case bytes([UInt8])
  case array(PostgresArray)

  package static func int(_ value: Int) -> PostgresParameter { .int64(Int64(value)) }
  package static func optional(_ value: String?) -> PostgresParameter { value.map(Self.text) ?? .null }
  package static func optional(_ value: Int64?) -> PostgresParameter { value.map(Self.int64) ?? .null }

  package static func texts(_ values: some Sequence<String>) -> PostgresParameter {
    var array = PostgresArray(of: .text)
    for value in values { array.append(value) }
    return .array(array)
  }

  package static func int64s(_ values: some Sequence<Int64>) -> PostgresParameter {
    var array = PostgresArray(of: .int64)
    for value in values { array.append(value) }
    return .array(array)
  }

  /// The object id of the type; 0 leaves it to the server.
  var type: UInt32 {
    switch self {
    case .null: 0
    case .bool: PostgresType.bool
    case .int64: PostgresType.int64
    case .double: PostgresType.double
    case .text, .utf8: PostgresType.text
    case .bytes: PostgresType.bytes
    case .array(let array): PostgresType.array(of: array.element.type)
    }
  }

  /// The binary form; nil for NULL.
  var encoded: [UInt8]? {
    switch self {
    case .null: nil
    case .bool(let value): [value ? 1 : 0]
    case .int64(let value): Array(bigEndian: value)
    case .double(let value): Array(bigEndian: value.bitPattern)
    case .text(let value): Array(value.utf8)
    case .utf8(let value), .bytes(let value): value
    case .array(let array): array.encoded
    }
  }
}

/// A one-dimensional array in PostgreSQL's binary form, for `unnest`. Elements go into one buffer as
/// they are appended: a page of records needs no array of arrays.
package struct PostgresArray: Sendable {
  package enum Element: Sendable {
    case bool, int64, double, text, bytes

    var type: UInt32 {
      switch self {
      case .bool: PostgresType.bool
      case .int64: PostgresType.int64
      case .double: PostgresType.double
      case .text: PostgresType.text
      case .bytes: PostgresType.bytes
      }
    }
  }

  package let element: Element
  package private(set) var count = 0
  /// The array so far, so that a large one is not copied once more when it is sent: the number of dimensions, a flag for NULLs,
  /// the type of the elements, the size and lower bound of the dimension, then the elements.
  private var body: [UInt8] = []

  private static let header = 20

  package init(of element: Element) {
    self.element = element
    for word in [1, 0, Int32(bitPattern: element.type), 0, 1] { body.appendBigEndian(word) }
  }

  /// - Parameter bytes: The expected size of all elements.
  package mutating func reserve(elements: Int, bytes: Int) { body.reserveCapacity(Self.header + elements * 4 + bytes) }

  package mutating func appendNull() {
    body.appendBigEndian(Int32(-1))
    setWord(at: 4, to: 1)
    counted()
  }

  /// For arrays of text or bytes.
  package mutating func append(_ bytes: UnsafeRawBufferPointer) {
    body.appendBigEndian(Int32(bytes.count))
    body.append(contentsOf: bytes)
    counted()
  }

  package mutating func append(_ text: String) {
    var text = text
    text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
  }

  package mutating func append(_ value: Int64) { appendScalar(value) }
  package mutating func append(_ value: Double) { appendScalar(value.bitPattern) }
  package mutating func append(_ value: Bool) { appendScalar(UInt8(value ? 1 : 0)) }

  private mutating func appendScalar(_ value: some FixedWidthInteger) {
    body.appendBigEndian(Int32(value.bitWidth / 8))
    body.appendBigEndian(value)
    counted()
  }

  private mutating func counted() {
    count += 1
    setWord(at: 12, to: Int32(count))
  }

  private mutating func setWord(at offset: Int, to value: Int32) {
    body.withUnsafeMutableBytes { $0.storeBytes(of: value.bigEndian, toByteOffset: offset, as: Int32.self) }
  }

  /// The binary form. An empty array has no dimension.
  var encoded: [UInt8] { count == 0 ? Array(repeating: 0, count: 8) + body[8..<12] : body }
}

extension Array where Element == UInt8 {
  init(bigEndian value: some FixedWidthInteger) {
    self = Swift.withUnsafeBytes(of: value.bigEndian) { Array($0) }
  }
}
