/// What a byte of UTF-8 text is when it stands for an ASCII character. Bytes from 0x80 on are none of these.
///
/// Inlined, because they are asked for every byte of a text.
extension UInt8 {
  @inlinable package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

  /// `A` to `Z` and `a` to `z`.
  @inlinable package var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | UInt8.caseBit }

  @inlinable package var isASCIIUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

  /// Space, tab, line feed, vertical tab, form feed, carriage return.
  @inlinable package var isASCIIWhitespace: Bool {
    self == UInt8(ascii: " ") || UInt8(ascii: "\t")...UInt8(ascii: "\r") ~= self
  }

  /// What the byte is worth as a hexadecimal digit, in either case; nil when it is none.
  @inlinable package var hexDigitValue: UInt8? {
    if isASCIIDigit { return self - UInt8(ascii: "0") }
    let lower = self | UInt8.caseBit
    return UInt8(ascii: "a")...UInt8(ascii: "f") ~= lower ? lower - UInt8(ascii: "a") + 10 : nil
  }

  /// What lower-case letters have and upper-case ones have not.
  @inlinable package static var caseBit: UInt8 { 0x20 }
}
