import Support

/// Record ids: 15 characters, three of them the object's prefix, and a checksum of three more.
///
/// The sequence part counts in base 62 with digits in ASCII order, so that ids of one object sort as they were made.
package enum RecordID {
  private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let checkCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)
  /// The pod and the reserved character of every id made here.
  private static let pod = Array("gL0".utf8)

  /// The 18-character id number `sequence` of the object with this three-character prefix.
  package static func make(prefix: String, sequence: Int64) -> String {
    var bytes = Array(prefix.utf8.prefix(3)) + pod + [UInt8](repeating: digits[0], count: 9)
    var rest = max(0, sequence)
    var index = 14
    while rest > 0, index >= 6 {
      bytes[index] = digits[Int(rest % 62)]
      rest /= 62
      index -= 1
    }
    return String(decoding: bytes + checksum(bytes), as: UTF8.self)
  }

  /// The 18-character form of a 15- or 18-character id; nil when it is none or its checksum is wrong.
  package static func normalized(_ text: some StringProtocol) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.count == 15 || bytes.count == 18, bytes.allSatisfy(isAlphanumeric) else { return nil }
    let full = Array(bytes[0..<15]) + checksum(bytes[0..<15])
    return bytes.count == 18 && bytes != full ? nil : String(decoding: full, as: UTF8.self)
  }

  static func prefix(of id: String) -> String { String(id.prefix(3)) }

  /// Three characters that tell which of the fifteen are capital letters.
  private static func checksum(_ id: some RandomAccessCollection<UInt8>) -> [UInt8] {
    let bytes = Array(id)
    return (0..<3).map { block in
      var value = 0
      for position in 0..<5 where bytes[block * 5 + position].isASCIIUppercase { value |= 1 << position }
      return checkCharacters[value]
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    byte.isASCIILetter || byte.isASCIIDigit
  }
}
