/// What a byte of UTF-8 text is when it stands for an ASCII character. Bytes from 0x80 on are none of these.
extension UInt8 {
  package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

  /// `A` to `Z` and `a` to `z`.
  package var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | UInt8.caseBit }

  package var isASCIIUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

  /// Space, tab, line feed, vertical tab, form feed, carriage return.
  package var isASCIIWhitespace: Bool { self == UInt8(ascii: " ") || UInt8(ascii: "\t")...UInt8(ascii: "\r") ~= self }

  /// What lower-case letters have and upper-case ones have not.
  package static var caseBit: UInt8 { 0x20 }
}
