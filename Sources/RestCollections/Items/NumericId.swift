import RecordScan

/// An id that a server sends as a number. It is stored as the text of its digits.
struct NumericId: Sendable, Equatable {
  /// The number's place in the body.
  var place: Range<Int>
  /// The digits, if the number is written in another form, such as `42.0` or `1e3`.
  let digits: [UInt8]?

  /// Longer ids are mistakes.
  private static let mostDigits = 100

  /// Returns the digits of a whole number; nil for any other number.
  ///
  /// - Parameter text: A number in JSON's form.
  static func digits(of text: some Collection<UInt8>) -> [UInt8]? {
    let isNegative = text.first == UInt8(ascii: "-"), number = Array(isNegative ? text.dropFirst() : text[...])
    let mark = number.firstIndex { $0 | 0x20 == UInt8(ascii: "e") } ?? number.count
    let mantissa = number[..<mark], whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
    let fraction = mantissa.dropFirst(whole.count + 1)
    guard let exponent = mark == number.count ? 0 : exponent(number[(mark + 1)...]) else { return nil }
    var digits = Array((whole + fraction).drop { $0 == UInt8(ascii: "0") })
    guard !digits.isEmpty else { return [UInt8(ascii: "0")] }
    let missing = exponent - fraction.count
    if missing < 0 {
      guard digits.count > -missing, digits.suffix(-missing).allSatisfy({ $0 == UInt8(ascii: "0") }) else { return nil }
      digits.removeLast(-missing)
    } else {
      guard digits.count + missing <= mostDigits else { return nil }
      digits += [UInt8](repeating: UInt8(ascii: "0"), count: missing)
    }
    return (isNegative ? [UInt8(ascii: "-")] : []) + digits
  }

  /// Returns an exponent of at most five digits; larger ones belong to no id.
  private static func exponent(_ text: ArraySlice<UInt8>) -> Int? {
    let sign = text.first == UInt8(ascii: "-") ? -1 : 1, digits = text.drop { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
    guard digits.count <= 5 else { return nil }
    return Int(String(decoding: digits, as: UTF8.self)).map { sign * $0 }
  }
}
