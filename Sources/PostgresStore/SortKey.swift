import Glibc
import JSON
import Support

/// Values of any class as texts whose byte order is SQLite's order of the values: numbers before texts,
/// and an integer equal to a real of the same value. The server's `sort_key` makes the same form.
enum SortKey {
  /// - Returns: nil for NULL.
  static func encoded(_ value: SQLValue) -> String? {
    switch value {
    case .null: nil
    case .integer(let integer): number(Double(integer), rest: rest(integer))
    case .real(let real): number(real, rest: 0)
    case .text(let text): "T" + PostgresText.storable(text)
    case .blob(let bytes): "T" + PostgresText.storable(String(decoding: bytes, as: UTF8.self))
    }
  }

  /// The key of a value for sets and dictionaries.
  static func bytes(_ value: SQLValue) -> KeyBytes {
    guard case .text(var text) = value, !PostgresText.hasZero(&text) else {
      return KeyBytes(bytes: Array((encoded(value) ?? "").utf8))
    }
    return KeyBytes(bytes: [UInt8(ascii: "T")] + text.utf8)
  }

  /// How far the integer is from the nearest double.
  private static func rest(_ integer: Int64) -> Int64 {
    let nearest = Double(integer)
    return nearest >= 0x1p63 ? integer &- .max &- 1 : integer - Int64(saturating: nearest)
  }

  private static func number(_ real: Double, rest: Int64) -> String {
    var bits = Int64(bitPattern: (real + 0).bitPattern)
    if bits < 0 { bits ^= .max }
    let ordered = UInt64(bitPattern: bits) ^ (1 << 63)
    return "N" + padded(ordered, 16) + padded(UInt64(rest + 2048), 3)
  }

  private static func padded(_ value: UInt64, _ digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: digits - text.count) + text
  }
}

/// A sort key as bytes: texts that differ are equal to Swift if they look the same.
struct KeyBytes: Hashable {
  let bytes: [UInt8]

  /// In one go; an array's own way takes each byte on its own.
  func hash(into hasher: inout Hasher) { bytes.withUnsafeBytes { hasher.combine(bytes: $0) } }
}

/// Texts as PostgreSQL can store them.
enum PostgresText {
  /// PostgreSQL's texts cannot contain U+0000; it becomes U+FFFD in columns and in the keys that are compared
  /// with them. The text of an entry has it as an escape, which stays.
  static func storable(_ text: String) -> String {
    var text = text
    guard hasZero(&text) else { return text }
    return String(decoding: text.utf8.flatMap { $0 == 0 ? [0xef, 0xbf, 0xbd] : [$0] }, as: UTF8.self)
  }

  /// Whether a text contains U+0000; makes it contiguous.
  static func hasZero(_ text: inout String) -> Bool { text.withUTF8 { hasZero(UnsafeRawBufferPointer($0)) } }

  static func hasZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
    bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
  }
}
