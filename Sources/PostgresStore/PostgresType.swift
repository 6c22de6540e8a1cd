/// The types that parameters and rows have, by their object ids, which PostgreSQL never changes.
/// Source: PostgreSQL, `src/include/catalog/pg_type.dat`.
enum PostgresType {
  static let bool: UInt32 = 16, bytes: UInt32 = 17, int64: UInt32 = 20, int16: UInt32 = 21, int32: UInt32 = 23, text: UInt32 = 25
  static let oid: UInt32 = 26, double: UInt32 = 701, name: UInt32 = 19, varchar: UInt32 = 1043, json: UInt32 = 114
  static let unknown: UInt32 = 705

  /// The object id of the array type of an element type.
  static func array(of element: UInt32) -> UInt32 {
    switch element {
    case bool: 1000
    case bytes: 1001
    case int64: 1016
    case double: 1022
    default: 1009
    }
  }
}

extension Array where Element == UInt8 {
  /// Appends the bytes in network order.
  mutating func appendBigEndian(_ value: some FixedWidthInteger) {
    Swift.withUnsafeBytes(of: value.bigEndian) { append(contentsOf: $0) }
  }
}

extension UnsafeRawBufferPointer {
  /// Reads an integer in network order.
  func bigEndian<T: FixedWidthInteger>(_ type: T.Type, at offset: Int = 0) -> T {
    T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
  }
}
