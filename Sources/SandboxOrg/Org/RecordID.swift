import Support

/// Record ids: 15 characters, of which three are the object's prefix, and a checksum of three more.
///
/// The sequence part is a base 62 number with digits in ASCII order, so that the ids of an object
/// sort in order of creation.
package enum RecordID {
  private static let digits = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
  private static let checkCharacters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ012345".utf8)
  /// The pod and the reserved character of all ids created here.
  private static let pod = Array("gL0".utf8)

  /// Returns the 18-character id with number `sequence` and this three-character prefix.
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

  /// Returns the 18-character form of a 15- or 18-character id; nil if the text is not an id or its
  /// checksum is wrong.
  package static func normalized(_ text: some StringProtocol) -> String? {
    let bytes = Array(text.utf8)
    guard bytes.count == 15 || bytes.count == 18, bytes.allSatisfy(isAlphanumeric) else { return nil }
    let full = Array(bytes[0..<15]) + checksum(bytes[0..<15])
    return bytes.count == 18 && bytes != full ? nil : String(decoding: full, as: UTF8.self)
  }

  static func prefix(of id: String) -> String { String(id.prefix(3)) }

  /// Returns three characters that encode which of the fifteen are upper case.
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
