/// Classifies the bytes of UTF-8 text as ASCII characters. Bytes from 0x80 on belong to no class.
///
/// Inlined because callers ask for every byte of a text.
extension UInt8 {
  @inlinable package var isASCIIDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

  /// `A` to `Z` and `a` to `z`.
  @inlinable package var isASCIILetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | UInt8.caseBit }

  @inlinable package var isASCIIUppercase: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

  /// Space, tab, line feed, vertical tab, form feed, carriage return.
  @inlinable package var isASCIIWhitespace: Bool {
    self == UInt8(ascii: " ") || UInt8(ascii: "\t")...UInt8(ascii: "\r") ~= self
  }

  /// The byte's value as a hexadecimal digit of either case; nil if it is not a digit.
  @inlinable package var hexDigitValue: UInt8? {
    if isASCIIDigit { return self - UInt8(ascii: "0") }
    let lower = self | UInt8.caseBit
    return UInt8(ascii: "a")...UInt8(ascii: "f") ~= lower ? lower - UInt8(ascii: "a") + 10 : nil
  }

  /// The bit that is set in lower-case letters and clear in upper-case ones.
  @inlinable package static var caseBit: UInt8 { 0x20 }
}
