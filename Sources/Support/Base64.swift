import FoundationEssentials

/// Converts between bytes and Base64 text (RFC 4648).
package enum Base64 {
  /// Encodes with the standard alphabet and padding.
  package static func encode(_ bytes: some Sequence<UInt8>) -> [UInt8] { Array(Data(bytes).base64EncodedData()) }

  /// Encodes with the standard alphabet and padding.
  package static func text(_ bytes: some Sequence<UInt8>) -> String { Data(bytes).base64EncodedString() }

  /// Encodes with the URL alphabet, without padding.
  package static func urlText(_ bytes: some Sequence<UInt8>) -> String {
    String(text(bytes).compactMap { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 == "=" ? nil : $0 })
  }

  /// Decodes text in the standard alphabet with padding; nil if the text contains anything else.
  package static func decode(_ text: String) -> [UInt8]? { Data(base64Encoded: text).map(Array.init) }

  /// Decodes Base64 as files in JSON use it: skips line ends and accepts missing padding.
  package static func decodeLenient(_ text: String) -> [UInt8]? {
    var digits = text.utf8.filter { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
    while digits.last == UInt8(ascii: "=") { digits.removeLast() }
    guard digits.count % 4 != 1 else { return nil }
    while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(digits)).map(Array.init)
  }

  /// Decodes text in the URL alphabet; nil if the text contains anything else, padding included.
  package static func decodeURL(_ text: some StringProtocol) -> [UInt8]? {
    guard text.utf8.allSatisfy({ isURLDigit($0) }) else { return nil }
    return decodeLenient(String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }))
  }

  private static func isURLDigit(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      return true
    default: return false
    }
  }
}
