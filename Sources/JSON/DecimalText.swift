import Support

/// The text of a JSON number, as digits and an exponent: two texts are equal if they mean the same number.
struct DecimalText: Equatable {
  private let isNegative: Bool
  /// Without zeros at either end; empty for 0.
  private let digits: [UInt8]
  /// The power of ten of the first digit.
  private let exponent: Int

  /// - Parameter text: A valid JSON number.
  init(_ text: String) {
    var rest = Array(text.utf8)[...], digits: [UInt8] = [], exponent = -1, hasPoint = false
    let hasSign = rest.first == UInt8(ascii: "-")
    while let byte = rest.popFirst(), byte | UInt8.caseBit != UInt8(ascii: "e") {
      if byte == UInt8(ascii: ".") { hasPoint = true }
      guard byte.isASCIIDigit else { continue }
      if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
      if !hasPoint, !digits.isEmpty { exponent += 1 } else if hasPoint, digits.isEmpty { exponent -= 1 }
    }
    while digits.last == UInt8(ascii: "0") { digits.removeLast() }
    if rest.first == UInt8(ascii: "+") { rest.removeFirst() }
    let power = rest.isEmpty ? 0 : (Int(String(decoding: rest, as: UTF8.self)) ?? .max).bounded
    self.digits = digits
    isNegative = hasSign && !digits.isEmpty
    self.exponent = digits.isEmpty ? 0 : exponent + power
  }
}

extension JSONParser {
  /// Parses a number and keeps its digits. A whole number that fits into 64 bits becomes an integer, a number that a double
  /// writes the same becomes a double, and every other one keeps its text.
  static func exactNumber(_ slice: UnsafeBufferPointer<UInt8>) -> JSONValue {
    let value = number(slice)
    switch value {
    case .integer(0) where slice.count > 1: return .decimal("-0")
    case .number(let double) where !isShort(slice):
      let text = String(decoding: slice, as: UTF8.self)
      return "\(double)" == text ? value : .decimal(text)
    default: return value
    }
  }

  /// Whether a number with a fraction has so few digits, without zeros at its end, that a double certainly writes it the same.
  private static func isShort(_ slice: UnsafeBufferPointer<UInt8>) -> Bool {
    guard slice.count <= 16, let point = slice.firstIndex(of: UInt8(ascii: ".")), let last = slice.last,
      !slice.contains(where: { $0 | UInt8.caseBit == UInt8(ascii: "e") })
    else { return false }
    let isSmall = slice[0] == UInt8(ascii: "0") || slice[0] == UInt8(ascii: "-") && slice[1] == UInt8(ascii: "0")
    return !isSmall && (last != UInt8(ascii: "0") || slice.count - point == 2)
  }
}
